/* SPDX-License-Identifier: MIT */
/* The jitter buffer: order restored, loss concealed and faded, delay that
 * follows the jitter between 20 and 200 ms, timestamps that wrap or jump, a
 * clock that drifts, gaps of silence suppression, packets of any length. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "media/jitter.h"

struct line {
	struct jitter jitter;
	uint64_t now_us;
	uint32_t timestamp; /* of the next packet */
	int16_t out[JITTER_FRAME];
	uint64_t arrived_us;
	bool is_held_up;
};

static struct line line;

static int setup(void **state)
{
	memset(&line, 0, sizeof(line));
	jitter_init(&line.jitter);
	line.now_us = 1000000;
	line.timestamp = 0xffffff00; /* wraps at once */
	return 0;
}

/* A packet whose samples all are value. */
static void put(uint32_t timestamp, size_t n, int16_t value, bool starts)
{
	int16_t samples[JITTER_PACKET_MAX];
	struct jitter_packet packet = { .timestamp = timestamp,
					.starts_spurt = starts,
					.samples = samples,
					.n = n,
					.arrived_us = line.now_us,
					.is_held_up = line.is_held_up };

	for (size_t i = 0; i < n; i++)
		samples[i] = value;
	jitter_put(&line.jitter, &packet);
}

static void put_next(int16_t value)
{
	put(line.timestamp, 160, value, false);
	line.timestamp += 160;
}

static void get(void)
{
	jitter_get(&line.jitter, line.out, &line.arrived_us, line.now_us);
	line.now_us += 20000;
}

static void run(unsigned frames, int16_t value)
{
	while (frames--) {
		put_next(value);
		get();
	}
}

static void test_steady_stream(void **state)
{
	run(10, 1000);
	for (int16_t i = 0; i < 500; i++) {
		put_next((int16_t)(1000 + i));
		get();
		assert_in_range(line.out[0], 1000 + i - 3, 1000 + i);
		assert_in_range(line.now_us - line.arrived_us, 20000, 60000);
	}
	assert_int_equal(line.jitter.stats.late, 0);
	assert_true(line.jitter.stats.concealed < 480);
	assert_in_range((int)jitter_delay_ms(&line.jitter), 20, 30);
}

static void test_nothing_yet_is_silence(void **state)
{
	line.out[0] = 5;
	get();
	assert_int_equal(line.out[0], 0);
	assert_int_equal(line.arrived_us, 0);
}

static void test_reordered_and_duplicate(void **state)
{
	run(100, 1000);
	put(line.timestamp + 160, 160, 2000, false);
	put(line.timestamp, 160, 1500, false);
	put(line.timestamp, 160, 1600, false); /* again */
	line.timestamp += 320;
	for (unsigned i = 0; i < 2; i++)
		get();
	run(1, 2000);
	get();
	assert_int_equal(line.jitter.stats.duplicate, 1);
	assert_int_equal(line.jitter.stats.late, 0);
}

static void test_loss_fades_to_silence(void **state)
{
	int first;

	run(100, 8000);
	while (line.out[159] != 0) {
		first = line.out[0];
		get();
		assert_true(line.out[0] <= first);
	}
	assert_in_range(line.jitter.stats.concealed, 480, 640);
	for (unsigned i = 0; i < 50; i++)
		get();
	assert_in_range(line.jitter.stats.concealed, 480, 640);
	assert_int_equal(line.arrived_us, 0);
}

static void test_gap_of_silence_suppression(void **state)
{
	run(100, 4000);
	for (unsigned i = 0; i < 200; i++) {
		line.timestamp += 160; /* the sender's clock runs on */
		get();
	}
	put(line.timestamp, 160, 5000, true);
	line.timestamp += 160;
	get();
	run(3, 5000);
	assert_int_equal(line.out[0], 5000);
	assert_int_equal(line.jitter.stats.late, 0);
}

static void test_clock_that_stops_in_a_gap(void **state)
{
	run(100, 4000);
	for (unsigned i = 0; i < 200; i++)
		get();
	put(line.timestamp, 160, 5000, true); /* late, but a new spurt */
	line.timestamp += 160;
	get();
	run(3, 5000);
	assert_int_equal(line.out[0], 5000);
	assert_int_equal(line.jitter.stats.late, 1);
}

static void test_timestamps_that_jump(void **state)
{
	static const uint32_t jumps[] = { 1u << 30, 1u << 31, 0xc0000000,
					  100000, 0xfffff000 };

	for (size_t i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
		run(100, 4000);
		line.timestamp += jumps[i];
		run(20, 5000);
		assert_int_equal(line.out[0], 5000);
	}
}

/* Whatever the timestamps are, the ring holds. */
static void test_any_timestamp(void **state)
{
	uint32_t seed = 1;

	for (unsigned i = 0; i < 200000; i++) {
		seed = seed * 1664525u + 1013904223u;
		put(seed, seed % 481, 100, seed >> 31);
		if (i % 3 == 0)
			get();
	}
	setup(state);
	for (unsigned i = 0; i < 20000; i++) {
		line.timestamp -= 1u << 30;
		put(line.timestamp, 480, 100, false);
		get();
	}
	assert_true(line.jitter.head > 0);
}

