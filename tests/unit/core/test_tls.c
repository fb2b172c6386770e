/* SPDX-License-Identifier: MIT */
/* core/tls: verified handshakes both ways; each reason for a refusal told
 * apart; resumption for the same name only and not after a reload; transfer
 * with back-pressure; ends in order and cut; closing inside callbacks. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/pki.h"
#include "core/sim.h"
#include "core/tcp.h"
#include "core/timer.h"
#include "core/tls.h"
#include "core/tls_priv.h"
#include "core/work.h"
#include "fixture_pki.h"

static const int64_t wall_ms = 1767312000000; /* 2026-01-02 */

enum { PORT = 5061, DAY_MS = 24 * 3600 * 1000 };

/* One end of a connection and all it was told. */
struct end {
	struct link *link;
	struct loop *loop; /* real: stopped when the end is over */
	struct buffer got;
	unsigned opens, datas, drains, closes;
	int err;
	char why[512];
	size_t stops_at; /* bytes; 0: never */
	bool closes_in_open, closes_in_data, echoes;
};

struct world {
	struct fixture_pki pki;
	struct loop *loop;
	struct work *work;
	struct tls *server, *client;
	struct listener *listener;
	struct end near, far; /* the client's, the server's */
	unsigned accepts;
	bool closes_in_accept, echoes;
	struct timer *watch;
};

static void end_on_open(void *owner)
{
	struct end *end = owner;

	end->opens++;
	if (end->closes_in_open)
		link_close(&end->link);
}

static void end_on_data(void *owner, struct slice data)
{
	struct end *end = owner;

	end->datas++;
	buffer_add(&end->got, data);
	if (end->echoes)
		assert_int_equal(link_send(end->link, data), 0);
	if (end->stops_at && end->got.len >= end->stops_at)
		loop_stop(end->loop);
	if (end->closes_in_data)
		link_close(&end->link);
}

static void end_on_drain(void *owner)
{
	struct end *end = owner;

	end->drains++;
}

static void end_on_close(void *owner, int err, const char *why)
{
	struct end *end = owner;

	end->closes++;
	end->err = err;
	snprintf(end->why, sizeof(end->why), "%s", why);
	link_close(&end->link);
	if (end->loop)
		loop_stop(end->loop);
}

static const struct link_events end_events = {
	.on_open = end_on_open,
	.on_data = end_on_data,
	.on_drain = end_on_drain,
	.on_close = end_on_close,
};

static void end_reset(struct end *end)
{
	link_close(&end->link);
	buffer_reset(&end->got);
	*end = (struct end){ 0 };
	buffer_init(&end->got, 16 << 20);
}

static void on_accept(void *owner, struct link *link)
{
	struct world *w = owner;

	w->accepts++;
	link_close(&w->far.link);
	if (w->closes_in_accept) {
		link_close(&link);
		return;
	}
	w->far.link = link;
	w->far.echoes = w->echoes;
	link_attach(link, &end_events, &w->far);
}

static const char *const server_names[] = { "sip.example",     "*.wild.example",
					    "127.0.0.1",       "2001:db8::7",
					    "sip:uri.example", NULL };
static const char *const client_names[] = { "client.example", NULL };

static void open_tls(struct world *w, struct tls **out, const char *name,
		     bool is_strict)
{
	char certificate[PKI_PATH_SIZE], key[PKI_PATH_SIZE], file[64];
	struct tls_options options = { .loop = w->loop,
				       .work = w->work,
				       .ca_file = w->pki.ca,
				       .require_client_certificate =
					       is_strict };
	struct buffer why;

	buffer_init(&why, 512);
	if (name) {
		snprintf(file, sizeof(file), "%s.pem", name);
		snprintf(certificate, sizeof(certificate), "%s",
			 fixture_pki_path(&w->pki, file));
		snprintf(file, sizeof(file), "%s.key", name);
		snprintf(key, sizeof(key), "%s",
			 fixture_pki_path(&w->pki, file));
		options.certificate_file = certificate;
		options.key_file = key;
	}
	if (tls_open(out, &options, &why))
		fail_msg("%s", buffer_str(&why));
	buffer_reset(&why);
}

static void listen_tls(struct world *w)
{
	struct listen_options options = { .handshake_ms = 3000 };

	addr_parse(&options.bind, SLICE("127.0.0.1"),
		   loop_is_sim(w->loop) ? PORT : 0);
	assert_int_equal(
		tls_listen(&w->listener, w->server, &options, on_accept, w), 0);
}

