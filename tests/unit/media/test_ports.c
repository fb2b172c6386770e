/* SPDX-License-Identifier: MIT */
/* Port pairs: even and odd, random at first, longest rested next, taken ones
 * stepped over, a reserve of 64 kept. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include "core/loop.h"
#include "core/mem.h"
#include "media/ports.h"

static struct loop *loop;
static struct addr host;

static int setup(void **state)
{
	loop_open_sim(&loop, 0);
	return addr_parse(&host, SLICE("192.0.2.1"), 0);
}

static int teardown(void **state)
{
	loop_close(&loop);
	return 0;
}

static uint16_t port_of(struct udp *udp)
{
	struct addr addr;

	udp_local(udp, &addr);
	return addr_port(&addr);
}

static void test_ranges(void **state)
{
	static const struct {
		uint16_t min, max;
		int err;
		unsigned pairs;
	} rows[] = {
		{ 16384, 32767, 0, 8192 }, { 16384, 32768, 0, 8192 },
		{ 20001, 20004, 0, 1 },	   { 20000, 20001, 0, 1 },
		{ 20000, 20000, -EINVAL }, { 20001, 20002, -EINVAL },
		{ 16383, 20000, -EINVAL }, { 20000, 32769, -EINVAL },
		{ 30000, 20000, -EINVAL }, { 0, 65535, -EINVAL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ports *ports;

		assert_int_equal(ports_open(&ports, rows[i].min, rows[i].max),
				 rows[i].err);
		if (rows[i].err)
			assert_null(ports);
		else
			assert_int_equal(ports_free(ports), rows[i].pairs);
		ports_close(&ports);
	}
}

static void test_takes_all_and_gives_back(void **state)
{
	struct port_pair pairs[20], more;
	struct ports *ports;
	bool in_order = true;

	assert_int_equal(ports_open(&ports, 20000, 20039), 0);
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(ports_take(ports, &pairs[i], loop, &host), 0);
		assert_int_equal(port_of(pairs[i].rtp) % 2, 0);
		assert_int_equal(port_of(pairs[i].rtcp),
				 port_of(pairs[i].rtp) + 1);
		in_order &= port_of(pairs[i].rtp) == 20000 + 2 * i;
	}
	assert_false(in_order);
	assert_int_equal(ports_used(ports), 20);
	assert_int_equal(ports_take(ports, &more, loop, &host), -EAGAIN);
	for (unsigned i = 0; i < 20; i++)
		ports_give(ports, &pairs[i]);
	assert_int_equal(ports_used(ports), 0);
	ports_close(&ports);
}

static void test_longest_rested_first(void **state)
{
	struct port_pair pair;
	struct ports *ports;
	uint16_t seen[10];

	assert_int_equal(ports_open(&ports, 20000, 20019), 0);
	for (unsigned i = 0; i < 30; i++) {
		assert_int_equal(ports_take(ports, &pair, loop, &host), 0);
		if (i >= 10)
			assert_int_equal(port_of(pair.rtp), seen[i % 10]);
		seen[i % 10] = port_of(pair.rtp);
		ports_give(ports, &pair);
	}
	ports_close(&ports);
}

static void test_steps_over_taken_ports(void **state)
{
	struct addr taken = host;
	struct udp *other[2];
	struct port_pair pairs[2];
	struct ports *ports;

	addr_set_port(&taken, 20000);
	assert_int_equal(udp_open(&other[0], loop, &taken), 0);
	addr_set_port(&taken, 20003); /* an RTCP port */
	assert_int_equal(udp_open(&other[1], loop, &taken), 0);
	assert_int_equal(ports_open(&ports, 20000, 20005), 0);
	assert_int_equal(ports_take(ports, &pairs[0], loop, &host), 0);
	assert_int_equal(port_of(pairs[0].rtp), 20004);
	assert_int_equal(ports_take(ports, &pairs[1], loop, &host), -EAGAIN);
	udp_close(&other[0]);
	assert_int_equal(ports_take(ports, &pairs[1], loop, &host), 0);
	assert_int_equal(port_of(pairs[1].rtp), 20000);
	ports_give(ports, &pairs[0]);
	ports_give(ports, &pairs[1]);
	udp_close(&other[1]);
	ports_close(&ports);
}

static void test_reserve_of_a_large_range(void **state)
{
	struct port_pair *pairs = mem_new_array(300, sizeof(*pairs));
	struct port_pair more;
	struct ports *ports;
	unsigned n = 0;

	assert_int_equal(ports_open(&ports, 20000, 20599), 0);
	while (ports_take(ports, &pairs[n], loop, &host) == 0)
		n++;
	assert_int_equal(n, 300 - PORTS_RESERVE + 1);
	ports_give(ports, &pairs[--n]);
	assert_int_equal(ports_take(ports, &more, loop, &host), 0);
	ports_give(ports, &more);
	while (n)
		ports_give(ports, &pairs[--n]);
	ports_close(&ports);
	mem_free(pairs);
}

/* What no other port would mend is told at once: trying each of thousands
 * would hold up the loop. */
static void test_an_address_of_somebody_else(void **state)
{
	struct port_pair pair;
	struct ports *ports;
	struct loop *real;

	assert_int_equal(loop_open(&real), 0);
	assert_int_equal(ports_open(&ports, 20000, 20599), 0);
	assert_int_equal(ports_take(ports, &pair, real, &host), -EADDRNOTAVAIL);
	assert_int_equal(ports_used(ports), 0);
	ports_close(&ports);
	loop_close(&real);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_ranges),
		CASE(test_takes_all_and_gives_back),
		CASE(test_longest_rested_first),
		CASE(test_steps_over_taken_ports),
		CASE(test_reserve_of_a_large_range),
		CASE(test_an_address_of_somebody_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
