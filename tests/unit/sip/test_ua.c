/* SPDX-License-Identifier: MIT */
/* sip/ua: what needs no session: OPTIONS, 400, 405, 415, 420, 481, 482, 503;
 * who is called and who calls; draining and the cap; probes; counts. RFC 3261,
 * 8.2, 11, 21. */
#include "fixture_ua.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "fixture_text.h"
#include "core/link.h"

static void test_requests_outside_a_dialog(void **state)
{
	static const struct {
		const char *method, *headers, *body, *answer;
	} rows[] = {
		{ "OPTIONS", "", "", "200" },
		{ "OPTIONS", "Require: timer\r\n", "", "200" },
		{ "OPTIONS", "Require: foo\r\n", "", "420" },
		{ "OPTIONS", "Require:\r\n", "", "200" },
		{ "OPTIONS", "Require: ,\r\n", "", "200" },
		{ "OPTIONS", "Proxy-Require: foo\r\n", "", "200" },
		{ "CANCEL", "Require: foo\r\n", "", "481" },
		{ "BYE", "", "", "481" },
		{ "UPDATE", "", "", "481" },
		{ "CANCEL", "", "", "481" },
		{ "REFER", "Refer-To: <sip:a@b.test>\r\n", "", "403" },
		{ "NOTIFY", "Event: refer\r\n", "", "481" },
		{ "INFO", "", "", "405" },
		{ "SUBSCRIBE", "Event: presence\r\n", "", "405" },
		{ "PUBLISH", "Event: presence\r\n", "", "405" },
		{ "PRACK", "", "", "405" },
		{ "REGISTER", "", "", "405" },
		{ "MESSAGE", "", "", "405" },
		{ "FROB", "Require: foo\r\n", "", "501" },
		{ "ACK", "", "", "" },
		{ "INVITE", "Require: 100rel\r\n", "x", "420" },
		{ "INVITE", "Content-Type: text/plain\r\n", "x", "415" },
		{ "INVITE", "Content-Encoding: gzip\r\n", "x", "415" },
		{ "INVITE", "Accept: text/nobodyKnowsThis\r\n", "x", "406" },
	};
	struct world *w = *state;

	raw_dial(w);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		raw_request(&w->raw, rows[i].method, rows[i].headers,
			    rows[i].body);
		if (rows[i].answer[0])
			raw_expect(&w->raw, rows[i].answer);
		raw_expect_none(&w->raw);
	}
	expect_log(&w->near, "");
}

static void test_what_answers_carry(void **state)
{
	static const char *const extensions[] = { "timer", "replaces",
						  "norefersub", "nosub" };
	struct world *w = *state;
	const struct sip_message *answer;

	raw_dial(w);
	raw_request(&w->raw, "OPTIONS", "", "");
	answer = raw_expect(&w->raw, "200");
	assert_slice(message_value(answer, "Allow"),
		     "INVITE, ACK, BYE, CANCEL, OPTIONS, UPDATE, REFER, "
		     "NOTIFY");
	assert_slice(message_value(answer, "Accept"), "application/sdp");
	assert_slice(message_value(answer, "Allow-Events"), "refer");
	for (size_t i = 0; i < 4; i++)
		assert_true(sip_message_has_token(answer, SIP_H_SUPPORTED,
						  slice_of(extensions[i])));
	assert_false(sip_message_has_token(answer, SIP_H_SUPPORTED,
					   SLICE("100rel")));
	assert_true(answer->common.to.tag.len > 0);
	raw_request(&w->raw, "INFO", "", "");
	assert_non_null(message_value(raw_expect(&w->raw, "405"), "Allow").ptr);
	raw_request(&w->raw, "INVITE",
		    "Require: 100rel, Timer\r\nRequire: foo, replaces\r\n",
		    "x");
	answer = raw_expect(&w->raw, "420"); /* names what we lack, alone */
	assert_slice(sip_message_header(answer, SIP_H_UNSUPPORTED, 0)->value,
		     "100rel");
	assert_slice(sip_message_header(answer, SIP_H_UNSUPPORTED, 1)->value,
		     "foo");
	assert_null(sip_message_header(answer, SIP_H_UNSUPPORTED, 2));
	raw_request(&w->raw, "INVITE", "Content-Type: text/plain\r\n", "x");
	assert_slice(message_value(raw_expect(&w->raw, "415"), "Accept"),
		     "application/sdp");
}