static void world_start(struct world *w)
{
	static const struct log_options quiet = { .level = LOG_OFF, .fd = 2 };
	int64_t now_ms = loop_wall_ms(w->loop);

	log_setup(&quiet);
	fixture_pki_open(&w->pki, now_ms);
	fixture_pki_leaf(&w->pki, "server", server_names, now_ms, 0);
	fixture_pki_leaf(&w->pki, "client", client_names, now_ms, 0);
	assert_int_equal(work_open(&w->work, w->loop), 0);
	open_tls(w, &w->server, "server", false);
	open_tls(w, &w->client, NULL, false);
	end_reset(&w->near);
	end_reset(&w->far);
	listen_tls(w);
}

static int setup(void **state)
{
	struct world *w = mem_new(sizeof(*w));

	loop_open_sim(&w->loop, wall_ms);
	world_start(w);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	end_reset(&w->near);
	end_reset(&w->far);
	listener_close(&w->listener);
	tls_close(&w->client);
	tls_close(&w->server);
	if (loop_is_sim(w->loop)) {
		loop_advance_ms(w->loop, 0);
		assert_int_equal(sim_tcp_links(w->loop), 0);
	}
	work_close(&w->work);
	loop_close(&w->loop);
	fixture_pki_close(&w->pki);
	mem_free(w);
	return 0;
}

static void dial_as(struct world *w, const char *name, bool is_sip)
{
	struct tls_target target = { .name = name, .is_sip = is_sip };

	end_reset(&w->near);
	addr_parse(&target.addr, SLICE("127.0.0.1"),
		   listener_port(w->listener));
	assert_int_equal(tls_connect(&w->near.link, w->client, &target,
				     &end_events, &w->near),
			 0);
}

/* Far enough for any handshake; nothing here waits for a real clock. */
static void dial(struct world *w, const char *name)
{
	dial_as(w, name, false);
	loop_advance_ms(w->loop, 100);
}

static bool is_resumed(const struct link *link)
{
	return !((const struct tls_link *)link)->shake.is_full;
}

static void test_speaks_both_ways(void **state)
{
	struct world *w = *state;

	dial(w, "sip.example");
	assert_int_equal(w->near.opens, 1);
	assert_int_equal(w->accepts, 1);
	assert_int_equal(link_send(w->near.link, SLICE("hello")), 0);
	assert_int_equal(link_send(w->near.link, SLICE(" there")), 0);
	assert_int_equal(link_send(w->far.link, SLICE("well met")), 0);
	assert_int_equal(w->far.datas, 0); /* posted */
	loop_advance_ms(w->loop, 10);
	assert_string_equal(buffer_str(&w->far.got), "hello there");
	assert_int_equal(w->far.datas, 1); /* one record */
	assert_string_equal(buffer_str(&w->near.got), "well met");
	assert_int_equal(w->near.drains, 1);
	assert_false(is_resumed(w->near.link));
}

static void test_sends_what_was_queued_before_open(void **state)
{
	struct world *w = *state;

	dial_as(w, "sip.example", false);
	assert_int_equal(link_send(w->near.link, SLICE("early")), 0);
	loop_advance_ms(w->loop, 100);
	assert_string_equal(buffer_str(&w->far.got), "early");
}

static void test_judges_names(void **state)
{
	static const struct {
		const char *name;
		bool is_sip;
		int err;
	} cases[] = {
		{ "sip.example", false, 0 },
		{ "SIP.Example", false, 0 },
		{ "sip.example.", false, 0 },
		{ "a.wild.example", false, 0 },
		{ "127.0.0.1", false, 0 },
		{ "2001:db8::7", false, 0 },
		{ "uri.example", true, 0 },
		{ "sip.example", true, 0 },
		{ "uri.example", false, -ENOKEY },
		{ "wild.example", false, -ENOKEY },
		{ "a.b.wild.example", false, -ENOKEY },
		{ "127.0.0.2", false, -ENOKEY },
		{ "2001:db8::8", false, -ENOKEY },
		{ "example", false, -ENOKEY },
		{ "sip.example.evil", false, -ENOKEY },
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		dial_as(w, cases[i].name, cases[i].is_sip);
		loop_advance_ms(w->loop, 100);
		if (w->near.err != cases[i].err)
			fail_msg("%s: %d %s", cases[i].name, w->near.err,
				 w->near.why);
		assert_int_equal(w->near.opens, !cases[i].err);
		assert_int_equal(w->near.closes, !!cases[i].err);
	}
}

