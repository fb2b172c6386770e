/* SPDX-License-Identifier: MIT */
/* Playout: what is queued comes out in frames, exactly counted; pause keeps the
 * place, drop ramps down, events come posted and once. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include "core/loop.h"
#include "core/mem.h"
#include "media/playout_priv.h"

static struct loop *loop;
static struct playout *playout;
static unsigned started, drained;
static bool closes;
static int16_t frame[PLAYOUT_FRAME];

static void on_started(void *owner)
{
	started++;
	if (closes)
		playout_close(&playout);
}

static void on_drained(void *owner)
{
	drained++;
	if (closes)
		playout_close(&playout);
}

static const struct playout_events events = { on_drained, on_started };

static int setup(void **state)
{
	started = drained = 0;
	closes = false;
	loop_open_sim(&loop, 0);
	playout_open(&playout, loop);
	playout_attach(playout, &events, NULL);
	return 0;
}

static int teardown(void **state)
{
	playout_close(&playout);
	loop_close(&loop);
	return 0;
}

static void queue(size_t n, int16_t first)
{
	int16_t *samples = mem_new_array(n + 1, sizeof(*samples));

	for (size_t i = 0; i < n; i++)
		samples[i] = (int16_t)(first + (int)i);
	assert_int_equal(playout_queue(playout, samples, n), 0);
	mem_free(samples);
}

static bool take(void)
{
	return playout_take(playout, frame);
}

static void test_order_over_pieces(void **state)
{
	queue(100, 1);
	queue(0, 0);
	queue(50, 101);
	queue(200, 151);
	assert_int_equal(playout_queued(playout), 350);
	for (int i = 0; i < 2; i++) {
		assert_true(take());
		for (int j = 0; j < 160; j++)
			assert_int_equal(frame[j], 1 + 160 * i + j);
	}
	assert_true(take());
	assert_int_equal(frame[29], 350);
	assert_int_equal(frame[30], 0);
	assert_false(take());
	assert_int_equal(frame[0], 0);
	assert_int_equal(playout_position(playout), 350);
}

static void test_events_are_posted_once(void **state)
{
	queue(320, 1);
	take();
	assert_int_equal(started, 0);
	loop_advance_ms(loop, 0);
	assert_int_equal(started, 1);
	take();
	assert_int_equal(drained, 0);
	loop_advance_ms(loop, 0);
	take();
	loop_advance_ms(loop, 0);
	assert_int_equal(started, 1);
	assert_int_equal(drained, 1);
	queue(160, 1); /* one frame: both at once */
	take();
	loop_advance_ms(loop, 0);
	assert_int_equal(started, 2);
	assert_int_equal(drained, 2);
}

static void test_more_in_time_is_not_drained(void **state)
{
	queue(160, 1);
	take();
	queue(160, 1);
	loop_advance_ms(loop, 0);
	assert_int_equal(drained, 0);
	take();
	loop_advance_ms(loop, 0);
	assert_int_equal(drained, 1);
}

static void test_position_since_the_mark(void **state)
{
	queue(480, 1);
	take();
	playout_mark(playout); /* the next utterance starts at 480 */
	queue(320, 1);
	assert_int_equal(playout_position(playout), 0);
	take();
	take();
	assert_int_equal(playout_position(playout), 0);
	take();
	assert_int_equal(playout_position(playout), 160);
	playout_pause(playout);
	assert_true(playout_is_paused(playout));
	for (unsigned i = 0; i < 10; i++)
		assert_false(take());
	assert_int_equal(playout_position(playout), 160);
	playout_resume(playout);
	assert_true(take());
	assert_int_equal(playout_position(playout), 320);
	loop_advance_ms(loop, 0);
}

static void test_drop_ramps_down(void **state)
{
	int16_t loud[800];

	for (unsigned i = 0; i < 800; i++)
		loud[i] = 10000;
	playout_queue(playout, loud, 800);
	take();
	playout_mark(playout);
	playout_drop(playout);
	assert_int_equal(playout_queued(playout), 0);
	assert_true(take());
	assert_int_equal(frame[0], 10000);
	for (unsigned i = 1; i < PLAYOUT_RAMP; i++)
		assert_true(frame[i] < frame[i - 1]);
	assert_int_equal(frame[PLAYOUT_RAMP], 0);
	assert_false(take());
	queue(160, 1);
	take();
	assert_int_equal(playout_position(playout), 160);
	loop_advance_ms(loop, 0);
	assert_int_equal(started, 1); /* posted for both at once */
}

static void test_drop_before_anything_was_sent(void **state)
{
	queue(160, 1);
	playout_drop(playout);
	assert_false(take());
	playout_drop(playout);
	assert_false(take());
	loop_advance_ms(loop, 0);
	assert_int_equal(started + drained, 0);
}

static void test_ten_minutes_wait(void **state)
{
	int16_t *minute = mem_new_array(480000, sizeof(*minute));

	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(playout_queue(playout, minute, 480000), 0);
	assert_int_equal(playout_queue(playout, minute, 1), -ENOBUFS);
	take();
	assert_int_equal(playout_queue(playout, minute, 160), 0);
	mem_free(minute);
}

static void test_closing_inside_an_event(void **state)
{
	closes = true;
	queue(160, 1);
	take();
	loop_advance_ms(loop, 0);
	assert_null(playout);
	assert_int_equal(started + drained, 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_order_over_pieces),
		CASE(test_events_are_posted_once),
		CASE(test_more_in_time_is_not_drained),
		CASE(test_position_since_the_mark),
		CASE(test_drop_ramps_down),
		CASE(test_drop_before_anything_was_sent),
		CASE(test_ten_minutes_wait),
		CASE(test_closing_inside_an_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