static void test_methods_inside_a_dialog(void **state)
{
	static const struct {
		const char *method, *headers, *answer;
	} rows[] = {
		{ "OPTIONS", "", "200" },
		{ "UPDATE", "Require: foo\r\n", "420" },
		{ "UPDATE", "Require: timer\r\n", "200" },
		{ "INFO", "", "405" },
		{ "MESSAGE", "", "405" },
		{ "SUBSCRIBE", "Event: refer\r\n", "405" },
		{ "PUBLISH", "", "405" },
		{ "PRACK", "RAck: 1 1 INVITE\r\n", "405" },
		{ "REGISTER", "", "405" },
		{ "FROB", "", "501" },
	};
	struct world *w = *state;

	raw_make_call(w);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		raw_request(&w->raw, rows[i].method, rows[i].headers, "");
		raw_expect(&w->raw, rows[i].answer);
		if (strcmp(rows[i].answer, "405") == 0)
			assert_non_null(
				message_value(w->raw.message, "Allow").ptr);
		raw_expect_none(&w->raw);
	}
	expect_log(&w->near, "");
}

static void test_who_calls_whom(void **state)
{
	static const struct {
		const char *target, *to, *from, *headers, *log;
	} rows[] = {
		{ "sip:+15550100@near.test", "<sip:x@y.test>",
		  "<sip:15550177@a.test>;tag=1", "",
		  "invite +15550100 +15550177   [offer];" },
		{ "sip:near.test", "<sip:15550100@y.test>",
		  "tel:+1-555-0177;tag=1", "",
		  "invite +15550100 +15550177   [offer];" },
		{ "tel:+1-555-0100", "<sip:x@y.test>",
		  "\"Anonymous\" <sip:anonymous@anonymous.invalid>;tag=1",
		  "P-Asserted-Identity: \"Real\" <sip:+15550188@c.test>\r\n",
		  "invite +15550100 +15550188 Real  [offer];" },
		{ "sips:alice@near.test", "<sip:x@y.test>",
		  "\"A \\\"B\\\"\" <sip:anonymous@192.0.2.1>;tag=1", "",
		  "invite alice anonymous A \"B\"  [offer];" },
	};
	struct world *w = *state;

	w->near.invite_status = 404;
	raw_dial(w);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(w->raw.target, sizeof(w->raw.target), "%s",
			 rows[i].target);
		snprintf(w->raw.remote, sizeof(w->raw.remote), "%s",
			 rows[i].to);
		snprintf(w->raw.local, sizeof(w->raw.local), "%s",
			 rows[i].from);
		raw_request(&w->raw, "INVITE", rows[i].headers, "offer");
		raw_expect(&w->raw, "100");
		raw_expect(&w->raw, "404");
		expect_log(&w->near, rows[i].log);
	}
}

static void test_contact_is_sips_when_asked_so(void **state)
{
	struct world *w = *state;

	w->near.answer = "answer";
	raw_dial(w);
	snprintf(w->raw.target, sizeof(w->raw.target), "sips:alice@near.test");
	raw_request(&w->raw, "INVITE", "", "offer");
	raw_expect(&w->raw, "100");
	assert_slice(message_value(raw_expect(&w->raw, "200"), "Contact"),
		     "<sips:alice@127.0.0.1:5061>");
	raw_learn(&w->raw, w->raw.message);
	raw_request(&w->raw, "ACK", "", "");
}

static void test_from_host_must_be_one(void **state)
{
	static const char *const hosts[] = { "bad_host..test", "-a.test", "a b",
					     "1.2.3.4.5", "" };
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		raw_dial(w);
		snprintf(w->raw.local, sizeof(w->raw.local), "<sip:x@%s>;tag=1",
			 hosts[i]);
		raw_request(&w->raw, "INVITE", "", "offer");
		assert_memory_equal(buffer_str(&w->raw.got), "SIP/2.0 400 ",
				    12);
		buffer_clear(&w->raw.got);
	}
	expect_log(&w->near, "");
}

