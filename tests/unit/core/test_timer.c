/* SPDX-License-Identifier: MIT */
/* core/timer, core/loop: order, the next turn, closing inside a callback, a
 * clock that only the test moves; and the real loop with its microseconds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include "core/buffer.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"

enum { WALL_MS = 1000000 };

struct fixture {
	struct loop *loop;
	struct timer *timers[5];
	struct buffer order;
};

/* What a timer is told: which one it is. */
struct note {
	struct fixture *f;
	char letter;
};

static int setup(void **state)
{
	struct fixture *f = mem_new(sizeof(*f));
	size_t i;

	loop_open_sim(&f->loop, WALL_MS);
	for (i = 0; i < 5; i++)
		f->timers[i] = timer_new(f->loop);
	buffer_init(&f->order, 1000);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < 5; i++)
		timer_close(&f->timers[i]);
	loop_close(&f->loop);
	buffer_reset(&f->order);
	mem_free(f);
	return 0;
}

static void on_note(void *arg)
{
	struct note *note = arg;

	buffer_add_char(&note->f->order, note->letter);
}

static void test_order(void **state)
{
	struct fixture *f = *state;
	struct note a = { f, 'a' }, b = { f, 'b' }, c = { f, 'c' };
	struct note d = { f, 'd' }, e = { f, 'e' };

	timer_start(f->timers[0], 20, on_note, &a);
	timer_start(f->timers[1], 10, on_note, &b);
	timer_start(f->timers[2], 20, on_note, &c);
	timer_start(f->timers[3], 0, on_note, &d);
	timer_start(f->timers[4], 0, on_note, &e);
	assert_string_equal(buffer_str(&f->order), "");
	loop_advance_ms(f->loop, 0);
	assert_string_equal(buffer_str(&f->order), "de");
	loop_advance_ms(f->loop, 9);
	assert_string_equal(buffer_str(&f->order), "de");
	loop_advance_ms(f->loop, 100);
	assert_string_equal(buffer_str(&f->order), "debac");
	assert_int_equal(loop_wall_ms(f->loop), WALL_MS + 109);
	assert_false(timer_is_armed(f->timers[0]));
}

static void test_stop_and_start_again(void **state)
{
	struct fixture *f = *state;
	struct note a = { f, 'a' }, b = { f, 'b' };

	timer_start(f->timers[0], 10, on_note, &a);
	timer_stop(f->timers[0]);
	timer_stop(f->timers[0]);
	loop_advance_ms(f->loop, 20);
	timer_start(f->timers[0], 10, on_note, &a);
	timer_start(f->timers[0], 30, on_note, &b);
	loop_advance_ms(f->loop, 29);
	assert_string_equal(buffer_str(&f->order), "");
	loop_advance_ms(f->loop, 1);
	assert_string_equal(buffer_str(&f->order), "b");
}

static void test_absolute(void **state)
{
	struct fixture *f = *state;
	struct note a = { f, 'a' }, b = { f, 'b' };
	uint64_t now_us = loop_now_us(f->loop);

	timer_start_at(f->timers[0], now_us + 1500, on_note, &a);
	timer_start_at(f->timers[1], now_us + 1400, on_note, &b);
	loop_advance_ms(f->loop, 1);
	assert_string_equal(buffer_str(&f->order), "");
	loop_advance_ms(f->loop, 1);
	assert_string_equal(buffer_str(&f->order), "ba");
	timer_start_at(f->timers[0], 0, on_note, &a); /* long ago */
	loop_advance_ms(f->loop, 0);
	assert_string_equal(buffer_str(&f->order), "baa");
	assert_true(loop_now_us(f->loop) == now_us + 2000);
}

static void on_close_all(void *arg)
{
	struct fixture *f = arg;
	size_t i;

	buffer_add_char(&f->order, 'x');
	for (i = 0; i < 5; i++)
		timer_close(&f->timers[i]);
}

static void test_close_in_callback(void **state)
{
	struct fixture *f = *state;
	struct note b = { f, 'b' };

	timer_start(f->timers[0], 5, on_close_all, f);
	timer_start(f->timers[1], 5, on_note, &b);
	timer_start(f->timers[2], 6, on_note, &b);
	loop_advance_ms(f->loop, 100);
	assert_string_equal(buffer_str(&f->order), "x");
	assert_null(f->timers[0]);
}

static void on_again(void *arg)
{
	struct fixture *f = arg;

	buffer_add_char(&f->order, '.');
	if (f->order.len < 5)
		timer_start(f->timers[0], 10, on_again, f);
}

