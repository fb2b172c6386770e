/* SPDX-License-Identifier: MIT */
/* Who has one IPv6 address has 2^64 of them: the cap per address counts the
 * /64; IPv4 on a dual-stack socket is counted by address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "core/listener_priv.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "tests/unit/core/fixture_link.h"

enum { N = 8 };

struct fixture {
	struct loop *loop;
	struct listener *listener;
	struct probe clients[N];
	struct probe servers[N];
	unsigned accepted;
};

static void on_accept(void *owner, struct link *link)
{
	struct fixture *f = owner;

	probe_accept(&f->servers[f->accepted++], link);
}

static int setup(void **state)
{
	struct listen_options options = { .max_per_address = 2 };
	struct fixture *f = mem_new(sizeof(*f));

	log_setup(&(struct log_options){ .level = LOG_OFF, .fd = 2 });
	loop_open_sim(&f->loop, 0);
	for (size_t i = 0; i < N; i++) {
		probe_init(&f->clients[i], f->loop);
		probe_init(&f->servers[i], f->loop);
		f->servers[i].close_on_close = true;
	}
	addr_parse(&options.bind, SLICE("::"), 5061);
	assert_int_equal(
		tcp_listen(&f->listener, f->loop, &options, on_accept, f), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < N; i++) {
		probe_reset(&f->clients[i]);
		probe_reset(&f->servers[i]);
	}
	listener_close(&f->listener);
	loop_close(&f->loop);
	mem_free(f);
	return 0;
}

/* In the simulation a peer has the address that it dials. */
static void test_the_network_counts(void **state)
{
	static const struct {
		const char *ip;
		unsigned accepted; /* in all, after it */
	} rows[] = {
		{ "2001:db8::1", 1 },	   { "2001:db8::2", 2 },
		{ "2001:db8::3", 2 },	   { "2001:db8:0:1::1", 3 },
		{ "::ffff:192.0.2.1", 4 }, { "::ffff:192.0.2.2", 5 },
		{ "::ffff:192.0.2.3", 6 },
	};
	struct fixture *f = *state;
	struct addr addr;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(addr_parse(&addr, slice_of(rows[i].ip), 5061),
				 0);
		assert_int_equal(tcp_connect(&f->clients[i].link, f->loop,
					     &addr, &probe_events,
					     &f->clients[i]),
				 0);
		loop_advance_ms(f->loop, 1);
		assert_int_equal(f->accepted, rows[i].accepted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_network_counts, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
