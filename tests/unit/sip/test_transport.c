/* SPDX-License-Identifier: MIT */
/* sip/transport, rows "connections" and "peer identity" of the signalling
 * requirements: framing over any split, order, half a message, answers to what
 * does not parse, the pool by verified name (CVE-2020-15260), reuse of what a
 * peer opened (RFC 5923), failures told apart, IPv6, closing at any moment
 * (CVE-2021-32686). Keepalives and idle links: test_link_life.c; what
 * certificates must be: test_peer_identity.c. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include "core/mem.h"
#include "core/sim.h"
#include "fixture_node.h"
#include "fixture_text.h"

#define HEAD                                                                   \
	"Via: SIP/2.0/TLS a.example;branch=z9hG4bK1\r\n"                       \
	"From: <sip:a@a.example>;tag=1\r\nTo: <sip:b@b.example>\r\n"           \
	"Call-ID: 1\r\n"
#define REQUEST(n)                                                             \
	"OPTIONS sip:b.example SIP/2.0\r\n" HEAD "CSeq: " #n                   \
	" OPTIONS\r\nContent-Length: 3\r\n\r\nabc"

enum { PORT_A = 5071, PORT_B = 5061, PORT_C = 5081 };

static const struct locate_host hosts[] = {
	{ "b.example", "127.0.0.1", 0 },
	{ "other.example", "127.0.0.1", 0 },
	{ "gone.example", "127.0.0.9", 0 },
	{ "a.example", "127.0.0.1", PORT_A },
};
static const struct locate_options locate = { .hosts = hosts, .n_hosts = 4 };

struct world {
	struct fixture_world base;
	struct fixture_node a, b;
};

static int setup(void **state)
{
	struct world *w = mem_new(sizeof(*w));

	fixture_world_open(&w->base);
	fixture_node_open(&w->a, &w->base, "a.example localhost", PORT_A,
			  &locate);
	fixture_node_open(&w->b, &w->base, "b.example localhost 127.0.0.1",
			  PORT_B, &locate);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	fixture_node_close(&w->a);
	fixture_node_close(&w->b);
	fixture_world_close(&w->base);
	mem_free(w);
	return 0;
}

static void run(struct world *w)
{
	loop_advance_ms(w->base.loop, 100);
}

static struct sip_link *joined(struct world *w, const char *host, uint16_t port)
{
	fixture_connect(&w->a, host, port);
	run(w);
	assert_int_equal(w->a.err, 0);
	assert_non_null(w->a.connected);
	return w->a.connected;
}

static void test_message_travels(void **state)
{
	struct world *w = *state;
	struct sip_link *link = joined(w, "b.example", 0);
	struct sip_transport_stats stats;
	struct addr peer;

	assert_string_equal(sip_link_sent_by(link), "127.0.0.1:5071");
	assert_true(sip_link_has_peer_name(link, SLICE("b.example")));
	assert_false(sip_link_has_peer_name(link, SLICE("c.example")));
	sip_link_peer(link, &peer);
	assert_int_equal(addr_port(&peer), PORT_B);
	assert_int_equal(sip_link_send(link, SLICE(REQUEST(7))), 0);
	run(w);
	assert_int_equal(w->b.n, 1);
	assert_int_equal(w->b.messages[0]->common.cseq, 7);
	assert_slice(w->b.messages[0]->body, "abc");
	assert_true(sip_link_has_peer_name(w->b.link, SLICE("a.example")));
	assert_int_equal(sip_link_send(w->b.link, SLICE(REQUEST(8))), 0);
	run(w);
	assert_int_equal(w->a.messages[0]->common.cseq, 8);
	sip_transport_stats(w->a.transport, &stats);
	assert_int_equal(stats.links, 1);
	assert_int_equal(stats.messages_in, 1);
	assert_int_equal(stats.messages_out, 1);
	assert_int_equal(stats.parse_errors, 0);
}

static void test_split_at_every_byte(void **state)
{
	struct world *w = *state;
	struct slice whole = SLICE(REQUEST(1));
	struct fixture_peer peer;

	fixture_peer_open(&peer, &w->a, "b.example", PORT_B);
	for (size_t i = 0; i < whole.len; i++) {
		assert_int_equal(w->b.n, 0);
		fixture_peer_send(&peer, slice_make(whole.ptr + i, 1));
		loop_advance_ms(w->base.loop, 1);
	}
	run(w);
	assert_int_equal(w->b.n, 1);
	assert_int_equal(w->b.ended, 0);
	fixture_peer_close(&peer);
}

static void test_many_in_one_piece_keep_order(void **state)
{
	struct world *w = *state;
	struct fixture_peer peer;

	fixture_peer_open(&peer, &w->a, "b.example", PORT_B);
	fixture_peer_send(&peer, SLICE("\r\n" REQUEST(1) "\r\n\r\n" REQUEST(2)
					       REQUEST(3) REQUEST(4)));
	link_shutdown(peer.link); /* what was sent before still arrives */
	run(w);
	assert_int_equal(w->b.n, 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(w->b.messages[i]->common.cseq, i + 1);
	assert_int_equal(w->b.ended, 1);
	assert_int_equal(w->b.end_err, 0);
	fixture_peer_close(&peer);
}

