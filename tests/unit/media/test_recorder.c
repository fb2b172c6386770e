/* SPDX-License-Identifier: MIT */
/* The recording: a WAV that can be read at any moment, on wall time, gaps left
 * as silence; a full or slow disk ends it with one word of why. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/loop.h"
#include "core/work.h"
#include "media/recorder.h"

static struct loop *loop;
static struct work *work;
static struct recorder *recorder;
static char name[64];
static char failure[64];
static unsigned failures;
static uint64_t now_us;

static void on_failed(void *owner, const char *why)
{
	failures++;
	snprintf(failure, sizeof(failure), "%s", why);
}

static void open_at(const char *file)
{
	struct recorder_options options = { .work = work,
					    .file = file,
					    .now_us = now_us,
					    .on_failed = on_failed };

	recorder_open(&recorder, &options);
}

static int setup(void **state)
{
	failures = 0;
	now_us = 5000000;
	loop_open_sim(&loop, 0);
	assert_int_equal(work_open(&work, loop), 0);
	strcpy(name, "/tmp/parley-recorder-XXXXXX");
	close(mkstemp(name));
	return 0;
}

static int teardown(void **state)
{
	recorder_close(&recorder, now_us);
	loop_advance_ms(loop, 0);
	work_close(&work);
	loop_close(&loop);
	unlink(name);
	return 0;
}

static void add(unsigned frames, int16_t left, int16_t right)
{
	int16_t a[RECORDER_FRAME], b[RECORDER_FRAME];

	for (unsigned i = 0; i < RECORDER_FRAME; i++) {
		a[i] = left;
		b[i] = right;
	}
	while (frames--) {
		recorder_add(recorder, now_us, left ? a : NULL,
			     right ? b : NULL);
		now_us += 20000;
	}
}

static size_t read_file(uint8_t *out, size_t max)
{
	FILE *file = fopen(name, "rb");
	size_t n = fread(out, 1, max, file);

	fclose(file);
	return n;
}

static uint32_t le32(const uint8_t *at)
{
	return at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24;
}

static int16_t sample(const uint8_t *file, size_t frame, unsigned channel)
{
	const uint8_t *at = file + 44 + frame * 640 + 2 * channel;

	return (int16_t)(at[0] | at[1] << 8);
}

static uint8_t file[4 << 20];

static void test_readable_at_any_moment(void **state)
{
	open_at(name);
	loop_advance_ms(loop, 0);
	assert_int_equal(read_file(file, sizeof(file)), 44);
	assert_int_equal(le32(file + 40), 0);
	for (unsigned second = 1; second <= 5; second++) {
		add(49, 100, -200);
		loop_advance_ms(loop, 0);
		read_file(file, sizeof(file));
		assert_int_equal(le32(file + 40), 32000 * (second - 1));
		add(1, 100, -200);
		loop_advance_ms(loop, 0);
		assert_int_equal(read_file(file, sizeof(file)),
				 44 + 32000 * second);
		assert_int_equal(le32(file + 40), 32000 * second);
	}
	assert_int_equal(sample(file, 100, 0), 100);
	assert_int_equal(sample(file, 100, 1), -200);
	assert_int_equal(recorder_ms(recorder), 5000);
}

static void test_gaps_are_silence(void **state)
{
	open_at(name);
	now_us += 60000000; /* a minute before the answer */
	add(10, 7, 8);
	now_us += 3000000;
	add(10, 9, 0);
	now_us += 5000000; /* until the end */
	recorder_close(&recorder, now_us);
	loop_advance_ms(loop, 0);
	assert_int_equal(read_file(file, sizeof(file)), 44 + 640 * 3420);
	assert_int_equal(le32(file + 40), 640 * 3420);
	assert_int_equal(sample(file, 2999, 0), 0);
	assert_int_equal(sample(file, 3000, 0), 7);
	assert_int_equal(sample(file, 3009, 1), 8);
	assert_int_equal(sample(file, 3010, 0), 0);
	assert_int_equal(sample(file, 3159, 0), 0);
	assert_int_equal(sample(file, 3160, 0), 9);
	assert_int_equal(sample(file, 3160, 1), 0);
	assert_int_equal(sample(file, 3419, 0), 0);
	assert_int_equal(failures, 0);
}

static void test_no_such_folder(void **state)
{
	open_at("/nowhere/at/all.wav");
	add(100, 1, 1);
	assert_int_equal(failures, 0);
	loop_advance_ms(loop, 0);
	assert_int_equal(failures, 1);
	assert_string_equal(failure, strerror(ENOENT));
	add(1000, 1, 1);
	loop_advance_ms(loop, 0);
	assert_int_equal(failures, 1);
}

static void test_full_disk(void **state)
{
	open_at("/dev/full");
	add(50, 1, 1);
	loop_advance_ms(loop, 0);
	assert_int_equal(failures, 1);
	assert_string_equal(failure, strerror(ENOSPC));
}

/* The loop of the test does not turn, so no job gets done. */
static void test_slow_disk(void **state)
{
	open_at(name);
	add(50 * RECORDER_QUEUE, 1, 1);
	assert_int_equal(failures, 0);
	add(50, 1, 1);
	assert_int_equal(failures, 1);
	assert_string_equal(failure, "the disk is too slow");
	add(5000, 1, 1);
	loop_advance_ms(loop, 0);
	assert_int_equal(read_file(file, sizeof(file)),
			 44 + 32000 * RECORDER_QUEUE);
	assert_int_equal(failures, 1);
}

static void test_nothing_is_told_after_close(void **state)
{
	open_at("/nowhere/at/all.wav");
	add(10, 1, 1);
	recorder_close(&recorder, now_us);
	loop_advance_ms(loop, 0);
	assert_int_equal(failures, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_readable_at_any_moment),
		CASE(test_gaps_are_silence),
		CASE(test_no_such_folder),
		CASE(test_full_disk),
		CASE(test_slow_disk),
		CASE(test_nothing_is_told_after_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
