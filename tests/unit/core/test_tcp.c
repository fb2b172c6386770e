/* SPDX-License-Identifier: MIT */
/* core/tcp, core/link: connecting, bytes in order, back-pressure, the end of a
 * connection seen from both sides, closing inside callbacks. Each case runs on
 * the simulated network; the last ones on loopback sockets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include "core/loop.h"
#include "core/mem.h"
#include "core/sim.h"
#include "tests/unit/core/fixture_link.h"

struct fixture {
	struct loop *loop;
	struct listener *listener;
	struct addr addr;
	struct probe client;
	struct probe server;
};

static void open_all(struct fixture *f)
{
	struct listen_options options = { 0 };

	addr_parse(&options.bind, SLICE("127.0.0.1"), 0);
	probe_init(&f->client, f->loop);
	probe_init(&f->server, f->loop);
	assert_int_equal(tcp_listen(&f->listener, f->loop, &options,
				    probe_accept, &f->server),
			 0);
	addr_parse(&f->addr, SLICE("127.0.0.1"), listener_port(f->listener));
}

static int setup(void **state)
{
	struct fixture *f = mem_new(sizeof(*f));

	loop_open_sim(&f->loop, 0);
	open_all(f);
	*state = f;
	return 0;
}

static int setup_real(void **state)
{
	struct fixture *f = mem_new(sizeof(*f));

	assert_int_equal(loop_open(&f->loop), 0);
	open_all(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	probe_reset(&f->client);
	probe_reset(&f->server);
	listener_close(&f->listener);
	loop_close(&f->loop);
	mem_free(f);
	return 0;
}

static void dial(struct fixture *f)
{
	int before = f->client.opened;

	assert_int_equal(tcp_connect(&f->client.link, f->loop, &f->addr,
				     &probe_events, &f->client),
			 0);
	assert_int_equal(f->client.opened, before);
}

static void dialled(struct fixture *f)
{
	dial(f);
	loop_advance_ms(f->loop, 0);
	assert_int_equal(f->client.opened, 1);
	assert_int_equal(f->server.opened, 0);
	assert_non_null(f->server.link);
}

static void test_echo(void **state)
{
	struct fixture *f = *state;
	struct addr a, b;

	dialled(f);
	f->server.echo = true;
	link_send(f->client.link, SLICE("one "));
	link_send(f->client.link, SLICE(""));
	link_send(f->client.link, SLICE("two"));
	assert_int_equal(f->server.got.len, 0);
	loop_advance_ms(f->loop, 0);
	assert_string_equal(buffer_str(&f->server.got), "one two");
	assert_string_equal(buffer_str(&f->client.got), "one two");
	assert_int_equal(f->client.drained, 1);
	link_peer(f->client.link, &a);
	assert_true(addr_is_same(&a, &f->addr));
	link_local(f->client.link, &a);
	link_peer(f->server.link, &b);
	assert_true(addr_is_same(&a, &b));
	assert_false(link_has_peer_name(f->client.link, SLICE("x")));
}

static void test_send_while_connecting(void **state)
{
	struct fixture *f = *state;

	dial(f);
	assert_int_equal(link_send(f->client.link, SLICE("early")), 0);
	loop_advance_ms(f->loop, 0);
	assert_string_equal(buffer_str(&f->server.got), "early");
}

static void test_refused(void **state)
{
	struct fixture *f = *state;

	listener_close(&f->listener);
	dial(f);
	loop_advance_ms(f->loop, 0);
	assert_int_equal(f->client.opened, 0);
	assert_int_equal(f->client.closed, 1);
	assert_int_equal(f->client.err, -ECONNREFUSED);
	assert_int_equal(link_send(f->client.link, SLICE("x")), -EPIPE);
}

static enum sim_verdict drop_all(void *arg, const struct sim_packet *packet)
{
	return SIM_DROP;
}

static void test_silence(void **state)
{
	struct fixture *f = *state;

	sim_set_filter(f->loop, drop_all, NULL);
	dial(f);
	loop_advance_ms(f->loop, 3999);
	assert_int_equal(f->client.closed, 0);
	loop_advance_ms(f->loop, 1);
	assert_int_equal(f->client.err, -ETIMEDOUT);
	assert_int_equal(f->client.closed, 1);
}

static void test_delay(void **state)
{
	struct fixture *f = *state;

	sim_set_delay_us(f->loop, 20000);
	dial(f);
	loop_advance_ms(f->loop, 39);
	assert_int_equal(f->client.opened, 0);
	loop_advance_ms(f->loop, 1);
	assert_int_equal(f->client.opened, 1);
	link_send(f->client.link, SLICE("late "));
	sim_set_delay_us(f->loop, 0);
	link_send(f->client.link, SLICE("not before"));
	loop_advance_ms(f->loop, 19);
	assert_int_equal(f->server.got.len, 0);
	loop_advance_ms(f->loop, 1);
	assert_string_equal(buffer_str(&f->server.got), "late not before");
}

static void test_peer_closes(void **state)
{
	struct fixture *f = *state;

	dialled(f);
	link_send(f->client.link, SLICE("bye"));
	link_close(&f->client.link);
	loop_advance_ms(f->loop, 0);
	assert_string_equal(buffer_str(&f->server.got), "bye");
	assert_int_equal(f->server.closed, 1);
	assert_int_equal(f->server.err, 0);
	assert_int_equal(f->client.closed, 0);
	loop_advance_ms(f->loop, 10000);
	assert_int_equal(f->server.closed, 1);
}

static void test_shutdown(void **state)
{
	struct fixture *f = *state;

	dialled(f);
	f->server.close_on_close = true;
	link_send(f->client.link, SLICE("last"));
	link_shutdown(f->client.link);
	assert_int_equal(link_send(f->client.link, SLICE("x")), -EPIPE);
	loop_advance_ms(f->loop, 0);
	assert_string_equal(buffer_str(&f->server.got), "last");
	assert_int_equal(f->server.closed, 1);
	assert_int_equal(f->client.closed, 1);
	assert_int_equal(f->client.err, 0);
}

static void test_shutdown_with_a_peer_that_stays(void **state)
{
	struct fixture *f = *state;

	dialled(f);
	link_shutdown(f->client.link);
	link_send(f->server.link, SLICE("unwanted"));
	loop_advance_ms(f->loop, 999);
	assert_int_equal(f->client.closed, 0);
	loop_advance_ms(f->loop, 1);
	assert_int_equal(f->client.closed, 1);
	assert_int_equal(f->client.got.len, 0);
}

static void test_pause(void **state)
{
	struct fixture *f = *state;

	dialled(f);
	link_pause(f->server.link);
	link_send(f->client.link, SLICE("a"));
	link_send(f->client.link, SLICE("b"));
	link_close(&f->client.link);
	loop_advance_ms(f->loop, 100);
	assert_int_equal(f->server.got.len, 0);
	assert_int_equal(f->server.closed, 0);
	link_resume(f->server.link);
	assert_int_equal(f->server.got.len, 0);
	loop_advance_ms(f->loop, 0);
	assert_string_equal(buffer_str(&f->server.got), "ab");
	assert_int_equal(f->server.closed, 1);
}

static void test_queue_has_a_ceiling(void **state)
{
	struct fixture *f = *state;
	char *mega = mem_new(1 << 20);
	int i;

	dialled(f);
	link_pause(f->server.link);
	for (i = 0; i < 4; i++)
		assert_int_equal(
			link_send(f->client.link, slice_make(mega, 1 << 20)),
			0);
	assert_int_equal(link_queued_bytes(f->client.link),
			 LINK_QUEUE_MAX_BYTES);
	assert_int_equal(link_send(f->client.link, SLICE("x")), -ENOBUFS);
	loop_advance_ms(f->loop, 10);
	assert_int_equal(f->client.drained, 0);
	link_resume(f->server.link);
	loop_advance_ms(f->loop, 0);
	assert_int_equal(f->server.got.len, LINK_QUEUE_MAX_BYTES);
	assert_int_equal(f->client.drained, 1);
	assert_int_equal(link_queued_bytes(f->client.link), 0);
	mem_free(mega);
}

static void test_close_in_callbacks(void **state)
{
	struct fixture *f = *state;

	f->client.close_on_open = true;
	dial(f);
	loop_advance_ms(f->loop, 0);
	assert_null(f->client.link);
	assert_int_equal(f->server.closed, 1);

	f->client.close_on_open = false;
	dial(f);
	loop_advance_ms(f->loop, 0);
	f->server.close_on_data = true;
	link_send(f->client.link, SLICE("1"));
	link_send(f->client.link, SLICE("2"));
	f->client.close_on_close = true;
	loop_advance_ms(f->loop, 0);
	assert_string_equal(buffer_str(&f->server.got), "1");
	assert_null(f->client.link);
	assert_int_equal(sim_tcp_links(f->loop), 0);
}

static void test_close_while_connecting(void **state)
{
	struct fixture *f = *state;

	dial(f);
	link_close(&f->client.link);
	loop_advance_ms(f->loop, 10000);
	assert_int_equal(f->client.opened + f->client.closed, 0);
	dial(f);
	link_shutdown(f->client.link);
	loop_advance_ms(f->loop, 0);
	assert_int_equal(f->client.opened, 0);
	assert_int_equal(f->client.closed, 1);
}

static void test_cut(void **state)
{
	struct fixture *f = *state;

	dialled(f);
	link_send(f->client.link, SLICE("lost"));
	sim_cut_tcp(f->loop, &f->addr);
	assert_int_equal(f->client.closed, 0);
	loop_advance_ms(f->loop, 0);
	assert_int_equal(f->client.err, -ECONNRESET);
	assert_int_equal(f->server.err, -ECONNRESET);
	assert_int_equal(f->server.got.len, 0);
}

static void test_filter_cuts(void **state)
{
	struct fixture *f = *state;

	dialled(f);
	sim_set_filter(f->loop, drop_all, NULL);
	assert_int_equal(link_send(f->client.link, SLICE("x")), 0);
	assert_int_equal(link_send(f->client.link, SLICE("x")), -EPIPE);
	loop_advance_ms(f->loop, 0);
	assert_int_equal(f->client.closed, 1);
	assert_int_equal(f->server.closed, 1);
}

/* What is under way when a test ends is not leaked. */
static void test_loop_ends_with_bytes_under_way(void **state)
{
	struct fixture *f = *state;

	dialled(f);
	link_send(f->client.link, SLICE("under way"));
	link_send(f->server.link, SLICE("under way"));
}