static void test_tells_what_the_certificate_is_for(void **state)
{
	struct world *w = *state;

	dial(w, "other.example");
	assert_string_equal(w->near.why,
			    "certificate name mismatch: wanted other.example, "
			    "certificate is for sip.example, *.wild.example, "
			    "127.0.0.1, 2001:db8::7, sip:uri.example");
	assert_int_equal(w->accepts, 0);
}

static void test_refuses_without_a_name(void **state)
{
	struct world *w = *state;
	struct tls_target target = { .name = "" };
	struct link *link;

	addr_parse(&target.addr, SLICE("127.0.0.1"), PORT);
	assert_int_equal(
		tls_connect(&link, w->client, &target, &end_events, &w->near),
		-EINVAL);
	target.name = NULL;
	assert_int_equal(
		tls_connect(&link, w->client, &target, &end_events, &w->near),
		-EINVAL);
	assert_null(link);
}

/* Another server certificate in the place of ours. */
static void serve(struct world *w, const char *name)
{
	listener_close(&w->listener);
	tls_close(&w->server);
	open_tls(w, &w->server, name, false);
	listen_tls(w);
}

static void test_unknown_ca(void **state)
{
	struct world *w = *state;
	struct fixture_pki other;
	char ca[PKI_PATH_SIZE];

	fixture_pki_open(&other, wall_ms);
	snprintf(ca, sizeof(ca), "%s", w->pki.ca);
	tls_close(&w->client);
	snprintf(w->pki.ca, sizeof(w->pki.ca), "%s", other.ca);
	open_tls(w, &w->client, NULL, false);
	snprintf(w->pki.ca, sizeof(w->pki.ca), "%s", ca);
	dial(w, "sip.example");
	fixture_pki_close(&other);
	assert_int_equal(w->near.err, -EKEYREJECTED);
	assert_string_equal(w->near.why, "certificate signed by an unknown CA: "
					 "CN=Test CA");
}

static void test_expired_and_not_yet_valid(void **state)
{
	struct world *w = *state;

	fixture_pki_leaf(&w->pki, "old", server_names,
			 wall_ms - 30 * (int64_t)DAY_MS, 10);
	serve(w, "old");
	dial(w, "sip.example");
	assert_int_equal(w->near.err, -EKEYEXPIRED);
	assert_string_equal(w->near.why,
			    "certificate expired: CN=sip.example was valid "
			    "until 2025-12-12 23:00:00 UTC");
	fixture_pki_leaf(&w->pki, "new", server_names, wall_ms + DAY_MS, 10);
	serve(w, "new");
	dial(w, "sip.example");
	assert_int_equal(w->near.err, -EKEYREJECTED);
	assert_string_equal(w->near.why,
			    "certificate not yet valid: CN=sip.example is "
			    "valid from 2026-01-02 23:00:00 UTC");
}

static void test_connection_refused(void **state)
{
	struct world *w = *state;

	dial_as(w, "sip.example", false);
	listener_close(&w->listener);
	loop_advance_ms(w->loop, 100);
	assert_int_equal(w->near.err, -ECONNREFUSED);
	assert_non_null(strstr(w->near.why, "refused"));
}

static void test_resumes_for_the_same_name_only(void **state)
{
	static const struct {
		const char *name;
		bool is_sip;
		bool is_resumed;
	} cases[] = {
		{ "sip.example", false, false },
		{ "sip.example", false, true },
		{ "sip.example", false, true },
		{ "sip.example", true, false },
		{ "a.wild.example", false, false },
		{ "b.wild.example", false, false },
		{ "a.wild.example", false, true },
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		dial_as(w, cases[i].name, cases[i].is_sip);
		loop_advance_ms(w->loop, 100);
		assert_int_equal(w->near.opens, 1);
		assert_int_equal(is_resumed(w->near.link), cases[i].is_resumed);
		assert_int_equal(is_resumed(w->far.link), cases[i].is_resumed);
	}
}

/* The session is good, the name was never verified with it. */
static void test_no_way_round_the_name_by_resumption(void **state)
{
	struct world *w = *state;

	dial(w, "sip.example");
	dial(w, "other.example");
	assert_int_equal(w->near.err, -ENOKEY);
	assert_int_equal(w->near.opens, 0);
}

static void reload(struct tls *tls)
{
	struct buffer why;

	buffer_init(&why, 512);
	if (tls_reload(tls, &why))
		fail_msg("%s", buffer_str(&why));
	buffer_reset(&why);
}

