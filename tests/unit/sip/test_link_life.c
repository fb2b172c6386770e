/* SPDX-License-Identifier: MIT */
/* sip/link_life, row "connections" of the signalling requirements: keepalives
 * both ways (RFC 5626, 3.5.1 and 4.4.1), idle links, links of retired trust,
 * and who makes room when all seats are taken (AST-2016-005). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include "core/mem.h"
#include "core/tcp.h"
#include "fixture_node.h"
#include "fixture_text.h"

#define REQUEST                                                                \
	"OPTIONS sip:b.example SIP/2.0\r\n"                                    \
	"Via: SIP/2.0/TLS a.example;branch=z9hG4bK1\r\n"                       \
	"From: <sip:a@a.example>;tag=1\r\nTo: <sip:b@b.example>\r\n"           \
	"Call-ID: 1\r\nCSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n"

enum { PORT_A = 5071, PORT_B = 5061, SEATS = 4 };

static const struct locate_host hosts[] = {
	{ "b.example", "127.0.0.1", 0 },
	{ "raw.example", "127.0.0.1", 5091 },
};
static const struct locate_options locate = { .hosts = hosts, .n_hosts = 2 };

struct world {
	struct fixture_world base;
	struct fixture_node a, b; /* a calls, b listens with SEATS seats */
	struct fixture_peer peers[SEATS + 1];
};

static int setup(void **state)
{
	struct sip_transport_options options = {
		.locate = &locate, .listen = { .max_links = SEATS }
	};
	struct world *w = mem_new(sizeof(*w));
	struct tls *tls;

	fixture_world_open(&w->base);
	fixture_node_open(&w->a, &w->base, "a.example localhost", PORT_A,
			  &locate);
	fixture_tls(&w->base, &tls, "b", "b.example localhost");
	fixture_node_open_with(&w->b, &w->base, tls, PORT_B, &options);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	for (size_t i = 0; i <= SEATS; i++)
		fixture_peer_close(&w->peers[i]);
	fixture_node_close(&w->a);
	fixture_node_close(&w->b);
	fixture_world_close(&w->base);
	mem_free(w);
	return 0;
}

static void run_s(struct world *w, unsigned seconds)
{
	loop_advance_ms(w->base.loop, seconds * 1000ull);
}

static struct fixture_peer *dial(struct world *w, size_t i)
{
	fixture_peer_open(&w->peers[i], &w->a, "b.example", PORT_B);
	return &w->peers[i];
}

static void say(struct world *w, struct fixture_peer *peer, const char *text)
{
	fixture_peer_send(peer, slice_of(text));
	loop_advance_ms(w->base.loop, 100);
}

/* ---- keepalives ---- */

static void test_ping_is_answered(void **state)
{
	struct world *w = *state;
	struct fixture_peer *peer = dial(w, 0);

	say(w, peer, "\r\n\r\n");
	assert_slice(buffer_slice(&peer->got), "\r\n");
	say(w, peer, "\r\n\r");
	assert_slice(buffer_slice(&peer->got), "\r\n");
	say(w, peer, "\n");
	assert_slice(buffer_slice(&peer->got), "\r\n\r\n");
	say(w, peer, "\r\n" REQUEST "\r\n");
	assert_slice(buffer_slice(&peer->got), "\r\n\r\n");
	assert_int_equal(w->b.n, 1);
}

/* sipp's way: it never answers, and stays as long as a call needs it. */
static void test_silent_peer_is_kept(void **state)
{
	struct world *w = *state;
	struct fixture_peer *peer = dial(w, 0);

	w->b.in_use = true;
	say(w, peer, REQUEST);
	run_s(w, 29);
	assert_int_equal(peer->got.len, 0);
	run_s(w, 1);
	assert_slice(buffer_slice(&peer->got), "\r\n\r\n");
	run_s(w, 3600);
	assert_int_equal(peer->got.len, 4 * 121);
	assert_int_equal(w->b.ended, 0);
}