static void test_address_in_use(void **state)
{
	struct fixture *f = *state;
	struct listen_options options = { .bind = f->addr };
	struct listener *second;

	assert_int_equal(tcp_listen(&second, f->loop, &options, probe_accept,
				    &f->server),
			 -EADDRINUSE);
	assert_null(second);
}

/* ---- real sockets: the loop stops at each callback ---- */

static void run_until(struct fixture *f, const int *count, int n)
{
	int turns = 0;

	while (*count < n && turns++ < 10000)
		loop_run(f->loop);
	assert_int_equal(*count, n);
}

static void run_until_got(struct probe *probe, size_t n)
{
	while (probe->got.len < n)
		loop_run(probe->loop);
	assert_int_equal(probe->got.len, n);
}

static void test_real_echo(void **state)
{
	struct fixture *f = *state;
	struct addr a, b;

	dial(f);
	f->server.echo = true;
	link_send(f->client.link, SLICE("early "));
	run_until(f, &f->client.opened, 1);
	link_send(f->client.link, SLICE("late"));
	run_until_got(&f->client, 10);
	assert_string_equal(buffer_str(&f->client.got), "early late");
	link_local(f->client.link, &a);
	link_peer(f->server.link, &b);
	assert_true(addr_is_same(&a, &b));
	assert_string_equal(link_name(f->server.link),
			    addr_text(&a, (char[ADDR_TEXT_SIZE]){ 0 }));
	assert_int_equal(listener_links(f->listener), 1);
	link_close(&f->client.link);
	run_until(f, &f->server.closed, 1);
	assert_int_equal(f->server.err, 0);
	link_close(&f->server.link);
	assert_int_equal(listener_links(f->listener), 0);
}