static void test_reload_ends_resumption(void **state)
{
	struct world *w = *state;

	dial(w, "sip.example");
	reload(w->client);
	assert_int_equal(tls_generation(w->client), 2);
	dial(w, "sip.example");
	assert_false(is_resumed(w->near.link));
	dial(w, "sip.example");
	assert_true(is_resumed(w->near.link));
	reload(w->server); /* its ticket keys are new */
	dial(w, "sip.example");
	assert_false(is_resumed(w->near.link));
	assert_int_equal(w->near.opens, 1);
}

static void test_sessions_grow_old(void **state)
{
	struct world *w = *state;

	dial(w, "sip.example");
	end_reset(&w->near);
	loop_advance_ms(w->loop, 3600 * 1000 + 1000);
	dial(w, "sip.example");
	assert_false(is_resumed(w->near.link));
}

static void test_reload_takes_the_new_certificate(void **state)
{
	static const char *const names[] = { "fresh.example", NULL };
	struct world *w = *state;

	dial(w, "sip.example");
	fixture_pki_leaf(&w->pki, "server", names, wall_ms, 0);
	reload(w->server);
	assert_int_equal(link_send(w->near.link, SLICE("x")), 0);
	loop_advance_ms(w->loop, 10);
	assert_string_equal(buffer_str(&w->far.got), "x"); /* still up */
	dial(w, "fresh.example");
	assert_int_equal(w->near.opens, 1);
}

static void test_failed_reload_changes_nothing(void **state)
{
	struct world *w = *state;
	struct buffer why;

	buffer_init(&why, 512);
	assert_int_equal(truncate(fixture_pki_path(&w->pki, "server.pem"), 100),
			 0);
	assert_int_equal(tls_reload(w->server, &why), -EINVAL);
	assert_non_null(strstr(buffer_str(&why), "/server.pem: "));
	assert_int_equal(tls_generation(w->server), 1);
	buffer_reset(&why);
	dial(w, "sip.example");
	assert_int_equal(w->near.opens, 1);
}

static void test_open_names_the_bad_file(void **state)
{
	static const struct {
		const char *certificate, *key, *ca;
		int err;
		const char *why;
	} cases[] = {
		{ "server.pem", "client.key", "ca.pem", -EINVAL,
		  "/client.key is not the key of " },
		{ "none.pem", "server.key", "ca.pem", -ENOENT,
		  "/none.pem: No such file" },
		{ "server.pem", "server.pem", "ca.pem", -EINVAL,
		  "/server.pem: " },
		{ "server.pem", NULL, "ca.pem", -EINVAL, "no key file" },
		{ "", "", "ca.pem", -EINVAL, "no certificate file is set" },
		{ NULL, NULL, "server.key", -EINVAL, "/server.key: " },
		{ NULL, NULL, ".", -EINVAL, "/.: " },
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *names[] = { cases[i].certificate, cases[i].key,
					cases[i].ca };
		char paths[3][PKI_PATH_SIZE];
		struct tls_options options = { .loop = w->loop,
					       .work = w->work };
		struct buffer why;
		struct tls *tls;

		for (size_t j = 0; j < 3; j++)
			if (names[j])
				strcpy(paths[j],
				       names[j][0] ? fixture_pki_path(&w->pki,
								      names[j])
						   : "");
		options.certificate_file = names[0] ? paths[0] : NULL;
		options.key_file = names[1] ? paths[1] : NULL;
		options.ca_file = names[2] ? paths[2] : NULL;
		buffer_init(&why, 512);
		assert_int_equal(tls_open(&tls, &options, &why), cases[i].err);
		if (!strstr(buffer_str(&why), cases[i].why))
			fail_msg("%s", buffer_str(&why));
		assert_null(tls);
		buffer_reset(&why);
	}
}

static void test_client_certificates(void **state)
{
	struct world *w = *state;

	listener_close(&w->listener);
	tls_close(&w->server);
	open_tls(w, &w->server, "server", true);
	listen_tls(w);
	dial(w, "sip.example");
	assert_int_equal(w->accepts, 0);
	assert_int_equal(w->near.opens, 0);
	assert_int_equal(w->near.err, -EPROTO);
	assert_non_null(strstr(w->near.why, "peer ended the TLS handshake"));

	tls_close(&w->client);
	open_tls(w, &w->client, "client", false);
	for (unsigned i = 0; i < 2; i++) { /* full, resumed */
		dial(w, "sip.example");
		assert_int_equal(w->near.opens, 1);
		assert_int_equal(is_resumed(w->near.link), i == 1);
		assert_true(link_has_peer_name(w->far.link,
					       SLICE("client.example")));
		assert_false(
			link_has_peer_name(w->far.link, SLICE("sip.example")));
		assert_true(
			link_has_peer_name(w->near.link, SLICE("uri.example")));
		assert_true(
			link_has_peer_name(w->near.link, SLICE("sip.example")));
		assert_false(link_has_peer_name(w->near.link,
						SLICE("client.example")));
	}
}