static void test_pool_is_by_name_and_port(void **state)
{
	struct world *w = *state;
	struct sip_link *first = joined(w, "b.example", PORT_B);
	struct sip_link *again;

	assert_ptr_equal(joined(w, "B.Example", PORT_B), first);
	again = joined(w, "localhost", PORT_B);
	assert_ptr_not_equal(again, first);
	/* The same address and port, another name: not reused, refused. */
	fixture_connect(&w->a, "other.example", PORT_B);
	run(w);
	assert_null(w->a.connected);
	assert_int_equal(w->a.err, -ENOKEY);
	assert_non_null(strstr(w->a.why, "other.example"));
}

static void test_two_connects_share_one_link(void **state)
{
	struct world *w = *state;
	struct sip_transport_stats stats;
	struct sip_connect *third;

	sim_set_delay_us(w->base.loop, 1000);
	fixture_connect(&w->a, "b.example", 0);
	fixture_connect(&w->a, "b.example", 0);
	third = fixture_connect(&w->a, "b.example", 0);
	loop_advance_ms(w->base.loop, 0);
	sip_connect_cancel(&third);
	assert_null(third);
	run(w);
	assert_int_equal(w->a.outcomes, 2);
	sip_transport_stats(w->a.transport, &stats);
	assert_int_equal(stats.links, 1);
}

static void test_reload_retires_links(void **state)
{
	struct world *w = *state;
	struct sip_link *first = joined(w, "b.example", 0);
	struct buffer why;

	buffer_init(&why, 256);
	assert_int_equal(tls_reload(w->a.tls, &why), 0);
	buffer_reset(&why);
	assert_ptr_not_equal(joined(w, "b.example", 0), first);
	assert_int_equal(sip_link_send(first, SLICE(REQUEST(1))), 0);
	run(w);
	assert_int_equal(w->b.n, 1);
	assert_int_equal(w->a.ended, 0);
}

static void test_a_link_that_did_not_answer(void **state)
{
	struct world *w = *state;
	struct sip_link *first = joined(w, "b.example", 0), *next;

	sip_link_retire(first);
	next = joined(w, "b.example", 0);
	assert_ptr_not_equal(next, first);
	assert_ptr_equal(joined(w, "b.example", 0), next);
	assert_int_equal(sip_link_send(first, SLICE(REQUEST(1))), 0);
	run(w);
	assert_int_equal(w->b.n, 1);
}

#define FROM(via)                                                              \
	"OPTIONS sip:b.example SIP/2.0\r\nVia: SIP/2.0/TLS " via               \
	";branch=z9hG4bK1\r\nFrom: <sip:a@a.example>;tag=1\r\n"                \
	"To: <sip:b@b.example>\r\nCall-ID: 1\r\nCSeq: 1 OPTIONS\r\n"           \
	"Content-Length: 0\r\n\r\n"

/* RFC 5923: the certificate of whoever called us proves its name, its Via says
 * where it listens and that it wants our requests here: no second link. */
static void test_accepted_link_is_reused(void **state)
{
	static const struct {
		const char *request, *host;
		uint16_t port;
		bool is_reused;
	} rows[] = {
		{ FROM("a.example"), "a.example", 0, false },
		{ FROM("a.example;alias"), "a.example", 0, true },
		{ FROM("a.example;alias"), "a.example", 5061, true },
		/* Another port may be another server. */
		{ FROM("a.example;alias"), "a.example", PORT_A, false },
		{ FROM("a.example:5071;alias"), "a.example", PORT_A, true },
		{ FROM("a.example:5071;alias"), "a.example", 5061, false },
		/* What it says it is counts nothing. */
		{ FROM("other.example;alias"), "other.example", 0, false },
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		teardown(state);
		setup(state);
		w = *state;
		sip_link_send(joined(w, "b.example", 0),
			      slice_of(rows[i].request));
		run(w);
		fixture_connect(&w->b, rows[i].host, rows[i].port);
		run(w);
		assert_int_equal(w->b.connected == w->b.link,
				 rows[i].is_reused);
	}
}