static void test_max_forwards_zero(void **state)
{
	struct world *w = *state;
	static const char options[] =
		"OPTIONS sip:near.test SIP/2.0\r\n"
		"Via: SIP/2.0/TLS 127.0.0.1;branch=z9hG4bKz\r\n"
		"Max-Forwards: 0\r\nFrom: <sip:a@a.test>;tag=1\r\n"
		"To: <sip:near.test>\r\nCall-ID: z\r\nCSeq: 1 OPTIONS\r\n"
		"Supported:\r\nContent-Length: 0\r\n\r\n";

	raw_dial(w);
	raw_write(&w->raw, slice_of(options));
	raw_expect(&w->raw, "200"); /* we are its goal, not a hop */
}

static void test_merged_invite(void **state)
{
	struct world *w = *state;

	raw_dial(w);
	raw_request(&w->raw, "INVITE", "", "offer");
	raw_expect(&w->raw, "100");
	w->raw.cseq--; /* the same over another path: new branch */
	raw_request(&w->raw, "INVITE", "", "offer");
	raw_expect(&w->raw, "482");
	w->raw.cseq--;
	w->raw.branches = 0; /* and the first one once more: absorbed */
	raw_request(&w->raw, "INVITE", "", "offer");
	raw_expect_none(&w->raw);
	expect_log(&w->near, "invite +15550100 +15550177 Ann  [offer];");
}

/* A call of its own with each number. */
static void invite_number(struct world *w, int n)
{
	snprintf(w->raw.call_id, sizeof(w->raw.call_id), "call-%d", n);
	raw_request(&w->raw, "INVITE", "", "offer");
	raw_expect(&w->raw, "100");
}

static void test_cap_on_sessions(void **state)
{
	struct session *sessions[4];
	struct world *w = *state;

	raw_dial(w);
	for (int i = 0; i < 4; i++) {
		invite_number(w, i);
		sessions[i] = w->near.session;
		w->near.session = NULL;
	}
	raw_request(&w->raw, "INVITE", "", "offer");
	assert_slice(message_value(raw_expect(&w->raw, "503"), "Retry-After"),
		     "10");
	session_close(&sessions[0]);
	world_run(w, 20);
	raw_expect(&w->raw, "480");
	invite_number(w, 5);
	for (int i = 1; i < 4; i++)
		session_close(&sessions[i]);
	world_run(w, 20);
}

static void test_drain(void **state)
{
	struct world *w = *state;

	raw_make_call(w);
	ua_drain(w->near.ua);
	raw_request(&w->raw, "UPDATE", "", "");
	raw_expect(&w->raw, "200"); /* running calls run on */
	raw_request(&w->raw, "OPTIONS", "", "");
	raw_expect(&w->raw, "200");
	w->raw.call_id[0] = '\0';
	raw_dial(w);
	raw_request(&w->raw, "INVITE", "", "offer");
	raw_expect(&w->raw, "503");
	raw_request(&w->raw, "OPTIONS", "", "");
	raw_expect(&w->raw, "503"); /* 11.2: as an INVITE would be */
	expect_log(&w->near, "");
}

/* ---- probes ---- */

struct probed {
	unsigned n;
	int status;
	uint32_t ms;
	char why[256];
};

static void on_probed(void *owner, int status, uint32_t ms, const char *why)
{
	struct probed *probed = owner;

	probed->n++;
	probed->status = status;
	probed->ms = ms;
	snprintf(probed->why, sizeof(probed->why), "%s", why);
}

static void test_probe(void **state)
{
	static const struct session_trunk far = { .host = "trunk.test",
						  .port = FAR_PORT };
	struct world *w = *state;
	struct probed probed = { 0 };

	ua_probe(w->near.ua, &far, on_probed, &probed);
	assert_int_equal(probed.n, 0);
	world_run(w, 100);
	assert_int_equal(probed.n, 1);
	assert_int_equal(probed.status, 200);
	ua_drain(w->far.ua);
	ua_probe(w->near.ua, &far, on_probed, &probed);
	world_run(w, 100);
	assert_int_equal(probed.status, 503);
}