static void test_stranger_has_no_name(void **state)
{
	struct world *w = *state;

	dial(w, "sip.example");
	assert_false(link_has_peer_name(w->far.link, SLICE("sip.example")));
	assert_false(link_has_peer_name(w->far.link, SLICE("")));
}

static void dial_plain(struct world *w)
{
	struct addr addr;

	end_reset(&w->near);
	addr_parse(&addr, SLICE("127.0.0.1"), PORT);
	assert_int_equal(tcp_connect(&w->near.link, w->loop, &addr, &end_events,
				     &w->near),
			 0);
	loop_advance_ms(w->loop, 10);
}

static void test_garbage_ends_the_connection(void **state)
{
	static const struct slice garbage[] = {
		SLICE("GET / HTTP/1.1\r\n\r\n"),
		SLICE("\x16\x03\x01\xff\xff garbage"),
		SLICE("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x07"),
		SLICE("\x15\x03\x03\x20\x02\x02\x28"),
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
		dial_plain(w);
		link_send(w->near.link, garbage[i]);
		loop_advance_ms(w->loop, 4000);
		assert_int_equal(w->near.closes, 1);
		assert_int_equal(w->accepts, 0);
		assert_int_equal(listener_links(w->listener), 0);
	}
}

/* A ClientHello of TLS 1.1 with one cipher suite is answered by the alert
 * protocol_version. */
static void test_version_below_1_2_is_refused(void **state)
{
	struct world *w = *state;
	struct buffer hello;

	buffer_init(&hello, 128);
	buffer_add(&hello, SLICE("\x16\x03\x01\x00\x2d\x01\x00\x00\x29"));
	buffer_add(&hello, SLICE("\x03\x02"));
	for (unsigned i = 0; i < 32; i++)
		buffer_add_char(&hello, 'r');
	buffer_add(&hello, SLICE("\x00\x00\x02\xc0\x09\x01\x00"));
	dial_plain(w);
	link_send(w->near.link, buffer_slice(&hello));
	loop_advance_ms(w->loop, 100);
	assert_int_equal(w->near.got.len, 7);
	assert_int_equal(w->near.got.ptr[0], 0x15);
	assert_int_equal(w->near.got.ptr[6], 70);
	assert_int_equal(w->near.closes, 1);
	buffer_reset(&hello);
}

static void test_slow_client_is_dropped(void **state)
{
	struct world *w = *state;

	dial_plain(w);
	link_send(w->near.link, slice_make("\x16\x03\x01", 3));
	loop_advance_ms(w->loop, 2900);
	assert_int_equal(w->near.closes, 0);
	loop_advance_ms(w->loop, 200);
	assert_int_equal(w->near.closes, 1);
	assert_int_equal(listener_links(w->listener), 0);
}

static void test_silent_server_times_out(void **state)
{
	struct listen_options options = { .first_byte_ms = 0 };
	struct world *w = *state;

	listener_close(&w->listener);
	addr_parse(&options.bind, SLICE("127.0.0.1"), PORT);
	assert_int_equal(
		tcp_listen(&w->listener, w->loop, &options, on_accept, w), 0);
	dial(w, "sip.example");
	loop_advance_ms(w->loop, 4500);
	assert_int_equal(w->near.closes, 0);
	loop_advance_ms(w->loop, 1000);
	assert_int_equal(w->near.err, -ETIMEDOUT);
	assert_string_equal(w->near.why, "TLS handshake timed out");
}

static void test_server_that_is_no_tls(void **state)
{
	struct listen_options options = { .first_byte_ms = 0 };
	struct world *w = *state;

	listener_close(&w->listener);
	addr_parse(&options.bind, SLICE("127.0.0.1"), PORT);
	tcp_listen(&w->listener, w->loop, &options, on_accept, w);
	dial(w, "sip.example");
	link_send(w->far.link, SLICE("220 mail.example ESMTP\r\n"));
	loop_advance_ms(w->loop, 10);
	assert_int_equal(w->near.err, -EPROTO);
	assert_string_equal(w->near.why,
			    "peer does not speak TLS 1.2 or higher");
}

