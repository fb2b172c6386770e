/* SPDX-License-Identifier: MIT */
/* core/udp: binding, datagrams whole and in order, the connected peer and its
 * ICMP errors, dissolving without losing the port. Simulated and on loopback. */
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
#include "core/udp.h"

struct fixture {
	struct loop *loop;
	struct udp *a;
	struct udp *b;
	struct addr at_a;
	struct addr at_b;
	int ready;
};

static void open_all(struct fixture *f)
{
	struct addr any;

	addr_parse(&any, SLICE("127.0.0.1"), 0);
	assert_int_equal(udp_open(&f->a, f->loop, &any), 0);
	assert_int_equal(udp_open(&f->b, f->loop, &any), 0);
	udp_local(f->a, &f->at_a);
	udp_local(f->b, &f->at_b);
	assert_int_not_equal(addr_port(&f->at_a), addr_port(&f->at_b));
	assert_int_not_equal(addr_port(&f->at_a), 0);
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

	udp_close(&f->a);
	udp_close(&f->b);
	loop_close(&f->loop);
	mem_free(f);
	return 0;
}

static void settle(struct fixture *f)
{
	if (loop_is_sim(f->loop))
		loop_advance_ms(f->loop, 0);
}

/* The next datagram at udp is text, from from. */
static void expect(struct udp *udp, const char *text, const struct addr *from)
{
	char out[100] = "";
	struct addr source;
	ssize_t n = udp_recv(udp, out, sizeof(out), &source);

	assert_int_equal(n, strlen(text));
	assert_memory_equal(out, text, strlen(text));
	assert_true(addr_is_same(&source, from));
}

static void expect_none(struct udp *udp)
{
	char out[100];

	assert_int_equal(udp_recv(udp, out, sizeof(out), NULL), -EAGAIN);
}

static void test_both_ways(void **state)
{
	struct fixture *f = *state;
	char small[2];

	assert_int_equal(udp_send(f->a, SLICE("one"), &f->at_b), 0);
	udp_send(f->a, SLICE("two"), &f->at_b);
	udp_send(f->a, SLICE("three"), &f->at_b);
	settle(f);
	expect(f->b, "one", &f->at_a);
	assert_int_equal(udp_recv(f->b, small, 2, NULL), 2); /* cut */
	expect(f->b, "three", &f->at_a);
	expect_none(f->b);
	udp_send(f->b, SLICE("back"), &f->at_a);
	settle(f);
	expect(f->a, "back", &f->at_b);
}

static void test_in_use(void **state)
{
	struct fixture *f = *state;
	struct udp *second;

	assert_int_equal(udp_open(&second, f->loop, &f->at_a), -EADDRINUSE);
	assert_null(second);
	udp_close(&f->a);
	assert_int_equal(udp_open(&f->a, f->loop, &f->at_a), 0);
}

static void test_connect(void **state)
{
	struct fixture *f = *state;
	struct addr any, at_c, local;
	struct udp *c;

	addr_parse(&any, SLICE("127.0.0.1"), 0);
	assert_int_equal(udp_open(&c, f->loop, &any), 0);
	udp_local(c, &at_c);
	assert_int_equal(udp_connect(f->a, &f->at_b), 0);
	assert_int_equal(udp_send(f->a, SLICE("x"), NULL), 0);
	udp_send(c, SLICE("stranger"), &f->at_a);
	udp_send(f->b, SLICE("peer"), &f->at_a);
	settle(f);
	expect(f->b, "x", &f->at_a);
	expect(f->a, "peer", &f->at_b);
	expect_none(f->a);
	assert_int_equal(udp_connect(f->a, NULL), 0);
	udp_local(f->a, &local);
	assert_true(addr_is_same(&local, &f->at_a));
	udp_send(c, SLICE("stranger"), &f->at_a);
	settle(f);
	expect(f->a, "stranger", &at_c);
	assert_int_equal(udp_connect(f->a, &at_c), 0);
	udp_close(&c);
}