static void test_probe_without_answer(void **state)
{
	static const struct session_trunk nobody = { .host = "trunk.test",
						     .port = 5999 };
	static const struct session_trunk silent = { .host = "trunk.test",
						     .port = RAW_PORT };
	static const struct session_trunk no_host = { .host = "a b" };
	struct world *w = *state;
	struct probed probed = { 0 };

	assert_null(ua_probe(w->near.ua, &no_host, on_probed, &probed));
	ua_probe(w->near.ua, &nobody, on_probed, &probed);
	world_run(w, 10000);
	assert_int_equal(probed.n, 1);
	assert_int_equal(probed.status, 0);
	assert_true(probed.why[0]);
	raw_listen(w, w->tls);
	ua_probe(w->near.ua, &silent, on_probed, &probed);
	world_run(w, 50);
	raw_expect(&w->raw, "OPTIONS");
	world_run(w, 32000);
	assert_int_equal(probed.n, 2);
	assert_string_equal(probed.why, "no answer within 32 s");
}

static void test_probe_canceled(void **state)
{
	static const struct session_trunk far = { .host = "trunk.test",
						  .port = FAR_PORT };
	struct world *w = *state;
	struct probed probed = { 0 };
	struct ua_probe *probe = ua_probe(w->near.ua, &far, on_probed, &probed);

	ua_probe_cancel(&probe);
	assert_null(probe);
	world_run(w, 100);
	assert_int_equal(probed.n, 0);
}

static void test_port_is_taken(void **state)
{
	struct world *w = *state;
	struct ua_options options = { .transport = { .loop = w->loop,
						     .tls = w->tls,
						     .public_address = "" },
				      .domain = "x.test" };
	struct ua *ua;

	addr_parse(&options.transport.listen.bind, SLICE("127.0.0.1"),
		   NEAR_PORT);
	assert_int_equal(ua_open(&ua, &options, NULL, NULL), -EADDRINUSE);
	assert_null(ua);
}

static void test_request_to_a_probe(void **state)
{
	static const struct session_trunk trunk = { .host = "trunk.test",
						    .port = RAW_PORT };
	struct world *w = *state;
	struct probed probed = { 0 };
	struct sip_message *options;

	raw_listen(w, w->tls);
	ua_probe(w->near.ua, &trunk, on_probed, &probed);
	world_run(w, 50);
	options = sip_message_ref(raw_expect(&w->raw, "OPTIONS"));
	raw_learn(&w->raw, options);
	*strstr(w->raw.local, ";tag") = '\0'; /* the probe knows no tag */
	raw_request(&w->raw, "BYE", "", "");
	raw_expect(&w->raw, "481");
	raw_reply(&w->raw, options, 404, "", "");
	assert_int_equal(probed.status, 404);
	sip_message_unref(&options);
}

static void test_counts(void **state)
{
	struct world *w = *state;
	struct ua_stats stats;

	raw_make_call(w);
	ua_stats(w->near.ua, &stats);
	assert_int_equal(stats.sessions, 1);
	assert_int_equal(stats.dialogs, 1);
	assert_int_equal(stats.invites_in, 1);
	assert_int_equal(stats.invites_out, 0);
	assert_int_equal(stats.links, 1);
	assert_int_equal(stats.messages_in, 2);
	assert_int_equal(stats.messages_out, 2);
	assert_int_equal(stats.parse_errors, 0);
}

#define with_world(test)                                                       \
	cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_world(test_requests_outside_a_dialog),
		with_world(test_what_answers_carry),
		with_world(test_methods_inside_a_dialog),
		with_world(test_who_calls_whom),
		with_world(test_contact_is_sips_when_asked_so),
		with_world(test_from_host_must_be_one),
		with_world(test_max_forwards_zero),
		with_world(test_merged_invite),
		with_world(test_cap_on_sessions),
		with_world(test_drain),
		with_world(test_probe),
		with_world(test_probe_without_answer),
		with_world(test_probe_canceled),
		with_world(test_port_is_taken),
		with_world(test_request_to_a_probe),
		with_world(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