static void fill(struct buffer *out, size_t len)
{
	buffer_init(out, len);
	for (size_t i = 0; i < len; i++)
		buffer_add_char(out, (char)(i * 31 + (i >> 8)));
}

static void test_megabyte_both_ways(void **state)
{
	struct world *w = *state;
	struct buffer data;

	fill(&data, 1 << 20);
	dial(w, "sip.example");
	w->far.echoes = true;
	assert_int_equal(link_send(w->near.link, buffer_slice(&data)), 0);
	assert_true(link_queued_bytes(w->near.link) >= 1 << 20);
	loop_advance_ms(w->loop, 1000);
	assert_true(slice_eq(buffer_slice(&w->far.got), buffer_slice(&data)));
	assert_true(slice_eq(buffer_slice(&w->near.got), buffer_slice(&data)));
	assert_int_equal(link_queued_bytes(w->near.link), 0);
	assert_int_equal(w->near.drains, 1);
	buffer_reset(&data);
}

static void test_pause_holds_the_sender(void **state)
{
	struct world *w = *state;
	struct buffer data;

	fill(&data, 1 << 20);
	dial(w, "sip.example");
	link_pause(w->far.link);
	assert_int_equal(link_send(w->near.link, buffer_slice(&data)), 0);
	loop_advance_ms(w->loop, 1000);
	assert_int_equal(w->far.got.len, 0);
	link_resume(w->far.link);
	loop_advance_ms(w->loop, 1000);
	assert_true(slice_eq(buffer_slice(&w->far.got), buffer_slice(&data)));
	buffer_reset(&data);
}

static void test_queue_has_an_end(void **state)
{
	struct world *w = *state;
	struct buffer data;

	fill(&data, LINK_QUEUE_MAX_BYTES);
	dial(w, "sip.example");
	link_pause(w->far.link);
	assert_int_equal(link_send(w->near.link, buffer_slice(&data)), 0);
	assert_int_equal(link_send(w->near.link, SLICE("x")), -ENOBUFS);
	buffer_reset(&data);
}

static void test_shutdown_sends_all_first(void **state)
{
	struct world *w = *state;
	struct buffer data;

	fill(&data, 1 << 20);
	dial(w, "sip.example");
	assert_int_equal(link_send(w->near.link, buffer_slice(&data)), 0);
	link_shutdown(w->near.link);
	assert_int_equal(link_send(w->near.link, SLICE("x")), -EPIPE);
	loop_advance_ms(w->loop, 5000);
	assert_true(slice_eq(buffer_slice(&w->far.got), buffer_slice(&data)));
	assert_int_equal(w->far.closes, 1);
	assert_int_equal(w->far.err, 0);
	assert_string_equal(w->far.why, "peer closed");
	assert_int_equal(w->near.closes, 1);
	assert_int_equal(w->near.err, 0);
	buffer_reset(&data);
}

static void test_shutdown_before_open(void **state)
{
	struct world *w = *state;

	dial_as(w, "sip.example", false);
	link_shutdown(w->near.link);
	loop_advance_ms(w->loop, 5000);
	assert_int_equal(w->near.opens, 0);
	assert_int_equal(w->near.closes, 1);
	assert_int_equal(w->near.err, 0);
}

static void test_close_ends_in_order(void **state)
{
	struct world *w = *state;

	dial(w, "sip.example");
	link_close(&w->near.link);
	loop_advance_ms(w->loop, 100);
	assert_int_equal(w->far.closes, 1);
	assert_int_equal(w->far.err, 0);
}

static void test_cut_is_told_from_an_end(void **state)
{
	struct world *w = *state;
	struct addr peer;
	struct link *raw;

	dial(w, "sip.example");
	raw = ((struct tls_link *)w->near.link)->raw;
	link_shutdown(raw); /* FIN without close_notify */
	loop_advance_ms(w->loop, 100);
	assert_int_equal(w->far.closes, 1);
	assert_int_equal(w->far.err, -ECONNRESET);
	dial(w, "sip.example");
	w->far.closes = 0;
	link_peer(w->far.link, &peer);
	sim_cut_tcp(w->loop, &peer);
	loop_advance_ms(w->loop, 100);
	assert_int_equal(w->far.err, -ECONNRESET);
	assert_int_equal(w->near.err, -ECONNRESET);
}

