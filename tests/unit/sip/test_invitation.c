/* SPDX-License-Identifier: MIT */
/* sip/invitation, sip/fork: our INVITE until nothing more can come of it. Rows:
 * INVITE out (100/18x, forks), transactions (CANCEL before and after the final
 * answer), dialogs (several from one INVITE). RFC 3261, 9, 12.1, 13.2; RFC
 * 3311, 5.2 in early dialogs; CVE-2021-26906 (second 183), CVE-2022-23608
 * (forked dialogs). */
#include "fixture_ua.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fixture_text.h"

#define CONTACT "Contact: <sip:raw@127.0.0.1:5065;transport=tls>\r\n"

/* The caller unrefs. */
static struct sip_message *start_call(struct world *w)
{
	raw_listen(w, w->tls);
	side_call(w, RAW_PORT, &(struct session_call){ 0 });
	world_run(w, 50);
	raw_expect(&w->raw, "INVITE");
	raw_learn(&w->raw, w->raw.message);
	return sip_message_ref(w->raw.message);
}

/* An answer of the branch with this tag; its Contact's user is the tag. */
static void fork_reply(struct world *w, const struct sip_message *invite,
		       const char *status, const char *tag)
{
	char text[1200];
	struct slice via = message_value(invite, "Via");
	struct slice from = message_value(invite, "From");

	snprintf(text, sizeof(text),
		 "SIP/2.0 %s\r\nVia: %.*s\r\nFrom: %.*s\r\n"
		 "To: <sip:x@trunk.test>;tag=%s\r\nCall-ID: %.*s\r\n"
		 "CSeq: 1 INVITE\r\nContact: <sip:%s@127.0.0.1:5065>\r\n"
		 "Content-Type: application/sdp\r\n"
		 "Content-Length: 3\r\n\r\nsdp",
		 status, (int)via.len, via.ptr, (int)from.len, from.ptr, tag,
		 (int)invite->common.call_id.len, invite->common.call_id.ptr,
		 tag);
	raw_write(&w->raw, slice_of(text));
}

/* Speaks for the branch with this tag from now on. */
static void fork_speak(struct world *w, const char *tag)
{
	snprintf(w->raw.local, sizeof(w->raw.local),
		 "<sip:+15550100@trunk.test:5065>;tag=%s", tag);
}

/* ---- provisional answers ---- */

static void test_provisional_answers_in_any_number(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = start_call(w);
	char tag[20];

	for (int i = 0; i < 30; i++)
		raw_reply(&w->raw, invite, 183, CONTACT, i % 2 ? "sdp" : "");
	for (int i = 0; i < 30; i++) { /* more dialogs than we keep */
		snprintf(tag, sizeof(tag), "t%d", i);
		fork_reply(w, invite, "183 Progress", tag);
		fork_reply(w, invite, "183 Progress", tag);
	}
	buffer_clear(&w->near.log);
	fork_reply(w, invite, "200 OK", "t3"); /* one that was dropped */
	assert_slice(raw_expect(&w->raw, "ACK")->start.target,
		     "sip:t3@127.0.0.1:5065");
	fork_reply(w, invite, "183 Progress", "t3"); /* late */
	fork_reply(w, invite, "183 Progress", "t4");
	fork_reply(w, invite, "486 Busy", "t5");
	raw_expect_none(&w->raw);
	expect_log(&w->near, "answer [sdp];");
	sip_message_unref(&invite);
}

static void test_trying_makes_no_dialog(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = start_call(w);

	fork_reply(w, invite, "100 Trying", "one"); /* 12.1: 101 to 199 */
	expect_log(&w->near, "");
	fork_speak(w, "one");
	raw_request(&w->raw, "OPTIONS", "", "");
	raw_expect(&w->raw, "481");
	fork_reply(w, invite, "183 Progress", "one");
	raw_request(&w->raw, "OPTIONS", "", "");
	raw_expect(&w->raw, "200");
	expect_log(&w->near, "progress 183 [sdp];");
	sip_message_unref(&invite);
}

/* ---- forks ---- */

static void test_each_late_success_gets_ack_and_bye(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = start_call(w);
	char tag[20];

	fork_reply(w, invite, "200 OK", "first");
	raw_expect(&w->raw, "ACK");
	for (int i = 0; i < 7; i++) {
		snprintf(tag, sizeof(tag), "t%d", i);
		fork_reply(w, invite, "200 OK", tag);
		assert_slice(raw_expect(&w->raw, "ACK")->common.to.tag, tag);
		assert_slice(raw_expect(&w->raw, "BYE")->common.to.tag, tag);
		if (i % 2) /* others are never answered */
			raw_reply(&w->raw, w->raw.message, 200, "", "");
	}
	for (int i = 0; i < 20; i++) { /* there is an end to it */
		snprintf(tag, sizeof(tag), "u%d", i);
		fork_reply(w, invite, "200 OK", tag);
		raw_expect_none(&w->raw);
	}
	expect_log(&w->near, "answer [sdp];");
	sip_message_unref(&invite);
}

static void test_fork_answers_after_the_session_is_closed(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = start_call(w);

	fork_reply(w, invite, "180 Ringing", "one");
	fork_reply(w, invite, "200 OK", "two");
	raw_expect(&w->raw, "ACK");
	session_close(&w->near.session);
	world_run(w, 10);
	assert_slice(raw_expect(&w->raw, "BYE")->common.to.tag, "two");
	raw_reply(&w->raw, w->raw.message, 200, "", "");
	fork_reply(w, invite, "200 OK", "one");
	raw_expect(&w->raw, "ACK");
	assert_slice(raw_expect(&w->raw, "BYE")->common.to.tag, "one");
	sip_message_unref(&invite);
}