static void test_real_refused(void **state)
{
	struct fixture *f = *state;

	listener_close(&f->listener);
	dial(f);
	run_until(f, &f->client.closed, 1);
	assert_int_equal(f->client.err, -ECONNREFUSED);
	assert_non_null(f->client.why);
}

static void test_real_bulk_and_shutdown(void **state)
{
	struct fixture *f = *state;
	const size_t size = 3 << 20;
	char *bulk = mem_new(size);

	dial(f);
	run_until(f, &f->client.opened, 1);
	memset(bulk, 'x', size);
	assert_int_equal(link_send(f->client.link, slice_make(bulk, size)), 0);
	link_shutdown(f->client.link);
	f->server.close_on_close = true;
	run_until_got(&f->server, size);
	run_until(f, &f->client.closed, 1);
	assert_int_equal(f->client.err, 0);
	assert_memory_equal(f->server.got.ptr, bulk, size);
	mem_free(bulk);
}

static void test_real_drain_and_pause(void **state)
{
	struct fixture *f = *state;

	dial(f);
	run_until(f, &f->client.opened, 1);
	link_send(f->client.link, SLICE("a"));
	link_send(f->client.link, SLICE("b"));
	run_until(f, &f->client.drained, 1);
	run_until_got(&f->server, 2);
	link_pause(f->server.link);
	link_send(f->client.link, SLICE("c"));
	run_until(f, &f->client.drained, 2);
	assert_int_equal(f->server.got.len, 2);
	link_resume(f->server.link);
	run_until_got(&f->server, 3);
}