static void test_data_before_the_end_is_delivered(void **state)
{
	struct world *w = *state;

	dial(w, "sip.example");
	link_pause(w->far.link);
	link_send(w->near.link, SLICE("last words"));
	link_shutdown(w->near.link);
	loop_advance_ms(w->loop, 5000);
	assert_int_equal(w->far.closes, 0);
	link_resume(w->far.link);
	loop_advance_ms(w->loop, 100);
	assert_string_equal(buffer_str(&w->far.got), "last words");
	assert_int_equal(w->far.closes, 1);
	assert_int_equal(w->far.err, 0);
}

static void test_closing_inside_callbacks(void **state)
{
	struct world *w = *state;

	dial_as(w, "sip.example", false);
	w->near.closes_in_open = true;
	loop_advance_ms(w->loop, 100);
	assert_int_equal(w->near.opens, 1);
	assert_null(w->near.link);
	w->closes_in_accept = true;
	dial(w, "sip.example");
	assert_int_equal(w->near.closes, 1);
	w->closes_in_accept = false;
	dial(w, "sip.example");
	w->far.closes_in_data = true;
	link_send(w->near.link, SLICE("x"));
	loop_advance_ms(w->loop, 100);
	assert_int_equal(w->far.datas, 1);
	assert_null(w->far.link);
	assert_int_equal(w->near.closes, 1);
}

/* One delay at a time further into the handshake. */
static void test_closing_at_each_moment(void **state)
{
	struct world *w = *state;

	sim_set_delay_us(w->loop, 1000);
	for (unsigned ms = 0; ms < 12; ms++) {
		dial_as(w, "sip.example", ms % 2);
		loop_advance_ms(w->loop, ms);
		end_reset(&w->near);
		reload(w->client);
		loop_advance_ms(w->loop, 100);
		end_reset(&w->far);
		loop_advance_ms(w->loop, 100);
		assert_int_equal(listener_links(w->listener), 0);
	}
	dial_as(w, "sip.example", false);
	loop_advance_ms(w->loop, 2);
	listener_close(&w->listener);
	loop_advance_ms(w->loop, 100);
	assert_int_equal(w->near.closes, 1);
}

static void test_links_outlive_the_context(void **state)
{
	struct world *w = *state;

	dial(w, "sip.example");
	listener_close(&w->listener);
	tls_close(&w->server);
	tls_close(&w->client);
	link_send(w->near.link, SLICE("still here"));
	loop_advance_ms(w->loop, 10);
	assert_string_equal(buffer_str(&w->far.got), "still here");
}

static void test_first_byte_is_awaited(void **state)
{
	struct world *w = *state;

	dial(w, "sip.example");
	loop_advance_ms(w->loop, 59 * 1000);
	link_send(w->near.link, SLICE("x"));
	loop_advance_ms(w->loop, 10 * 1000);
	assert_int_equal(w->far.closes, 0);
	end_reset(&w->near);
	end_reset(&w->far);
	dial(w, "sip.example");
	loop_advance_ms(w->loop, 61 * 1000);
	assert_int_equal(w->far.closes, 1);
	assert_int_equal(w->far.err, -ETIMEDOUT);
}

/* On real sockets and a real pool */

static int setup_real(void **state)
{
	struct world *w = mem_new(sizeof(*w));

	assert_int_equal(loop_open(&w->loop), 0);
	world_start(w);
	*state = w;
	return 0;
}

static void on_late(void *arg)
{
	loop_stop(arg);
}

static void run_real(struct world *w)
{
	struct timer *late = timer_new(w->loop);

	timer_start(late, 20 * 1000, on_late, w->loop);
	loop_run(w->loop);
	timer_close(&late);
}

static void dial_real(struct world *w, const char *name)
{
	dial_as(w, name, false);
	w->near.loop = w->loop;
}

static void test_real_sockets(void **state)
{
	struct world *w = *state;
	struct buffer data;

	fill(&data, 1 << 20);
	w->echoes = true;
	for (unsigned i = 0; i < 2; i++) { /* full, resumed */
		dial_real(w, "sip.example");
		w->near.stops_at = 1 << 20;
		link_send(w->near.link, buffer_slice(&data));
		run_real(w);
		assert_true(slice_eq(buffer_slice(&w->near.got),
				     buffer_slice(&data)));
		assert_int_equal(is_resumed(w->near.link), i == 1);
		end_reset(&w->far);
	}
	buffer_reset(&data);
}

