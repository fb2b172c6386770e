/* SPDX-License-Identifier: MIT */
/* core/watch: readiness of a foreign descriptor on the loop, closing inside
 * its callback, and that a simulated loop never fires. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>
#include <cmocka.h>
#include "core/loop.h"
#include "core/watch.h"

struct end {
	struct loop *loop;
	struct watch *watch;
	int fd, events;
	unsigned calls;
	bool closes;
};

static void on_ready(void *owner, int fd, int events)
{
	struct end *end = owner;

	assert_int_equal(fd, end->fd);
	end->calls++;
	end->events = events;
	if (end->closes)
		watch_close(&end->watch);
	loop_stop(end->loop);
}

static void test_readable_and_writable(void **state)
{
	struct end end = { 0 };
	int fds[2];

	assert_int_equal(loop_open(&end.loop), 0);
	assert_int_equal(pipe(fds), 0);
	end.fd = fds[1];
	assert_int_equal(
		watch_open(&end.watch, end.loop, fds[1], on_ready, &end), 0);
	watch_set(end.watch, WATCH_WRITE);
	loop_run(end.loop);
	assert_int_equal(end.events, WATCH_WRITE);
	watch_close(&end.watch);
	assert_int_equal(write(fds[1], "x", 1), 1);
	end.fd = fds[0];
	end.closes = true;
	assert_int_equal(
		watch_open(&end.watch, end.loop, fds[0], on_ready, &end), 0);
	watch_set(end.watch, WATCH_READ | WATCH_WRITE);
	watch_set(end.watch, 0);
	watch_set(end.watch, WATCH_READ);
	loop_run(end.loop);
	assert_int_equal(end.events, WATCH_READ);
	assert_int_equal(end.calls, 2);
	assert_null(end.watch);
	watch_close(&end.watch);
	close(fds[0]);
	close(fds[1]);
	loop_close(&end.loop);
}

static void test_same_descriptor_again(void **state)
{
	struct end end = { 0 };
	struct watch *second;
	int fds[2];

	assert_int_equal(loop_open(&end.loop), 0);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(
		watch_open(&end.watch, end.loop, fds[0], on_ready, &end), 0);
	watch_set(end.watch, WATCH_READ);
	assert_int_equal(watch_open(&second, end.loop, fds[0], on_ready, &end),
			 -EEXIST);
	assert_null(second);
	watch_close(&end.watch);
	assert_int_equal(
		watch_open(&end.watch, end.loop, fds[0], on_ready, &end), 0);
	watch_close(&end.watch);
	close(fds[0]);
	close(fds[1]);
	loop_close(&end.loop);
}

static void test_never_on_a_simulated_loop(void **state)
{
	struct end end = { 0 };
	int fds[2];

	loop_open_sim(&end.loop, 1767312000000);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(
		watch_open(&end.watch, end.loop, fds[1], on_ready, &end), 0);
	watch_set(end.watch, WATCH_WRITE);
	loop_advance_ms(end.loop, 1000);
	assert_int_equal(end.calls, 0);
	watch_close(&end.watch);
	close(fds[0]);
	close(fds[1]);
	loop_close(&end.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readable_and_writable),
		cmocka_unit_test(test_same_descriptor_again),
		cmocka_unit_test(test_never_on_a_simulated_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
