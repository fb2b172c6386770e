/* SPDX-License-Identifier: MIT */
/* sip/replaces: the header's value, and INVITE with Replaces (RFC 3891, 3): the
 * session is found in every state it may be in and refused as the RFC has it;
 * Replaces out of place is a 400; the INVITE of ours carries it. */
#include "fixture_ua.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "fixture_text.h"
#include "sip/header.h"
#include "sip/replaces.h"

static void test_values(void **state)
{
	static const struct {
		const char *text, *call_id, *to_tag, *from_tag;
		bool is_early_only;
	} rows[] = {
		{ "98732@sip.example.com;from-tag=r33th4x0r;to-tag=ff87ff",
		  "98732@sip.example.com", "ff87ff", "r33th4x0r", false },
		{ " 12 ; To-Tag = 1 ;FROM-TAG=2;early-only", "12", "1", "2",
		  true },
		{ "a\"<b>@[::1];to-tag=0;x=\"y;z\";from-tag=0", "a\"<b>@[::1]",
		  "0", "0", false },
	};
	struct replaces replaces;
	struct fixture_text text;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct slice value =
			fixture_text_open(&text, slice_of(rows[i].text));

		assert_int_equal(replaces_parse(&replaces, value), 0);
		assert_slice(replaces.call_id, rows[i].call_id);
		assert_slice(replaces.to_tag, rows[i].to_tag);
		assert_slice(replaces.from_tag, rows[i].from_tag);
		assert_true(replaces.is_early_only == rows[i].is_early_only);
		fixture_text_close(&text);
	}
}

static void test_values_refused(void **state)
{
	static const char *const rows[] = {
		"",
		"a",
		";to-tag=1;from-tag=2",
		"a;to-tag=1",
		"a;from-tag=1",
		"a;to-tag;from-tag=1",
		"a;to-tag=;from-tag=1",
		"a;to-tag=1;from-tag=2;to-tag=1",
		"a;to-tag=1;from-tag=2;from-tag=3",
		"a;to-tag=1;from-tag=2, b;to-tag=1;from-tag=2",
		"a b;to-tag=1;from-tag=2",
		"a,b;to-tag=1;from-tag=2",
		"a;to-tag=1;from-tag=\"2\r\n\"",
		"a;to-tag=1;from-tag=2;x=\"\r\nVia: y\"",
		"a;to-tag=1;from-tag=2;x=\"\xc0\x8d\"",
		"a\n;to-tag=1;from-tag=2",
		"a;to-tag=1;from-tag=2;\"",
	};
	struct replaces replaces;
	struct fixture_text text;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct slice value =
			fixture_text_open(&text, slice_of(rows[i]));

		if (replaces_parse(&replaces, value) != -EINVAL)
			fail_msg("accepted: %s", rows[i]);
		fixture_text_close(&text);
	}
}

/* ---- whom it names ---- */

/* "Replaces: ..." that names the dialog of the last message. */
static void name_dialog(char *out, size_t size, const struct raw *raw,
			const char *params)
{
	const char *to = strstr(raw->remote, ";tag=");
	const char *from = strstr(raw->local, ";tag=");

	snprintf(out, size, "Replaces: %s;to-tag=%s;from-tag=%s%s\r\n",
		 raw->call_id, to ? to + 5 : "0", from ? from + 5 : "0",
		 params);
}

/* A new call of the same peer over the same link. */
static void call_anew(struct world *w, const char *headers)
{
	struct raw *raw = &w->raw;

	snprintf(raw->call_id, sizeof(raw->call_id), "call-%u", raw->branches);
	snprintf(raw->local, sizeof(raw->local),
		 "<sip:+15550166@127.0.0.1>;tag=new");
	snprintf(raw->remote, sizeof(raw->remote), "<sip:+15550100@near.test>");
	snprintf(raw->target, sizeof(raw->target), "sip:+15550100@near.test");
	raw_request(raw, "INVITE", headers, "offer");
}

static void test_session_that_is_up(void **state)
{
	struct world *w = *state;
	char headers[512];

	raw_make_call(w);
	name_dialog(headers, sizeof(headers), &w->raw, "");
	call_anew(w, headers);
	raw_expect(&w->raw, "100");
	raw_expect(&w->raw, "BYE"); /* the fixture closes the old one */
	raw_learn(&w->raw, raw_expect(&w->raw, "200"));
	raw_request(&w->raw, "ACK", "", "");
	expect_log(&w->near, "invite +15550100 +15550166   [offer];"
			     "replaces ours;answer [];");
}

static void test_required(void **state)
{
	struct world *w = *state;
	char headers[600];

	raw_take_call(w);
	name_dialog(headers, sizeof(headers), &w->raw, "");
	strcat(headers, "Require: replaces\r\n");
	w->near.invite_status = 403; /* the owner says who may */
	call_anew(w, headers);
	raw_expect(&w->raw, "100");
	raw_expect(&w->raw, "403");
	expect_log(&w->near, "invite +15550100 +15550166   [offer];"
			     "replaces ours;");
}

static void test_nobody_of_that_name(void **state)
{
	static const struct {
		const char *headers, *answer;
	} rows[] = {
		{ "Replaces: nobody;to-tag=1;from-tag=2\r\n", "481" },
		{ "Replaces: raw-call@127.0.0.1;to-tag=1;from-tag=raw\r\n",
		  "481" },
		{ "Replaces: x\r\n", "400" },
		{ "Replaces: a;to-tag=1;from-tag=2\r\n"
		  "Replaces: b;to-tag=1;from-tag=2\r\n",
		  "400" },
	};
	struct world *w = *state;

	raw_make_call(w);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		call_anew(w, rows[i].headers);
		raw_expect(&w->raw, rows[i].answer);
		raw_expect_none(&w->raw);
	}
	expect_log(&w->near, "");
}