static void test_real_failures(void **state)
{
	struct world *w = *state;
	uint16_t port;
	struct tls_target target = { .name = "sip.example" };

	dial_real(w, "other.example");
	run_real(w);
	assert_int_equal(w->near.err, -ENOKEY);
	port = listener_port(w->listener);
	listener_close(&w->listener);
	end_reset(&w->near);
	w->near.loop = w->loop;
	addr_parse(&target.addr, SLICE("127.0.0.1"), port);
	assert_int_equal(tls_connect(&w->near.link, w->client, &target,
				     &end_events, &w->near),
			 0);
	run_real(w);
	assert_int_equal(w->near.err, -ECONNREFUSED);
}

/* Turn by turn until a handshake job is under way. */
static void on_watch(void *arg)
{
	struct world *w = arg;

	if (((struct tls_link *)w->near.link)->job)
		loop_stop(w->loop);
	else
		timer_start(w->watch, 0, on_watch, w);
}

static void on_turns_over(void *arg)
{
	struct world *w = arg;

	loop_stop(w->loop);
}

static void test_real_close_with_a_job_under_way(void **state)
{
	struct world *w = *state;

	w->watch = timer_new(w->loop);
	for (unsigned i = 0; i < 4; i++) {
		dial_real(w, "sip.example");
		timer_start(w->watch, 0, on_watch, w);
		run_real(w);
		assert_int_equal(w->near.opens, 0);
		link_close(&w->near.link);
	}
	timer_close(&w->watch);
	dial_real(w, "sip.example");
	w->near.stops_at = 1;
	w->echoes = true;
	link_send(w->near.link, SLICE("x"));
	run_real(w);
	assert_int_equal(w->near.opens, 1);
}

/* CVE-2021-32686: the listener goes while handshakes are under way, the jobs of
 * some in the pool. */
static void test_real_listener_closes_in_a_handshake(void **state)
{
	struct world *w = *state;

	for (unsigned i = 0; i < 8; i++) {
		w->watch = timer_new(w->loop);
		dial_real(w, "sip.example");
		timer_start(w->watch, i, on_turns_over, w);
		run_real(w);
		timer_close(&w->watch);
		listener_close(&w->listener);
		link_close(&w->far.link);
		if (!w->near.closes) {
			/* Its end is that of the connection. */
			w->near.loop = w->loop;
			run_real(w);
		}
		assert_int_equal(w->near.closes, 1);
		link_close(&w->near.link);
		w->near.closes = 0;
		listen_tls(w);
	}
}

#define SIM(test)  cmocka_unit_test_setup_teardown(test, setup, teardown)
#define REAL(test) cmocka_unit_test_setup_teardown(test, setup_real, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SIM(test_speaks_both_ways),
		SIM(test_sends_what_was_queued_before_open),
		SIM(test_judges_names),
		SIM(test_tells_what_the_certificate_is_for),
		SIM(test_refuses_without_a_name),
		SIM(test_unknown_ca),
		SIM(test_expired_and_not_yet_valid),
		SIM(test_connection_refused),
		SIM(test_resumes_for_the_same_name_only),
		SIM(test_no_way_round_the_name_by_resumption),
		SIM(test_reload_ends_resumption),
		SIM(test_sessions_grow_old),
		SIM(test_reload_takes_the_new_certificate),
		SIM(test_failed_reload_changes_nothing),
		SIM(test_open_names_the_bad_file),
		SIM(test_client_certificates),
		SIM(test_stranger_has_no_name),
		SIM(test_garbage_ends_the_connection),
		SIM(test_version_below_1_2_is_refused),
		SIM(test_slow_client_is_dropped),
		SIM(test_silent_server_times_out),
		SIM(test_server_that_is_no_tls),
		SIM(test_megabyte_both_ways),
		SIM(test_pause_holds_the_sender),
		SIM(test_queue_has_an_end),
		SIM(test_shutdown_sends_all_first),
		SIM(test_shutdown_before_open),
		SIM(test_close_ends_in_order),
		SIM(test_cut_is_told_from_an_end),
		SIM(test_data_before_the_end_is_delivered),
		SIM(test_closing_inside_callbacks),
		SIM(test_closing_at_each_moment),
		SIM(test_links_outlive_the_context),
		SIM(test_first_byte_is_awaited),
		REAL(test_real_sockets),
		REAL(test_real_failures),
		REAL(test_real_close_with_a_job_under_way),
		REAL(test_real_listener_closes_in_a_handshake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
