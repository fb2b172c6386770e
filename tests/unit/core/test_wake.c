/* SPDX-License-Identifier: MIT */
/* A wake-up from another thread runs on the loop; several may become one; none
 * runs after the close, also when closed inside the callback. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include "core/loop.h"
#include "core/wake.h"

struct seen {
	struct loop *loop;
	struct wake *wake;
	int calls;
};

static void on_wake(void *owner)
{
	struct seen *seen = owner;

	seen->calls++;
	wake_close(&seen->wake);
	loop_stop(seen->loop);
}

static void *send_twice(void *arg)
{
	wake_send(arg);
	wake_send(arg);
	return NULL;
}

static void wakes_the_loop(void **state)
{
	struct seen seen = { 0 };
	pthread_t thread;

	assert_int_equal(loop_open(&seen.loop), 0);
	assert_int_equal(wake_open(&seen.wake, seen.loop, on_wake, &seen), 0);
	pthread_create(&thread, NULL, send_twice, seen.wake);
	pthread_join(thread, NULL);
	assert_int_equal(seen.calls, 0);
	loop_run(seen.loop);
	assert_int_equal(seen.calls, 1);
	assert_null(seen.wake);
	loop_close(&seen.loop);
	assert_int_equal(seen.calls, 1);
}

static void is_silent_after_its_close(void **state)
{
	struct seen seen = { 0 };

	assert_int_equal(loop_open(&seen.loop), 0);
	assert_int_equal(wake_open(&seen.wake, seen.loop, on_wake, &seen), 0);
	wake_send(seen.wake);
	wake_close(&seen.wake);
	wake_close(&seen.wake);
	loop_close(&seen.loop);
	assert_int_equal(seen.calls, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wakes_the_loop),
		cmocka_unit_test(is_silent_after_its_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