static void test_peer_that_stops_answering(void **state)
{
	struct world *w = *state;
	struct fixture_peer *peer = dial(w, 0);

	w->b.in_use = true;
	say(w, peer, REQUEST);
	run_s(w, 30);
	say(w, peer, "\r\n");
	run_s(w, 39);
	assert_int_equal(w->b.ended, 0);
	run_s(w, 1);
	assert_int_equal(w->b.ended, 1);
	assert_int_equal(w->b.end_err, -ETIMEDOUT);
}

/* Who opened the connection pings (4.4.1): before the first call too. */
static void test_only_the_client_pings_an_unused_link(void **state)
{
	struct world *w = *state;
	struct fixture_peer *peer = dial(w, 0);
	struct sip_transport_stats stats;

	say(w, peer, REQUEST);
	run_s(w, 590);
	assert_int_equal(peer->got.len, 0);
	fixture_connect(&w->a, "b.example", 0);
	run_s(w, 250);
	assert_non_null(w->a.connected);
	sip_transport_stats(w->a.transport, &stats);
	assert_int_equal(stats.messages_out, 0);
	assert_int_equal(w->a.ended, 0); /* b answers its pings */
}

static void test_two_transports_keep_each_other(void **state)
{
	struct world *w = *state;

	fixture_connect(&w->a, "b.example", 0);
	run_s(w, 1);
	w->a.in_use = w->b.in_use = true;
	sip_link_send(w->a.connected, SLICE(REQUEST));
	run_s(w, 3600);
	assert_int_equal(w->a.ended + w->b.ended, 0);
	assert_int_equal(w->b.n, 1);
}

/* ---- idle links ---- */

/* From the last whole message on; a keepalive is none. */
static void test_accepted_link_that_nothing_needs(void **state)
{
	struct world *w = *state;
	struct fixture_peer *peer = dial(w, 0);

	say(w, peer, REQUEST);
	for (int i = 0; i < 18; i++) {
		run_s(w, 30);
		say(w, peer, "\r\n\r\n");
	}
	say(w, peer, REQUEST);
	for (int i = 0; i < 19; i++) {
		run_s(w, 30);
		say(w, peer, "\r\n\r\n");
	}
	assert_int_equal(w->b.ended, 0);
	run_s(w, 60);
	assert_int_equal(w->b.ended, 1);
	assert_int_equal(w->b.end_err, 0);
	assert_string_equal(w->b.end_why, "idle");
}

static void test_outgoing_link_that_nothing_needs(void **state)
{
	struct world *w = *state;

	fixture_connect(&w->a, "b.example", 0);
	run_s(w, 200);
	sip_link_send(w->a.connected, SLICE(REQUEST));
	run_s(w, 290);
	assert_int_equal(w->a.ended, 0);
	run_s(w, 40);
	assert_int_equal(w->a.ended, 1);
	assert_string_equal(w->a.end_why, "idle");
}

/* After a reload of trust: with its last call it goes. */
static void test_retired_link(void **state)
{
	struct world *w = *state;
	struct buffer why;

	fixture_connect(&w->a, "b.example", 0);
	run_s(w, 1);
	w->a.in_use = w->b.in_use = true;
	buffer_init(&why, 256);
	assert_int_equal(tls_reload(w->a.tls, &why), 0);
	buffer_reset(&why);
	sip_link_send(w->a.connected, SLICE(REQUEST));
	run_s(w, 3600);
	assert_int_equal(w->a.ended, 0);
	w->a.in_use = false;
	run_s(w, 30);
	assert_int_equal(w->a.ended, 1);
	assert_string_equal(w->a.end_why, "retired");
}

/* ---- seats ---- */