static void test_delay_follows_jitter(void **state)
{
	uint64_t start_us = line.now_us;
	uint32_t seed = 7;
	unsigned sent = 0;

	/* Each packet up to 100 ms late, in order. */
	for (unsigned frame = 0; frame < 3000; frame++) {
		while (sent < 3000) {
			seed = seed * 1664525u + 1013904223u;
			if (start_us + sent * 20000ull + (seed >> 16) % 100000 >
			    line.now_us)
				break;
			put_next(1000);
			sent++;
		}
		get();
		if (frame == 1000)
			line.jitter.stats.late = 0;
	}
	assert_in_range((int)jitter_delay_ms(&line.jitter), 50, 130);
	assert_true(line.jitter.stats.late < 60); /* 3 % of 2000 */
	run(3000, 100);
	assert_in_range((int)jitter_delay_ms(&line.jitter), 20, 30);
}

/* The sender's clock is off by 200 ppm, an hour long. */
static void drift(int64_t ppm)
{
	double due = 0;

	for (unsigned frame = 0; frame < 180000; frame++) {
		double now = frame * 20000.0;

		while (due <= now) {
			put_next(frame % 100 < 50 ? 100 : 4000);
			due += 20000.0 * (1 + (double)ppm / 1e6);
		}
		get();
	}
	assert_int_equal(line.jitter.stats.late, 0);
	assert_true(line.jitter.stats.concealed < 2000);
	assert_in_range(line.now_us - line.arrived_us, 20000, 100000);
}

static void test_drift(void **state)
{
	drift(200);
	setup(state);
	drift(-200);
}

static void test_packets_of_any_length(void **state)
{
	static const size_t lengths[] = { 80, 160, 240, 320, 480 };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		size_t gathered = 0;
		uint64_t late;

		setup(state);
		for (unsigned frame = 0; frame < 1000; frame++) {
			gathered += 160;
			while (gathered >= lengths[i]) {
				put(line.timestamp, lengths[i], 3000, false);
				line.timestamp += (uint32_t)lengths[i];
				gathered -= lengths[i];
			}
			get();
			if (frame == 500)
				late = line.jitter.stats.late +
				       line.jitter.stats.concealed;
		}
		assert_int_equal(line.jitter.stats.late +
					 line.jitter.stats.concealed,
				 late);
		assert_int_equal(line.out[0], 3000);
	}
}

static void test_when_the_next_is_due(void **state)
{
	uint64_t next_us = line.now_us + 20000;

	assert_true(jitter_is_due(&line.jitter, line.now_us));
	put_next(1);
	assert_false(jitter_is_due(&line.jitter, line.now_us));
	assert_false(jitter_is_due(&line.jitter, next_us - 1));
	assert_true(jitter_is_due(&line.jitter, next_us));
	line.now_us = next_us + 7000; /* a late one moves nothing */
	put_next(1);
	assert_false(jitter_is_due(&line.jitter, next_us + 19999));
	assert_true(jitter_is_due(&line.jitter, next_us + 20000));
	line.now_us = next_us + 10000; /* a fast one does */
	put_next(1);
	assert_false(jitter_is_due(&line.jitter, line.now_us + 19999));
	assert_true(jitter_is_due(&line.jitter, line.now_us + 20000));
}

static void test_skip_after_a_stall(void **state)
{
	run(100, 4000);
	line.now_us += 300000;
	line.is_held_up = true;
	for (unsigned i = 0; i < 15; i++) /* waited in the socket */
		put(line.timestamp + i * 160, 160, (int16_t)(5000 + i), false);
	line.is_held_up = false;
	line.timestamp += 15 * 160;
	jitter_skip(&line.jitter, 15);
	run(1, 6000);
	assert_true(line.out[0] >= 5010); /* not 300 ms behind for good */
	assert_in_range((int)jitter_delay_ms(&line.jitter), 20, 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_steady_stream, setup),
		cmocka_unit_test_setup(test_nothing_yet_is_silence, setup),
		cmocka_unit_test_setup(test_reordered_and_duplicate, setup),
		cmocka_unit_test_setup(test_loss_fades_to_silence, setup),
		cmocka_unit_test_setup(test_gap_of_silence_suppression, setup),
		cmocka_unit_test_setup(test_clock_that_stops_in_a_gap, setup),
		cmocka_unit_test_setup(test_timestamps_that_jump, setup),
		cmocka_unit_test_setup(test_any_timestamp, setup),
		cmocka_unit_test_setup(test_delay_follows_jitter, setup),
		cmocka_unit_test_setup(test_drift, setup),
		cmocka_unit_test_setup(test_packets_of_any_length, setup),
		cmocka_unit_test_setup(test_when_the_next_is_due, setup),
		cmocka_unit_test_setup(test_skip_after_a_stall, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