static void test_real_close_in_callbacks(void **state)
{
	struct fixture *f = *state;

	f->client.close_on_open = true;
	dial(f);
	run_until(f, &f->server.closed, 1);
	f->client.close_on_open = false;
	f->server.closed = 0;
	dial(f);
	run_until(f, &f->client.opened, 2);
	f->server.close_on_data = true;
	f->client.close_on_close = true;
	link_send(f->client.link, SLICE("x"));
	run_until(f, &f->client.closed, 1);
	assert_null(f->client.link);
	assert_null(f->server.link);
}

/* Unread bytes make the kernel reset; writing into that must not kill us. */
static void test_real_reset(void **state)
{
	struct fixture *f = *state;

	dial(f);
	run_until(f, &f->client.opened, 1);
	link_pause(f->client.link);
	link_send(f->client.link, SLICE("x"));
	run_until_got(&f->server, 1);
	link_pause(f->server.link);
	link_send(f->client.link, SLICE("unread"));
	run_until(f, &f->client.drained, 2);
	link_close(&f->server.link);
	while (!f->client.closed) {
		link_send(f->client.link, SLICE("into the void"));
		loop_run(f->loop);
	}
	assert_true(f->client.err == -EPIPE || f->client.err == -ECONNRESET);
	assert_int_equal(f->client.closed, 1);
}

static void test_real_close_at_once(void **state)
{
	struct fixture *f = *state;

	dial(f);
	link_send(f->client.link, SLICE("in flight"));
	link_close(&f->client.link);
}

static void test_real_address_in_use(void **state)
{
	test_address_in_use(state);
}

#define SIM(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)
#define REAL(f) cmocka_unit_test_setup_teardown(f, setup_real, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SIM(test_echo),
		SIM(test_send_while_connecting),
		SIM(test_refused),
		SIM(test_silence),
		SIM(test_delay),
		SIM(test_peer_closes),
		SIM(test_shutdown),
		SIM(test_shutdown_with_a_peer_that_stays),
		SIM(test_pause),
		SIM(test_queue_has_a_ceiling),
		SIM(test_close_in_callbacks),
		SIM(test_close_while_connecting),
		SIM(test_cut),
		SIM(test_filter_cuts),
		SIM(test_loop_ends_with_bytes_under_way),
		SIM(test_address_in_use),
		REAL(test_real_echo),
		REAL(test_real_refused),
		REAL(test_real_bulk_and_shutdown),
		REAL(test_real_drain_and_pause),
		REAL(test_real_close_in_callbacks),
		REAL(test_real_reset),
		REAL(test_real_close_at_once),
		REAL(test_real_address_in_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