/* All seats taken by links that have spoken: the one idle for longest goes. */
static void test_longest_idle_makes_room(void **state)
{
	struct world *w = *state;
	unsigned i;

	for (i = 0; i < SEATS; i++) {
		say(w, dial(w, i), REQUEST);
		run_s(w, 5);
	}
	say(w, &w->peers[0], REQUEST); /* it is the youngest now */
	run_s(w, 20);
	say(w, dial(w, SEATS), REQUEST);
	assert_int_equal(w->b.n, SEATS + 2);
	assert_int_equal(w->b.ended, 1);
	assert_string_equal(w->b.end_why, "made room for a newer connection");
	for (i = 0; i <= SEATS; i++)
		assert_int_equal(w->peers[i].ends, i == 1);
}

/* A call's link stays, however long it has been quiet. */
static void test_link_of_a_call_makes_no_room(void **state)
{
	struct world *w = *state;

	say(w, dial(w, 0), REQUEST);
	w->b.in_use = true; /* that of the last message */
	for (unsigned i = 1; i < SEATS; i++) {
		run_s(w, 5);
		say(w, dial(w, i), "\r\n\r\n");
	}
	run_s(w, 20);
	dial(w, SEATS);
	assert_int_equal(w->peers[0].ends, 0);
	assert_int_equal(w->peers[1].ends, 1);
	assert_int_equal(w->b.ended, 1);
}

/* Nobody who has just spoken goes for a newcomer. */
static void test_busy_links_make_no_room(void **state)
{
	struct world *w = *state;
	struct fixture_peer *last = &w->peers[SEATS];
	struct sip_transport_stats stats;

	for (unsigned i = 0; i < SEATS; i++)
		say(w, dial(w, i), REQUEST);
	fixture_connect(&w->a, "b.example", 0);
	run_s(w, 1);
	assert_null(w->a.connected);
	assert_true(w->a.err < 0);
	assert_int_equal(w->b.ended, 0);
	sip_transport_stats(w->b.transport, &stats);
	assert_int_equal(stats.links, SEATS);
	buffer_init(&last->got, 1);
}

/* Connections that never say a word do not keep others out. */
static void test_silent_connections_make_room(void **state)
{
	struct world *w = *state;

	for (unsigned i = 0; i < SEATS; i++) {
		dial(w, i);
		run_s(w, 2);
	}
	say(w, dial(w, SEATS), REQUEST);
	assert_int_equal(w->b.n, 1);
}

static void on_tcp_open(void *owner)
{
}

static void on_tcp_data(void *owner, struct slice data)
{
}

static void on_tcp_close(void *owner, int err, const char *why)
{
	unsigned *closes = owner;

	++*closes;
}

/* A connection that does not even shake hands: 5 s. */
static void test_no_handshake(void **state)
{
	static const struct link_events events = {
		.on_open = on_tcp_open,
		.on_data = on_tcp_data,
		.on_close = on_tcp_close,
	};
	struct world *w = *state;
	struct link *link;
	struct addr addr;
	unsigned closes = 0;

	addr_parse(&addr, SLICE("127.0.0.1"), PORT_B);
	assert_int_equal(
		tcp_connect(&link, w->base.loop, &addr, &events, &closes), 0);
	loop_advance_ms(w->base.loop, 4900);
	assert_int_equal(closes, 0);
	loop_advance_ms(w->base.loop, 200);
	assert_int_equal(closes, 1);
	link_close(&link);
}

/* Silent ones end after a minute, whether seats are wanted or not. */
static void test_first_byte(void **state)
{
	struct world *w = *state;

	dial(w, 0);
	run_s(w, 59);
	assert_int_equal(w->peers[0].ends, 0);
	run_s(w, 2);
	assert_int_equal(w->peers[0].ends, 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_ping_is_answered),
		T(test_silent_peer_is_kept),
		T(test_peer_that_stops_answering),
		T(test_only_the_client_pings_an_unused_link),
		T(test_two_transports_keep_each_other),
		T(test_accepted_link_that_nothing_needs),
		T(test_outgoing_link_that_nothing_needs),
		T(test_retired_link),
		T(test_longest_idle_makes_room),
		T(test_link_of_a_call_makes_no_room),
		T(test_busy_links_make_no_room),
		T(test_silent_connections_make_room),
		T(test_no_handshake),
		T(test_first_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