/* No certificate, or one that is not verified: what it says it is called
 * does not matter. */
static void test_accepted_link_without_proof(void **state)
{
	struct world *w = *state;
	struct fixture_node c;
	struct tls *tls;
	struct sip_transport_options options = { .locate = &locate };

	fixture_tls_lax(&w->base, &tls, "lax", "b.example localhost");
	fixture_node_open_with(&c, &w->base, tls, PORT_C, &options);
	sip_link_send(joined(w, "b.example", PORT_C),
		      SLICE(FROM("a.example;alias")));
	run(w);
	assert_non_null(c.link);
	assert_false(sip_link_has_peer_name(c.link, SLICE("a.example")));
	fixture_connect(&c, "a.example", 0);
	run(w);
	assert_ptr_not_equal(c.connected, c.link);
	fixture_node_close(&c);
}

static void test_ipv6(void **state)
{
	struct world *w = *state;
	struct sip_transport_options options = { .locate = &locate };
	struct fixture_node c;
	struct tls *tls;

	fixture_tls(&w->base, &tls, "six", "::1");
	addr_parse(&options.listen.bind, SLICE("::1"), PORT_B);
	fixture_node_open_with(&c, &w->base, tls, PORT_B, &options);
	sip_link_send(joined(w, "::1", 0), SLICE(REQUEST(1)));
	run(w);
	assert_int_equal(c.n, 1);
	assert_string_equal(sip_link_sent_by(c.link), "[::1]:5061");
	assert_ptr_equal(joined(w, "::1", 0), w->a.connected);
	fixture_node_close(&c);
}

static void test_unreachable(void **state)
{
	static const struct {
		const char *host;
		uint16_t port;
		int err;
	} rows[] = {
		{ "gone.example", 0, -ECONNREFUSED },
		{ "b.example", 5099, -ECONNREFUSED },
		{ "unknown.example", 0, -ENOENT },
		{ "not a host", 0, -EINVAL },
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fixture_connect(&w->a, rows[i].host, rows[i].port);
		loop_advance_ms(w->base.loop, 10000);
		assert_int_equal(w->a.outcomes, i + 1);
		assert_null(w->a.connected);
		assert_int_equal(w->a.err, rows[i].err);
		assert_true(w->a.why[0]);
	}
}

static void test_half_a_message(void **state)
{
	struct world *w = *state;
	struct fixture_peer peer;

	fixture_peer_open(&peer, &w->a, "b.example", PORT_B);
	fixture_peer_send(&peer, SLICE(REQUEST(1) "OPTIONS sip"));
	loop_advance_ms(w->base.loop, 9000);
	fixture_peer_send(&peer, SLICE(":b.example SIP/2.0\r\n"));
	loop_advance_ms(w->base.loop, 900);
	assert_int_equal(w->b.ended, 0);
	loop_advance_ms(w->base.loop, 200);
	assert_int_equal(w->b.n, 1);
	assert_int_equal(w->b.ended, 1);
	assert_int_equal(w->b.end_err, -ETIMEDOUT);
	run(w);
	assert_int_equal(peer.ends, 1);
	fixture_peer_close(&peer);
}

/* Framed but wrong: answered, and the link goes on. */
static void test_bad_request_is_answered(void **state)
{
	struct world *w = *state;
	struct fixture_peer peer;
	const char *got;

	fixture_peer_open(&peer, &w->a, "b.example", PORT_B);
	fixture_peer_send(&peer, SLICE("OPTIONS sip:b SIP/2.0\r\n" HEAD
				       "CSeq: 1 BYE\r\nContent-Length: "
				       "0\r\n\r\n" REQUEST(2)));
	run(w);
	got = buffer_str(&peer.got);
	assert_true(slice_has_prefix(buffer_slice(&peer.got),
				     SLICE("SIP/2.0 400 Bad Request\r\n")));
	assert_non_null(strstr(got, "\r\nCall-ID: 1\r\n"));
	assert_non_null(strstr(got, "\r\nCSeq: 1 BYE\r\n"));
	assert_non_null(strstr(got, "\r\nServer: test\r\n"));
	assert_non_null(strstr(got, "\"Bad CSeq\""));
	assert_non_null(strstr(got, "To: <sip:b@b.example>;tag="));
	assert_int_equal(w->b.n, 1);
	assert_int_equal(w->b.ended, 0);
	fixture_peer_close(&peer);
}