static void test_refusals_are_read_past(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(udp_connect(f->a, &f->at_b), 0);
	udp_close(&f->b);
	assert_int_equal(udp_send(f->a, SLICE("1"), NULL), 0);
	assert_int_equal(udp_send(f->a, SLICE("2"), NULL), 0);
	settle(f);
	expect_none(f->a);
	assert_int_equal(udp_open(&f->b, f->loop, &f->at_b), 0);
	assert_int_equal(udp_send(f->a, SLICE("3"), NULL), 0);
	settle(f);
	expect(f->b, "3", &f->at_a);
}

static void on_ready(void *owner)
{
	struct fixture *f = owner;

	f->ready++;
	if (f->ready == 1) {
		expect(f->b, "1", &f->at_a);
		return;
	}
	udp_close(&f->b); /* with one unread */
	if (!loop_is_sim(f->loop))
		loop_stop(f->loop);
}

static void test_watch(void **state)
{
	struct fixture *f = *state;

	udp_watch(f->b, on_ready, f);
	udp_send(f->a, SLICE("1"), &f->at_b);
	assert_int_equal(f->ready, 0);
	udp_send(f->a, SLICE("2"), &f->at_b);
	udp_send(f->a, SLICE("3"), &f->at_b);
	if (loop_is_sim(f->loop))
		loop_advance_ms(f->loop, 0);
	else
		loop_run(f->loop);
	assert_int_equal(f->ready, 2);
	assert_null(f->b);
}

static void test_unwatch(void **state)
{
	struct fixture *f = *state;

	udp_watch(f->b, on_ready, f);
	udp_watch(f->b, NULL, NULL);
	udp_send(f->a, SLICE("1"), &f->at_b);
	settle(f);
	assert_int_equal(f->ready, 0);
	expect(f->b, "1", &f->at_a);
}

static enum sim_verdict filter(void *arg, const struct sim_packet *packet)
{
	int *n = arg;

	assert_false(packet->is_tcp);
	return (*n)++ == 1 ? SIM_DROP : SIM_PASS;
}

static void test_sim_filter_and_delay(void **state)
{
	struct fixture *f = *state;
	int n = 0;

	sim_set_filter(f->loop, filter, &n);
	sim_set_delay_us(f->loop, 30000);
	udp_send(f->a, SLICE("1"), &f->at_b);
	udp_send(f->a, SLICE("2"), &f->at_b);
	udp_send(f->a, SLICE("3"), &f->at_b);
	loop_advance_ms(f->loop, 29);
	expect_none(f->b);
	loop_advance_ms(f->loop, 1);
	expect(f->b, "1", &f->at_a);
	expect(f->b, "3", &f->at_a);
	expect_none(f->b);
	udp_send(f->a, SLICE("under way at the end"), &f->at_b);
}

static void test_sim_any_address(void **state)
{
	struct fixture *f = *state;
	struct addr any, to, from;
	struct udp *c;

	addr_parse(&any, SLICE("0.0.0.0"), 4000);
	assert_int_equal(udp_open(&c, f->loop, &any), 0);
	addr_parse(&to, SLICE("198.51.100.7"), 4000);
	udp_send(f->a, SLICE("x"), &to);
	udp_send(c, SLICE("y"), &f->at_a);
	settle(f);
	expect(c, "x", &f->at_a);
	from = f->at_a;
	addr_set_port(&from, 4000);
	expect(f->a, "y", &from);
	assert_int_equal(sim_udp_sockets(f->loop), 3);
	udp_close(&c);
}

#define SIM(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define BOTH(f)                                                                \
	{ #f, f, setup, teardown, NULL },                                      \
	{                                                                      \
#f "_real", f, setup_real, teardown, NULL                      \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(test_both_ways),
		BOTH(test_in_use),
		BOTH(test_connect),
		BOTH(test_refusals_are_read_past),
		BOTH(test_watch),
		BOTH(test_unwatch),
		SIM(test_sim_filter_and_delay),
		SIM(test_sim_any_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
