/* SPDX-License-Identifier: MIT */
/* A peer that connects, asks and never reads: what we hold for it has a limit,
 * and whom we called ourselves may be slow with more. Row: connections. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "core/mem.h"
#include "fixture_node.h"

#define REQUEST                                                                \
	"OPTIONS sip:b.example SIP/2.0\r\n"                                    \
	"Via: SIP/2.0/TLS a.example;branch=z9hG4bK1\r\n"                       \
	"From: <sip:a@a.example>;tag=1\r\nTo: <sip:b@b.example>\r\n"           \
	"Call-ID: 1\r\nCSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n"

enum { PORT_A = 5071, PORT_B = 5061, CHUNK = 32 * 1024, MEGABYTE = 1 << 20 };

static const struct locate_host hosts[] = { { "b.example", "127.0.0.1", 0 } };
static const struct locate_options locate = { .hosts = hosts, .n_hosts = 1 };

struct world {
	struct fixture_world base;
	struct fixture_node a, b;
	struct fixture_peer peer; /* dials b */
};

static int setup(void **state)
{
	struct world *w = mem_new(sizeof(*w));

	fixture_world_open(&w->base);
	fixture_node_open(&w->a, &w->base, "a.example localhost", PORT_A,
			  &locate);
	fixture_node_open(&w->b, &w->base, "b.example localhost", PORT_B,
			  &locate);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	fixture_peer_close(&w->peer);
	fixture_node_close(&w->a);
	fixture_node_close(&w->b);
	fixture_world_close(&w->base);
	mem_free(w);
	return 0;
}

/* Bytes that link takes before it refuses, up to limit. */
static size_t fill(struct sip_link *link, size_t limit, int *err)
{
	static char text[CHUNK];
	size_t n = 0;

	memset(text, 'x', sizeof(text));
	*err = 0;
	while (!*err && n < limit) {
		*err = sip_link_send(link, slice_make(text, sizeof(text)));
		n += *err ? 0 : sizeof(text);
	}
	return n;
}

static void test_who_asks_and_does_not_read_is_cut_off(void **state)
{
	struct world *w = *state;
	size_t n;
	int err;

	fixture_peer_open(&w->peer, &w->a, "b.example", PORT_B);
	fixture_peer_send(&w->peer, SLICE(REQUEST));
	loop_advance_ms(w->base.loop, 100);
	assert_int_equal(w->b.n, 1);
	link_pause(w->peer.link);
	n = fill(w->b.link, 8 * MEGABYTE, &err);
	assert_int_equal(err, -ENOBUFS);
	assert_in_range(n, MEGABYTE / 2, MEGABYTE + 2 * CHUNK);
	assert_int_equal(w->b.ended, 0); /* not inside the call */
	loop_advance_ms(w->base.loop, 100);
	assert_int_equal(w->b.ended, 1);
	assert_int_equal(w->b.end_err, -ENOBUFS);
	assert_string_equal(w->b.end_why, "the peer does not read");
}

/* A megabyte of pings, and no pong is read. */
static void test_pongs_are_not_piled_up(void **state)
{
	enum { PINGS = MEGABYTE / 4 };
	struct world *w = *state;
	struct buffer pings;

	fixture_peer_open(&w->peer, &w->a, "b.example", PORT_B);
	fixture_peer_send(&w->peer, SLICE(REQUEST));
	loop_advance_ms(w->base.loop, 100);
	link_pause(w->peer.link);
	buffer_init(&pings, MEGABYTE);
	for (unsigned i = 0; i < PINGS; i++)
		buffer_add(&pings, SLICE("\r\n\r\n"));
	fixture_peer_send(&w->peer, buffer_slice(&pings));
	loop_advance_ms(w->base.loop, 1000);
	link_resume(w->peer.link);
	loop_advance_ms(w->base.loop, 1000);
	assert_in_range(w->peer.got.len, 2, PINGS / 2);
	assert_int_equal(w->b.ended, 0);
	buffer_reset(&pings);
}

/* INVITEs of a whole house at once. */
static void test_whom_we_called_may_be_slower(void **state)
{
	struct world *w = *state;
	size_t n;
	int err;

	fixture_connect(&w->a, "b.example", 0);
	loop_advance_ms(w->base.loop, 1000);
	assert_non_null(w->a.connected);
	n = fill(w->a.connected, 2 * MEGABYTE, &err);
	assert_int_equal(err, 0);
	assert_int_equal(n, 2 * MEGABYTE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_who_asks_and_does_not_read_is_cut_off, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			test_whom_we_called_may_be_slower, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pongs_are_not_piled_up,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