static void test_not_answered(void **state)
{
	static const char *const rows[] = {
		"ACK sip:b SIP/2.0\r\n" HEAD
		"CSeq: 1 BYE\r\nContent-Length: 0\r\n\r\n",
		"SIP/2.0 200 OK\r\n" HEAD "CSeq: x\r\nContent-Length: 0\r\n"
		"\r\n",
	};
	struct world *w = *state;
	struct sip_transport_stats stats;
	struct fixture_peer peer;

	fixture_peer_open(&peer, &w->a, "b.example", PORT_B);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fixture_peer_send(&peer, slice_of(rows[i]));
		run(w);
		assert_int_equal(peer.got.len, 0);
		sip_transport_stats(w->b.transport, &stats);
		assert_int_equal(stats.parse_errors, i + 1);
	}
	fixture_peer_send(&peer, SLICE(REQUEST(1)));
	run(w);
	assert_int_equal(w->b.n, 1);
	fixture_peer_close(&peer);
}

/* Framing lost: an answer where one can be made, then the end. */
static void test_lost_framing(void **state)
{
	static const struct {
		const char *text, *answer;
	} rows[] = {
		{ "OPTIONS sip:b SIP/2.0\r\n" HEAD "CSeq: 1 OPTIONS\r\n\r\n",
		  "SIP/2.0 400 " },
		{ "OPTIONS sip:b SIP/2.0\r\n" HEAD
		  "CSeq: 1 OPTIONS\r\nContent-Length: 99999\r\n\r\n",
		  "SIP/2.0 413 " },
		{ "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "" },
		{ "\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", "\r\n" },
	};
	struct world *w = *state;
	struct fixture_peer peer;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fixture_peer_open(&peer, &w->a, "b.example", PORT_B);
		fixture_peer_send(&peer, slice_of(rows[i].text));
		fixture_peer_send(&peer, SLICE(REQUEST(1)));
		run(w);
		assert_true(slice_has_prefix(buffer_slice(&peer.got),
					     slice_of(rows[i].answer)));
		assert_int_equal(peer.got.len > 2, rows[i].answer[0] == 'S');
		assert_int_equal(peer.ends, 1);
		assert_int_equal(w->b.ended, i + 1);
		assert_int_equal(w->b.end_err, -EPROTO);
		assert_int_equal(w->b.n, 0);
		fixture_peer_close(&peer);
	}
}

static void test_endless_head(void **state)
{
	struct world *w = *state;
	struct fixture_peer peer;
	char block[1000];

	memset(block, 'x', sizeof(block));
	fixture_peer_open(&peer, &w->a, "b.example", PORT_B);
	for (int i = 0; i < 17 && peer.link; i++) {
		fixture_peer_send(&peer, slice_make(block, sizeof(block)));
		loop_advance_ms(w->base.loop, 1);
	}
	run(w);
	assert_int_equal(w->b.ended, 1);
	assert_int_equal(w->b.end_err, -EPROTO);
	fixture_peer_close(&peer);
}

static void test_cut_link(void **state)
{
	struct world *w = *state;
	struct addr end;

	joined(w, "b.example", 0);
	addr_parse(&end, SLICE("127.0.0.1"), PORT_B);
	sim_cut_tcp(w->base.loop, &end);
	run(w);
	assert_int_equal(w->a.ended, 1);
	assert_int_equal(w->b.ended, 1);
	assert_true(w->a.end_err < 0);
	assert_non_null(joined(w, "b.example", 0));
}

/* In the middle of the handshake. */
static void test_cut_while_connecting(void **state)
{
	struct world *w = *state;
	struct addr end;
	unsigned ms;

	addr_parse(&end, SLICE("127.0.0.1"), PORT_B);
	sim_set_delay_us(w->base.loop, 1000);
	fixture_connect(&w->a, "b.example", 0);
	for (ms = 0; ms < 200 && !w->a.outcomes; ms++) {
		struct sip_transport_stats stats;

		loop_advance_ms(w->base.loop, 1);
		sip_transport_stats(w->a.transport, &stats);
		if (ms == 3)
			sim_cut_tcp(w->base.loop, &end);
	}
	run(w);
	assert_int_equal(w->a.outcomes, 1);
	assert_null(w->a.connected);
	assert_true(w->a.err < 0);
}

/* At each moment of a connect: closing the transport, before or after the
 * owner cancels. */