static void test_early_only(void **state)
{
	struct world *w = *state;
	char headers[512];

	raw_make_call(w);
	name_dialog(headers, sizeof(headers), &w->raw, ";early-only");
	call_anew(w, headers);
	raw_expect(&w->raw, "486");
	expect_log(&w->near, "");
}

/* Early, and the peer initiated it: not for others to take. */
static void test_early_incoming(void **state)
{
	struct world *w = *state;
	char headers[512];

	raw_dial(w);
	raw_request(&w->raw, "INVITE", "", "offer");
	raw_expect(&w->raw, "100");
	session_ring(w->near.session);
	world_run(w, 20);
	raw_learn(&w->raw, raw_expect(&w->raw, "180"));
	name_dialog(headers, sizeof(headers), &w->raw, "");
	buffer_clear(&w->near.log);
	call_anew(w, headers);
	raw_expect(&w->raw, "481");
	expect_log(&w->near, "");
}

/* Early, and ours: the new call takes it over, and it is canceled. */
static void test_early_outgoing(void **state)
{
	struct world *w = *state;
	struct sip_message *invite;
	char headers[512];

	raw_listen(w, w->tls);
	side_call(w, RAW_PORT, &(struct session_call){ 0 });
	world_run(w, 50);
	invite = sip_message_ref(raw_expect(&w->raw, "INVITE"));
	raw_learn(&w->raw, invite);
	raw_reply(&w->raw, invite, 180, "", "");
	name_dialog(headers, sizeof(headers), &w->raw, ";early-only");
	buffer_clear(&w->near.log);
	call_anew(w, headers);
	raw_expect(&w->raw, "100");
	raw_expect(&w->raw, "CANCEL");
	expect_log(&w->near, "invite +15550100 +15550166   [offer];"
			     "replaces ours;");
	session_close(&w->near.session);
	world_run(w, 20);
	raw_expect(&w->raw, "480");
	sip_message_unref(&invite);
}

static void test_ended(void **state)
{
	struct world *w = *state;
	char headers[512];

	raw_make_call(w);
	name_dialog(headers, sizeof(headers), &w->raw, "");
	session_hangup(w->near.session, NULL);
	world_run(w, 20);
	raw_expect(&w->raw, "BYE");
	call_anew(w, headers);
	raw_expect(&w->raw, "603");
	expect_log(&w->near, "end hangup 0;");
}

/* Given up by its owner and not over yet: nobody's to take. */
static void test_canceled(void **state)
{
	struct world *w = *state;
	struct sip_message *invite;
	char headers[512];

	raw_listen(w, w->tls);
	side_call(w, RAW_PORT, &(struct session_call){ 0 });
	world_run(w, 50);
	invite = sip_message_ref(raw_expect(&w->raw, "INVITE"));
	raw_learn(&w->raw, invite);
	raw_reply(&w->raw, invite, 180, "", "");
	name_dialog(headers, sizeof(headers), &w->raw, "");
	session_close(&w->near.session);
	world_run(w, 20);
	raw_expect(&w->raw, "CANCEL");
	call_anew(w, headers);
	raw_expect(&w->raw, "603");
	sip_message_unref(&invite);
}

/* In an INVITE alone. */
static void test_out_of_place(void **state)
{
	static const char header[] = "Replaces: a;to-tag=1;from-tag=2\r\n";
	struct world *w = *state;

	raw_dial(w);
	raw_request(&w->raw, "OPTIONS", header, "");
	raw_expect(&w->raw, "400");
	raw_request(&w->raw, "BYE", header, "");
	raw_expect(&w->raw, "400");
	raw_make_call(w);
	raw_request(&w->raw, "UPDATE", header, "");
	raw_expect(&w->raw, "400");
	raw_request(&w->raw, "REFER", header, "");
	raw_expect(&w->raw, "400");
	expect_log(&w->near, "");
}

static void test_our_invite_carries_it(void **state)
{
	const struct session_call call = {
		.replaces = "a@b;to-tag=1;from-tag=2",
		.referred_by = "<sip:ann@b.test>",
	};
	struct world *w = *state;
	const struct sip_message *invite;

	raw_listen(w, w->tls);
	assert_int_equal(side_call(w, RAW_PORT, &call), 0);
	world_run(w, 50);
	invite = raw_expect(&w->raw, "INVITE");
	assert_slice(message_value(invite, "Replaces"), call.replaces);
	assert_slice(message_value(invite, "Referred-By"), call.referred_by);
	assert_true(sip_message_has_token(invite, SIP_H_REQUIRE,
					  SLICE("replaces")));
	session_close(&w->near.session);
	world_run(w, 40 * 1000);
}

#define with_world(test)                                                       \
	cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_values_refused),
		with_world(test_session_that_is_up),
		with_world(test_required),
		with_world(test_nobody_of_that_name),
		with_world(test_early_only),
		with_world(test_early_incoming),
		with_world(test_early_outgoing),
		with_world(test_ended),
		with_world(test_canceled),
		with_world(test_out_of_place),
		with_world(test_our_invite_carries_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