static void test_rearm_in_callback(void **state)
{
	struct fixture *f = *state;

	timer_start(f->timers[0], 10, on_again, f);
	loop_advance_ms(f->loop, 25);
	assert_string_equal(buffer_str(&f->order), "..");
	loop_advance_ms(f->loop, 1000);
	assert_string_equal(buffer_str(&f->order), ".....");
}

static void on_post(void *arg)
{
	struct fixture *f = arg;
	static struct note p;

	p = (struct note){ f, 'p' };
	timer_start(f->timers[4], 0, on_note, &p);
	buffer_add_char(&f->order, '(');
	buffer_add_char(&f->order, ')');
}

static void test_post_is_never_inside(void **state)
{
	struct fixture *f = *state;
	struct note b = { f, 'b' };

	timer_start(f->timers[0], 0, on_post, f);
	timer_start(f->timers[1], 0, on_note, &b);
	loop_advance_ms(f->loop, 0);
	assert_string_equal(buffer_str(&f->order), "()bp");
}

/* A thousand timers in scrambled order, some stopped again. */
static void test_heap(void **state)
{
	struct fixture *f = *state;
	struct timer *timers[1000];
	struct note n = { f, 'n' };
	size_t i;

	for (i = 0; i < 1000; i++) {
		timers[i] = timer_new(f->loop);
		timer_start(timers[i], i * 617 % 1000, on_note, &n);
	}
	for (i = 0; i < 1000; i += 2)
		timer_stop(timers[i]);
	loop_advance_ms(f->loop, 499);
	/* odd i with i * 617 % 1000 < 500: as odd as its time */
	assert_int_equal(f->order.len, 250);
	loop_advance_ms(f->loop, 500);
	assert_int_equal(f->order.len, 500);
	for (i = 0; i < 1000; i++)
		timer_close(&timers[i]);
}

static void on_stop(void *arg)
{
	loop_stop(arg);
}

/* The only real time in this file: two milliseconds of it. */
static void test_real_loop(void **state)
{
	struct fixture *f = *state;
	struct note a = { f, 'a' }, b = { f, 'b' };
	struct timer *timers[3];
	struct loop_stats stats;
	struct loop *loop;
	uint64_t begin_us;
	size_t i;

	assert_int_equal(loop_open(&loop), 0);
	for (i = 0; i < 3; i++)
		timers[i] = timer_new(loop);
	begin_us = loop_now_us(loop);
	timer_start_at(timers[0], begin_us + 2000, on_stop, loop);
	timer_start_at(timers[1], begin_us + 1500, on_note, &b);
	timer_start(timers[2], 0, on_note, &a);
	loop_run(loop);
	assert_string_equal(buffer_str(&f->order), "ab");
	assert_true(loop_now_us(loop) >= begin_us + 2000);
	assert_false(loop_is_sim(loop));
	assert_true(loop_wall_ms(loop) > INT64_C(1700000000000));
	loop_stats(loop, &stats);
	assert_true(stats.turns >= 2);
	for (i = 0; i < 3; i++)
		timer_close(&timers[i]);
	loop_close(&loop);
}

struct ping {
	struct loop *loop;
	struct timer *timers[2];
	int n;
};

static void on_ping(void *arg)
{
	struct ping *ping = arg;

	if (++ping->n == 1000)
		loop_stop(ping->loop);
	else
		timer_start(ping->timers[ping->n % 2], 0, on_ping, ping);
}

static void test_real_posting(void **state)
{
	struct ping ping = { 0 };

	assert_int_equal(loop_open(&ping.loop), 0);
	ping.timers[0] = timer_new(ping.loop);
	ping.timers[1] = timer_new(ping.loop);
	timer_start(ping.timers[0], 0, on_ping, &ping);
	loop_run(ping.loop);
	assert_int_equal(ping.n, 1000);
	timer_close(&ping.timers[0]);
	timer_close(&ping.timers[1]);
	loop_close(&ping.loop);
}

static void on_signal(void *owner, int signum)
{
	struct ping *ping = owner;

	ping->n = signum;
	loop_stop(ping->loop);
}

static void test_signals(void **state)
{
	struct ping ping = { 0 };

	assert_int_equal(loop_open(&ping.loop), 0);
	loop_on_signals(ping.loop, on_signal, &ping);
	raise(SIGHUP);
	loop_run(ping.loop);
	assert_int_equal(ping.n, SIGHUP);
	raise(SIGTERM);
	loop_run(ping.loop);
	assert_int_equal(ping.n, SIGTERM);
	loop_close(&ping.loop);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_order),
		CASE(test_stop_and_start_again),
		CASE(test_absolute),
		CASE(test_close_in_callback),
		CASE(test_rearm_in_callback),
		CASE(test_post_is_never_inside),
		CASE(test_heap),
		CASE(test_real_loop),
		CASE(test_real_posting),
		CASE(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