static void test_close_at_any_moment(void **state)
{
	struct world *w = *state;
	struct fixture_node c;
	struct sip_connect *connect;

	sim_set_delay_us(w->base.loop, 1000);
	for (unsigned ms = 0; ms < 12; ms++) {
		fixture_node_open(&c, &w->base, "c.example", PORT_C, &locate);
		connect = fixture_connect(&c, "b.example", 0);
		loop_advance_ms(w->base.loop, ms);
		if (c.outcomes)
			connect = NULL; /* gone with its outcome */
		if (ms & 1)
			sip_connect_cancel(&connect);
		sip_transport_close(&c.transport);
		run(w);
		sip_connect_cancel(&connect);
		fixture_node_close(&c);
	}
}

/* CVE-2021-32686: the side that listens goes at each moment of a handshake. */
static void test_listener_closes_in_a_handshake(void **state)
{
	struct world *w = *state;
	struct fixture_node c;

	sim_set_delay_us(w->base.loop, 1000);
	for (unsigned ms = 0; ms < 12; ms++) {
		fixture_node_open(&c, &w->base, "b.example", PORT_C, &locate);
		fixture_connect(&w->a, "b.example", PORT_C);
		loop_advance_ms(w->base.loop, ms);
		if (ms & 1)
			sip_transport_stop_listening(c.transport);
		else
			sip_transport_close(&c.transport);
		loop_advance_ms(w->base.loop, 10000);
		assert_int_equal(w->a.outcomes, ms + 1);
		fixture_node_close(&c);
		run(w);
		assert_null(w->a.connected);
	}
}

static void test_close_inside_message(void **state)
{
	struct world *w = *state;
	struct sip_link *link = joined(w, "b.example", 0);

	w->b.closes_in_message = true;
	sip_link_send(link, SLICE(REQUEST(1) REQUEST(2)));
	run(w);
	assert_int_equal(w->b.n, 1);
	assert_null(w->b.transport);
	assert_int_equal(w->a.ended, 1);
}

static void test_stop_listening(void **state)
{
	struct world *w = *state;
	struct sip_link *link = joined(w, "b.example", 0);

	sip_transport_stop_listening(w->b.transport);
	assert_int_equal(sip_transport_port(w->b.transport), PORT_B);
	assert_int_equal(sip_link_send(link, SLICE(REQUEST(1))), 0);
	run(w);
	assert_int_equal(w->b.n, 1);
	fixture_connect(&w->a, "localhost", PORT_B);
	run(w);
	assert_int_equal(w->a.err, -ECONNREFUSED);
}

static void test_sent_by_public_address(void **state)
{
	static const struct sip_transport_events none;
	static const char *const rows[][2] = {
		{ "sip.example", "sip.example:5081" },
		{ "2001:db8::1", "[2001:db8::1]:5081" },
		{ "[2001:db8::1]", "[2001:db8::1]:5081" },
	};
	struct world *w = *state;
	struct fixture_node c;

	for (size_t i = 0; i < 3; i++) {
		struct sip_transport_options options = {
			.loop = w->base.loop,
			.public_address = rows[i][0],
			.locate = &locate,
		};

		fixture_node_open(&c, &w->base, "c.example", PORT_C, &locate);
		sip_transport_close(&c.transport);
		options.tls = c.tls;
		addr_parse(&options.listen.bind, SLICE("127.0.0.1"), PORT_C);
		sip_transport_open(&c.transport, &options, &none, &c);
		fixture_connect(&c, "b.example", 0);
		run(w);
		assert_string_equal(sip_link_sent_by(c.connected), rows[i][1]);
		fixture_node_close(&c);
	}
}

static void test_port_taken(void **state)
{
	static const struct sip_transport_events none;
	struct world *w = *state;
	struct sip_transport_options options = { .loop = w->base.loop,
						 .tls = w->a.tls };
	struct sip_transport *transport;

	addr_parse(&options.listen.bind, SLICE("127.0.0.1"), PORT_B);
	assert_int_equal(sip_transport_open(&transport, &options, &none, NULL),
			 -EADDRINUSE);
	assert_null(transport);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_message_travels),
		T(test_split_at_every_byte),
		T(test_many_in_one_piece_keep_order),
		T(test_pool_is_by_name_and_port),
		T(test_two_connects_share_one_link),
		T(test_reload_retires_links),
		T(test_a_link_that_did_not_answer),
		T(test_accepted_link_is_reused),
		T(test_accepted_link_without_proof),
		T(test_ipv6),
		T(test_unreachable),
		T(test_half_a_message),
		T(test_bad_request_is_answered),
		T(test_not_answered),
		T(test_lost_framing),
		T(test_endless_head),
		T(test_cut_link),
		T(test_cut_while_connecting),
		T(test_close_at_any_moment),
		T(test_listener_closes_in_a_handshake),
		T(test_close_inside_message),
		T(test_stop_listening),
		T(test_sent_by_public_address),
		T(test_port_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