static void test_fork_without_sdp_ends_the_call(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = start_call(w);

	raw_reply(&w->raw, invite, 200, CONTACT, "");
	raw_expect(&w->raw, "ACK");
	raw_expect(&w->raw, "BYE");
	expect_log(&w->near, "end protocol 200;");
	fork_reply(w, invite, "200 OK", "two"); /* too late for it */
	raw_expect(&w->raw, "ACK");
	raw_expect(&w->raw, "BYE");
	sip_message_unref(&invite);
}

/* ---- CANCEL ---- */

static struct sip_message *start_cancel(struct world *w)
{
	struct sip_message *invite = start_call(w);

	raw_reply(&w->raw, invite, 180, "", "");
	buffer_clear(&w->near.log);
	session_hangup(w->near.session, NULL);
	world_run(w, 0);
	raw_expect(&w->raw, "CANCEL");
	return invite;
}

static void test_cancel_goes_once(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = start_call(w);

	session_hangup(w->near.session, NULL); /* no provisional answer yet */
	session_hangup(w->near.session, NULL);
	world_run(w, 0);
	raw_expect_none(&w->raw);
	for (int i = 0; i < 3; i++)
		raw_reply(&w->raw, invite, 183, CONTACT, "sdp");
	raw_expect(&w->raw, "CANCEL");
	session_hangup(w->near.session, NULL);
	world_run(w, 0);
	raw_expect_none(&w->raw);
	expect_log(&w->near, "");
	sip_message_unref(&invite);
}

static void test_cancel_refused_then_answered(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = start_cancel(w);

	raw_reply(&w->raw, w->raw.message, 481, "", "");
	raw_reply(&w->raw, invite, 200, CONTACT, "sdp");
	raw_expect(&w->raw, "ACK");
	raw_reply(&w->raw, raw_expect(&w->raw, "BYE"), 200, "", "");
	raw_reply(&w->raw, invite, 200, CONTACT, "sdp");
	raw_expect(&w->raw, "ACK"); /* again, and no second BYE */
	raw_expect_none(&w->raw);
	expect_log(&w->near, "end canceled 0;");
	sip_message_unref(&invite);
}

static void test_cancel_crosses_a_refusal(void **state)
{
	static const int statuses[] = { 302, 401, 422, 486, 487, 600 };

	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		char expected[40];
		struct sip_message *invite;
		struct world *w;

		world_setup(state);
		w = *state;
		invite = start_cancel(w);
		raw_reply(&w->raw, invite, statuses[i],
			  "Contact: <sip:x@trunk.test:5065>\r\n"
			  "Min-SE: 2000\r\n",
			  "");
		raw_expect(&w->raw, "ACK");
		raw_expect_none(&w->raw); /* no other try */
		snprintf(expected, sizeof(expected), "end canceled %d;",
			 statuses[i]);
		expect_log(&w->near, expected);
		sip_message_unref(&invite);
		world_teardown(state);
	}
}

static void test_cancel_crosses_forked_answers(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = start_cancel(w);
	static const char *const tags[] = { "one", "two", "three" };

	for (int i = 0; i < 3; i++) {
		fork_reply(w, invite, "200 OK", tags[i]);
		assert_slice(raw_expect(&w->raw, "ACK")->common.to.tag,
			     tags[i]);
		assert_slice(raw_expect(&w->raw, "BYE")->common.to.tag,
			     tags[i]);
	}
	expect_log(&w->near, "end canceled 0;");
	sip_message_unref(&invite);
}

static void test_cancel_and_the_link_goes(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = start_cancel(w);

	raw_cut(&w->raw);
	world_run(w, 20);
	expect_log(&w->near, "end canceled 0;");
	sip_message_unref(&invite);
}

/* ---- UPDATE before the answer ---- */

static void test_update_in_an_early_dialog(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = start_call(w);
	const struct sip_message *answer;

	fork_reply(w, invite, "183 Progress", "one");
	fork_speak(w, "one");
	raw_request(&w->raw, "UPDATE", "", "");
	answer = raw_expect(&w->raw, "200");
	assert_non_null(message_value(answer, "Contact").ptr);
	assert_true(
		sip_message_has_token(answer, SIP_H_ALLOW, SLICE("UPDATE")));
	raw_request(&w->raw, "UPDATE", "", "offer"); /* ours is open */
	raw_expect(&w->raw, "491");
	raw_request(&w->raw, "INVITE", "", "offer");
	raw_expect(&w->raw, "491");
	raw_request(&w->raw, "BYE", "", ""); /* not theirs to send */
	raw_expect(&w->raw, "481");
	expect_log(&w->near, "progress 183 [sdp];");
	fork_reply(w, invite, "200 OK", "one"); /* all that changed nothing */
	raw_expect(&w->raw, "ACK");
	expect_log(&w->near, "answer [sdp];");
	w->raw.cseq = 1;
	raw_request(&w->raw, "UPDATE", "", ""); /* CSeq counts from early on */
	raw_expect(&w->raw, "500");
	sip_message_unref(&invite);
}

#define with_world(test)                                                       \
	cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_world(test_provisional_answers_in_any_number),
		with_world(test_trying_makes_no_dialog),
		with_world(test_each_late_success_gets_ack_and_bye),
		with_world(test_fork_answers_after_the_session_is_closed),
		with_world(test_fork_without_sdp_ends_the_call),
		with_world(test_cancel_goes_once),
		with_world(test_cancel_refused_then_answered),
		cmocka_unit_test(test_cancel_crosses_a_refusal),
		with_world(test_cancel_crosses_forked_answers),
		with_world(test_cancel_and_the_link_goes),
		with_world(test_update_in_an_early_dialog),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
