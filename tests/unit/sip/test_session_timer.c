/* SPDX-License-Identifier: MIT */
/* sip/session_timer: RFC 4028 in both roles. Row: session timers. What INVITE,
 * UPDATE and their 2xx carry, 422 both ways, who refreshes, by UPDATE and by
 * re-INVITE with the SDP as it was, glare, expiry, and the end when a refresh
 * fails. */
#include "fixture_ua.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fixture_text.h"
#include "core/link.h"

enum { MINUTES = 60 * 1000, HALF_MS = 15 * MINUTES };

#define CONTACT "Contact: <sip:raw@127.0.0.1:5065;transport=tls>\r\n"
#define ALLOW	"Allow: INVITE, ACK, BYE, UPDATE\r\n"

static struct sip_message *start_call(struct world *w)
{
	if (!w->raw.listener)
		raw_listen(w, w->tls);
	side_call(w, RAW_PORT, &(struct session_call){ 0 });
	world_run(w, 50);
	return raw_expect(&w->raw, "INVITE");
}

/* Our call is up; its 2xx had these lines. */
static void take_call(struct world *w, const char *headers)
{
	struct sip_message *invite = start_call(w);
	char lines[300];

	raw_learn(&w->raw, invite);
	snprintf(lines, sizeof(lines), CONTACT "%s", headers);
	raw_reply(&w->raw, invite, 200, lines, "answer");
	raw_expect(&w->raw, "ACK");
	expect_log(&w->near, "answer [answer];");
}

/* Their call is up; its INVITE had these lines. The 2xx is left in raw. */
static struct sip_message *make_call(struct world *w, const char *headers)
{
	struct sip_message *answer;

	raw_dial(w);
	w->near.answer = "answer";
	raw_request(&w->raw, "INVITE", headers, "offer");
	raw_expect(&w->raw, "100");
	answer = sip_message_ref(raw_expect(&w->raw, "200"));
	raw_learn(&w->raw, answer);
	raw_request(&w->raw, "ACK", "", "");
	buffer_clear(&w->near.log);
	return answer;
}

static void expect_lines(const struct sip_message *message, const char *expires,
			 const char *require)
{
	const struct slice value = message_value(message, "Session-Expires");

	assert_slice(value, expires);
	assert_slice(message_value(message, "Require"), require);
}

/* After this time, and not before, a request of this kind comes. */
static struct sip_message *expect_at(struct world *w, uint64_t ms,
				     const char *method)
{
	world_run(w, ms - 100);
	raw_expect_none(&w->raw);
	world_run(w, 150);
	return raw_expect(&w->raw, method);
}

/* ---- what is asked and answered ---- */

static void test_invite_asks(void **state)
{
	struct world *w = *state;
	const struct sip_message *invite = start_call(w);

	assert_slice(message_value(invite, "Session-Expires"), "1800");
	assert_slice(message_value(invite, "Min-SE"), "90");
	assert_true(
		sip_message_has_token(invite, SIP_H_SUPPORTED, SLICE("timer")));
	assert_true(
		sip_message_has_token(invite, SIP_H_ALLOW, SLICE("UPDATE")));
}

static void test_answers_negotiate(void **state)
{
	/* RFC 4028, 9, table 2, and the interval. */
	static const struct {
		const char *asked, *expires, *require;
	} rows[] = {
		{ "", "1800;refresher=uas", "" },
		{ "Supported: timer\r\n", "1800;refresher=uas", "timer" },
		{ "Session-Expires: 600\r\n", "600;refresher=uas", "" },
		{ "Session-Expires: 600;refresher=uac\r\n", "600;refresher=uas",
		  "" },
		{ "k: timer\r\nx: 600\r\n", "600;refresher=uas", "timer" },
		{ "Supported: 100rel, timer\r\nSession-Expires: 600 ; "
		  "refresher=UAC\r\n",
		  "600;refresher=uac", "timer" },
		{ "Supported: timer\r\nSession-Expires: 90;a=b;refresher=uas"
		  "\r\n",
		  "90;refresher=uas", "timer" },
		{ "Supported: timer\r\nSession-Expires: 7200\r\n",
		  "1800;refresher=uas", "timer" },
		{ "Supported: timer\r\nSession-Expires: 7200\r\n"
		  "Min-SE: 3600\r\n",
		  "3600;refresher=uas", "timer" },
		{ "Supported: timer\r\nSession-Expires: 99999999999999\r\n",
		  "1800;refresher=uas", "timer" },
		{ "Session-Expires: 30\r\n", "90;refresher=uas", "" },
		{ "Min-SE: 2400\r\nSupported: timer\r\n", "2400;refresher=uas",
		  "timer" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sip_message *answer;

		world_setup(state);
		answer = make_call(*state, rows[i].asked);
		expect_lines(answer, rows[i].expires, rows[i].require);
		sip_message_unref(&answer);
		world_teardown(state);
	}
}

static void test_too_small_is_refused(void **state)
{
	static const struct {
		const char *asked, *answer;
	} rows[] = {
		{ "Supported: timer\r\nSession-Expires: 89\r\n", "422" },
		{ "Supported: timer\r\nSession-Expires: 0\r\n", "422" },
		{ "Supported: timer\r\nSession-Expires: soon\r\n", "400" },
		{ "Supported: timer\r\nSession-Expires: -1\r\n", "400" },
		{ "Supported: timer\r\nSession-Expires:\r\n", "400" },
		{ "Supported: timer\r\nMin-SE: x\r\n", "400" },
	};
	static const char *const methods[] = { "INVITE", "UPDATE" };
	struct world *w = *state;

	sip_message_unref(&(struct sip_message *){ make_call(w, "") });
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (int m = 0; m < 2; m++) {
			raw_request(&w->raw, methods[m], rows[i].asked, "x");
			raw_expect(&w->raw, rows[i].answer);
			if (!strcmp(rows[i].answer, "422"))
				assert_slice(
					message_value(w->raw.message, "Min-SE"),
					"90");
		}
	}
	snprintf(w->raw.call_id, sizeof(w->raw.call_id), "another");
	snprintf(w->raw.remote, sizeof(w->raw.remote), "<sip:1@near.test>");
	raw_request(&w->raw, "INVITE", rows[0].asked, "offer");
	assert_slice(message_value(raw_expect(&w->raw, "422"), "Min-SE"), "90");
	expect_log(&w->near, "");
}

static void test_update_is_refused_alike(void **state)
{
	struct world *w = *state;

	sip_message_unref(&(struct sip_message *){ make_call(w, "") });
	raw_request(&w->raw, "UPDATE",
		    "Supported: timer\r\nSession-Expires: 10\r\n", "");
	assert_slice(message_value(raw_expect(&w->raw, "422"), "Min-SE"), "90");
	raw_request(&w->raw, "UPDATE",
		    "Supported: timer\r\nSession-Expires: 100;refresher=uac"
		    "\r\n",
		    "");
	expect_lines(raw_expect(&w->raw, "200"), "100;refresher=uac", "timer");
}

static void test_refused_invite_goes_again(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = sip_message_ref(start_call(w));
	struct sip_message *again;

	raw_reply(&w->raw, invite, 422, "Min-SE: 3600\r\n", "");
	raw_expect(&w->raw, "ACK");
	again = raw_expect(&w->raw, "INVITE");
	assert_slice(message_value(again, "Session-Expires"), "3600");
	assert_slice(message_value(again, "Min-SE"), "3600");
	assert_int_equal(again->common.cseq, invite->common.cseq + 1);
	assert_true(slice_eq(again->common.call_id, invite->common.call_id));
	assert_true(slice_eq(again->common.from.tag, invite->common.from.tag));
	assert_int_equal(again->common.to.tag.len, 0);
	assert_slice(again->body, "offer");
	raw_reply(&w->raw, again, 422, "Min-SE: 4000\r\n", "");
	raw_expect(&w->raw, "ACK");
	again = raw_expect(&w->raw, "INVITE");
	raw_reply(&w->raw, again, 200,
		  CONTACT "Session-Expires: 4000;refresher=uac\r\n" ALLOW,
		  "answer");
	raw_expect(&w->raw, "ACK");
	expect_log(&w->near, "answer [answer];");
	again = expect_at(w, 2000 * 1000, "UPDATE");
	assert_slice(message_value(again, "Session-Expires"),
		     "4000;refresher=uac");
	assert_slice(message_value(again, "Min-SE"), "4000");
	sip_message_unref(&invite);
}

static void test_refused_invite_is_limited(void **state)
{
	static const char *const answers[] = { "Min-SE: 2000\r\n",
					       "Min-SE: 3000\r\n",
					       "Min-SE: 4000\r\n" };
	static const char *const senseless[] = { "", "Min-SE: 90\r\n",
						 "Min-SE: x\r\n" };
	struct world *w = *state;
	struct sip_message *invite = start_call(w);

	for (int i = 0; i < 3; i++) {
		if (i)
			invite = raw_expect(&w->raw, "INVITE");
		raw_reply(&w->raw, invite, 422, answers[i], "");
		raw_expect(&w->raw, "ACK");
	}
	raw_expect_none(&w->raw);
	expect_log(&w->near, "end rejected 422 remote;");
	for (int i = 0; i < 3; i++) {
		session_close(&w->near.session);
		raw_reply(&w->raw, start_call(w), 422, senseless[i], "");
		raw_expect(&w->raw, "ACK");
		raw_expect_none(&w->raw);
		expect_log(&w->near, "end rejected 422 remote;");
	}
}

/* ---- we refresh ---- */

static void test_refresh_by_update(void **state)
{
	struct world *w = *state;
	const struct sip_message *update;

	take_call(w, "Session-Expires: 1800;refresher=uac\r\n" ALLOW);
	for (int i = 0; i < 3; i++) {
		update = expect_at(w, HALF_MS, "UPDATE");
		assert_slice(message_value(update, "Session-Expires"),
			     "1800;refresher=uac");
		assert_slice(update->body, "");
		assert_non_null(message_value(update, "Contact").ptr);
		raw_reply(&w->raw, update, 200,
			  CONTACT "Session-Expires: 1800;refresher=uac\r\n",
			  "");
	}
	expect_log(&w->near, "");
}

static void test_refresh_by_invite(void **state)
{
	struct world *w = *state;
	struct sip_message *invite;

	take_call(w, "Session-Expires: 200;refresher=uac\r\n");
	for (int i = 0; i < 3; i++) {
		invite = sip_message_ref(expect_at(w, 100 * 1000, "INVITE"));
		assert_slice(invite->body, "offer"); /* the same version */
		raw_reply(&w->raw, invite, 200,
			  CONTACT "Session-Expires: 200;refresher=uac\r\n",
			  "answer");
		raw_expect(&w->raw, "ACK");
		raw_reply(&w->raw, invite, 200, CONTACT, "answer");
		raw_expect(&w->raw, "ACK"); /* again */
		sip_message_unref(&invite);
	}
	expect_log(&w->near, ""); /* the owner has nothing to do with it */
}

static void test_refresh_brings_another_answer(void **state)
{
	struct world *w = *state;

	take_call(w, "Session-Expires: 200;refresher=uac\r\n");
	raw_reply(&w->raw, expect_at(w, 100 * 1000, "INVITE"), 200,
		  CONTACT "Session-Expires: 200;refresher=uac\r\n", "moved");
	raw_expect(&w->raw, "ACK");
	expect_log(&w->near, "answer [moved];");
	raw_reply(&w->raw, expect_at(w, 100 * 1000, "INVITE"), 200,
		  CONTACT "Session-Expires: 200;refresher=uac\r\n", "moved");
	raw_expect(&w->raw, "ACK");
	expect_log(&w->near, "");
}

/* What was agreed last is what goes out again, whoever offered it. */
static void test_refresh_repeats_the_last_sdp(void **state)
{
	struct world *w = *state;

	take_call(w, "");
	session_offer(w->near.session, SLICE("refused"));
	world_run(w, 10);
	raw_reply(&w->raw, raw_expect(&w->raw, "INVITE"), 488, "", "");
	raw_expect(&w->raw, "ACK");
	assert_slice(expect_at(w, HALF_MS, "INVITE")->body, "offer");
	raw_reply(&w->raw, w->raw.message, 200, CONTACT, "answer");
	raw_expect(&w->raw, "ACK");
	session_offer(w->near.session, SLICE("hold"));
	world_run(w, 10);
	raw_reply(&w->raw, raw_expect(&w->raw, "INVITE"), 200, CONTACT, "held");
	raw_expect(&w->raw, "ACK");
	assert_slice(expect_at(w, HALF_MS, "INVITE")->body, "hold");
	raw_reply(&w->raw, w->raw.message, 200, CONTACT, "held");
	raw_expect(&w->raw, "ACK");
	raw_request(&w->raw, "INVITE", "", "theirs");
	session_answer(w->near.session, SLICE("ours"));
	world_run(w, 0);
	raw_expect(&w->raw, "200");
	raw_request(&w->raw, "ACK", "", "");
	assert_slice(expect_at(w, HALF_MS - 20, "INVITE")->body, "ours");
	raw_reply(&w->raw, w->raw.message, 200, CONTACT, "theirs");
	raw_expect(&w->raw, "ACK");
	expect_log(&w->near, "answer [];answer [held];offer [theirs];");
}

/* A peer without the extension: we refresh for our own sake. */
static void test_refresh_without_agreement(void **state)
{
	struct world *w = *state;

	take_call(w, "");
	for (int s = 0; s < 7200; s++) { /* the call goes on all the same */
		world_run(w, 1000);
		while (raw_take(&w->raw))
			if (w->raw.message->start.method == SIP_INVITE)
				raw_reply(&w->raw, w->raw.message, 500, "", "");
	}
	expect_log(&w->near, "");
	session_hangup(w->near.session, NULL);
	world_run(w, 0);
	raw_expect(&w->raw, "BYE");
}

static void test_refresh_of_an_incoming_call(void **state)
{
	struct world *w = *state;
	struct sip_message *answer =
		make_call(w, "Supported: timer\r\n" ALLOW
			     "Session-Expires: 300;refresher=uas\r\n");
	const struct sip_message *update = expect_at(w, 150 * 1000, "UPDATE");

	/* We are the client of this one. */
	assert_slice(message_value(update, "Session-Expires"),
		     "300;refresher=uac");
	raw_reply(&w->raw, update, 200,
		  CONTACT "Session-Expires: 300;refresher=uas\r\n", "");
	raw_expect_none(&w->raw); /* the peer took the role over */
	world_run(w, 267 * 1000);
	expect_log(&w->near, "");
	world_run(w, 1500);
	raw_expect(&w->raw, "BYE");
	expect_log(&w->near, "end timed out 0;");
	sip_message_unref(&answer);
}

static void test_refused_update_becomes_invite(void **state)
{
	static const int statuses[] = { 405, 501, 500, 488 };

	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		struct world *w;

		world_setup(state);
		w = *state;
		take_call(w, "Session-Expires: 200;refresher=uac\r\n" ALLOW);
		raw_reply(&w->raw, expect_at(w, 100 * 1000, "UPDATE"),
			  statuses[i], "", "");
		raw_reply(&w->raw, raw_expect(&w->raw, "INVITE"), 200,
			  CONTACT "Session-Expires: 200;refresher=uac\r\n",
			  "answer");
		raw_expect(&w->raw, "ACK");
		expect_log(&w->near, "");
		world_teardown(state);
	}
}

/* The INVITE that follows waits until the offers are through. */
static void test_refused_update_meets_offers(void **state)
{
	struct world *w = *state;
	struct sip_message *update, *invite;

	take_call(w, "Session-Expires: 200;refresher=uac\r\n" ALLOW);
	update = sip_message_ref(expect_at(w, 100 * 1000, "UPDATE"));
	session_offer(w->near.session, SLICE("hold"));
	world_run(w, 0);
	invite = sip_message_ref(raw_expect(&w->raw, "INVITE"));
	raw_reply(&w->raw, update, 405, "", "");
	world_run(w, 3000);
	raw_expect_none(&w->raw);
	raw_reply(&w->raw, invite, 488, "", "");
	raw_expect(&w->raw, "ACK");
	expect_log(&w->near, "answer [];");
	raw_request(&w->raw, "INVITE", "", "theirs");
	world_run(w, 3000);
	raw_expect_none(&w->raw);
	session_refuse(w->near.session, 488);
	world_run(w, 600);
	raw_expect(&w->raw, "488");
	assert_slice(raw_expect(&w->raw, "INVITE")->body, "offer");
	sip_message_unref(&update);
	sip_message_unref(&invite);
}

/* A lost link while the peer's offer waits. */
static void test_lost_update_meets_an_offer(void **state)
{
	struct world *w = *state;

	take_call(w, "Session-Expires: 200;refresher=uac\r\n" ALLOW);
	expect_at(w, 100 * 1000, "UPDATE");
	raw_request(&w->raw, "INVITE", "Allow: INVITE\r\n", "theirs");
	raw_cut(&w->raw);
	world_run(w, 1000);
	assert_slice(raw_expect(&w->raw, "INVITE")->body, "offer");
	raw_reply(&w->raw, w->raw.message, 200, CONTACT, "answer");
	raw_expect(&w->raw, "ACK");
	expect_log(&w->near, "offer [theirs];");
}

static void test_refresh_wants_more(void **state)
{
	struct world *w = *state;
	const struct sip_message *again;

	take_call(w, "Session-Expires: 200;refresher=uac\r\n" ALLOW);
	raw_reply(&w->raw, expect_at(w, 100 * 1000, "UPDATE"), 422,
		  "Min-SE: 300\r\n", "");
	again = raw_expect(&w->raw, "UPDATE");
	assert_slice(message_value(again, "Session-Expires"),
		     "300;refresher=uac");
	raw_reply(&w->raw, again, 200,
		  CONTACT "Session-Expires: 300;refresher=uac\r\n", "");
	expect_at(w, 150 * 1000, "UPDATE");
}

static void test_own_offer_wants_more(void **state)
{
	struct world *w = *state;
	const struct sip_message *invite;

	take_call(w, "Session-Expires: 200;refresher=uas\r\n");
	session_offer(w->near.session, SLICE("hold"));
	world_run(w, 10);
	invite = raw_expect(&w->raw, "INVITE");
	assert_slice(message_value(invite, "Session-Expires"),
		     "200;refresher=uas");
	raw_reply(&w->raw, invite, 422, "Min-SE: 500\r\n", "");
	raw_expect(&w->raw, "ACK");
	world_run(w, 10);
	invite = raw_expect(&w->raw, "INVITE");
	assert_slice(invite->body, "hold");
	assert_slice(message_value(invite, "Session-Expires"),
		     "500;refresher=uas");
	raw_reply(&w->raw, invite, 200,
		  CONTACT "Session-Expires: 500;refresher=uac\r\n", "held");
	raw_expect(&w->raw, "ACK");
	expect_log(&w->near, "answer [held];");
	expect_at(w, 250 * 1000, "INVITE"); /* it was a refresh, too */
}

static void test_refresh_glare(void **state)
{
	struct world *w = *state;

	take_call(w, "Session-Expires: 200;refresher=uac\r\n");
	raw_reply(&w->raw, expect_at(w, 100 * 1000, "INVITE"), 491, "", "");
	raw_expect(&w->raw, "ACK");
	world_run(w, 2000); /* the Call-ID is ours: 2.1 to 4 s */
	raw_expect_none(&w->raw);
	world_run(w, 2100);
	raw_reply(&w->raw, raw_expect(&w->raw, "INVITE"), 200,
		  CONTACT "Session-Expires: 200;refresher=uac\r\n", "answer");
	raw_expect(&w->raw, "ACK");
	expect_log(&w->near, "");
}

static void test_refresh_waits_for_an_offer(void **state)
{
	struct world *w = *state;

	take_call(w, "Session-Expires: 200;refresher=uac\r\n");
	world_run(w, 99 * 1000);
	raw_request(&w->raw, "INVITE", "", "theirs");
	world_run(w, 5000);
	raw_expect_none(&w->raw);
	session_refuse(w->near.session, 488);
	world_run(w, 0);
	raw_expect(&w->raw, "488");
	world_run(w, 600);
	raw_expect(&w->raw, "INVITE");
	assert_slice(w->raw.message->body, "offer");
}

static void test_offer_waits_for_a_refresh(void **state)
{
	struct world *w = *state;
	struct sip_message *invite;

	take_call(w, "Session-Expires: 200;refresher=uac\r\n");
	invite = sip_message_ref(expect_at(w, 100 * 1000, "INVITE"));
	assert_int_equal(session_offer(w->near.session, SLICE("hold")), 0);
	assert_int_equal(session_offer(w->near.session, SLICE("x")), -EAGAIN);
	world_run(w, 1200); /* it looks more than once */
	raw_request(&w->raw, "INVITE", "", "theirs");
	raw_expect(&w->raw, "491");
	raw_reply(&w->raw, invite, 200, CONTACT, "answer");
	raw_expect(&w->raw, "ACK");
	sip_message_unref(&invite);
	world_run(w, 600);
	raw_expect(&w->raw, "INVITE");
	assert_slice(w->raw.message->body, "hold");
	raw_reply(&w->raw, w->raw.message, 200, CONTACT, "held");
	raw_expect(&w->raw, "ACK");
	expect_log(&w->near, "answer [held];");
}

static void test_refresh_over_a_new_link(void **state)
{
	struct world *w = *state;

	take_call(w, "Session-Expires: 200;refresher=uac\r\n" ALLOW);
	raw_cut(&w->raw);
	expect_at(w, 100 * 1000, "UPDATE");
	raw_cut(&w->raw);
	world_run(w, 50);
	raw_reply(&w->raw, raw_expect(&w->raw, "UPDATE"), 200, CONTACT, "");
	assert_int_equal(w->raw.accepts, 3);
	expect_log(&w->near, "");
}

/* ---- the end ---- */

static void test_refresh_fails(void **state)
{
	static const struct {
		int status; /* 0: none at all */
		const char *log;
	} rows[] = {
		{ 481, "end lost 481;" },
		{ 408, "end lost 408;" },
		{ 0, "end timed out 0;" },
		{ 100, "end timed out 0;" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int by_update = 0; by_update < 2; by_update++) {
			struct world *w;

			world_setup(state);
			w = *state;
			take_call(w, by_update ? ALLOW : "");
			expect_at(w, HALF_MS, by_update ? "UPDATE" : "INVITE");
			if (rows[i].status)
				raw_reply(&w->raw, w->raw.message,
					  rows[i].status, "", "");
			world_run(w, 37 * 1000);
			if (rows[i].status > 100 && !by_update)
				raw_expect(&w->raw, "ACK");
			raw_expect(&w->raw, "BYE");
			expect_log(&w->near, rows[i].log);
			world_teardown(state);
		}
}

/* Agreed, and refused again and again: over before the proxies forget it. */
static void test_refresh_refused_to_the_end(void **state)
{
	struct world *w = *state;
	unsigned n = 0;

	take_call(w, "Session-Expires: 1800;refresher=uac\r\n");
	for (uint64_t s = 0; s < 1767; s++) {
		world_run(w, 1000);
		while (raw_take(&w->raw)) {
			if (w->raw.message->start.method != SIP_INVITE)
				continue;
			raw_reply(&w->raw, w->raw.message, 503, "", "");
			n++;
		}
	}
	expect_log(&w->near, "");
	assert_in_range(n, 3, 10); /* no storm */
	world_run(w, 2000);
	assert_slice(message_value(raw_expect(&w->raw, "BYE"), "Reason"),
		     "SIP;cause=408;text=\"Session expired\"");
	expect_log(&w->near, "end timed out 0;");
}

static void test_peer_does_not_refresh(void **state)
{
	/* RFC 4028, 10: min(32, a third) before the end. */
	static const struct {
		unsigned interval_s, end_s;
	} rows[] = { { 1800, 1768 }, { 96, 64 }, { 90, 60 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char line[60];
		struct world *w;

		world_setup(state);
		w = *state;
		snprintf(line, sizeof(line),
			 "Session-Expires: %u;refresher=uas\r\n",
			 rows[i].interval_s);
		take_call(w, line);
		expect_at(w, rows[i].end_s * 1000, "BYE");
		assert_slice(message_value(w->raw.message, "Reason"),
			     "SIP;cause=408;text=\"Session expired\"");
		expect_log(&w->near, "end timed out 0;");
		world_teardown(state);
	}
}

static void test_peer_refreshes(void **state)
{
	static const char asked[] =
		"Supported: timer\r\nSession-Expires: 120;refresher=uac\r\n";
	struct world *w = *state;
	struct sip_message *answer = make_call(w, asked);

	expect_lines(answer, "120;refresher=uac", "timer");
	sip_message_unref(&answer);
	for (int i = 0; i < 6; i++) {
		world_run(w, 60 * 1000);
		raw_request(&w->raw, "UPDATE", asked, "");
		expect_lines(raw_expect(&w->raw, "200"), "120;refresher=uac",
			     "timer");
		world_run(w, 60 * 1000);
		raw_request(&w->raw, "INVITE", asked, "offer");
		session_answer(w->near.session, SLICE("answer"));
		world_run(w, 0);
		expect_lines(raw_expect(&w->raw, "200"), "120;refresher=uac",
			     "timer");
		raw_request(&w->raw, "ACK", "", "");
	}
	buffer_clear(&w->near.log);
	expect_at(w, 87960, "BYE");
	expect_log(&w->near, "end timed out 0;");
}

/* One that is refused has refreshed nothing. */
static void test_refused_request_is_no_refresh(void **state)
{
	struct world *w = *state;

	take_call(w, "Session-Expires: 96;refresher=uas\r\n");
	world_run(w, 30 * 1000);
	raw_request(&w->raw, "INVITE", "", "bad");
	session_refuse(w->near.session, 488);
	world_run(w, 0);
	raw_expect(&w->raw, "488");
	expect_log(&w->near, "offer [bad];");
	expect_at(w, 33950, "BYE");
}

static void test_hangup_stops_it(void **state)
{
	struct world *w = *state;

	take_call(w, "Session-Expires: 96;refresher=uac\r\n" ALLOW);
	session_hangup(w->near.session, NULL);
	world_run(w, 0);
	raw_reply(&w->raw, raw_expect(&w->raw, "BYE"), 200, "", "");
	world_run(w, 100 * 1000);
	raw_expect_none(&w->raw);
	expect_log(&w->near, "end hangup 0;");
}

static void test_hangup_while_it_refreshes(void **state)
{
	struct world *w = *state;
	struct sip_message *update;

	take_call(w, "Session-Expires: 96;refresher=uac\r\n" ALLOW);
	update = sip_message_ref(expect_at(w, 48 * 1000, "UPDATE"));
	session_close(&w->near.session);
	world_run(w, 0);
	raw_expect(&w->raw, "BYE");
	raw_reply(&w->raw, update, 200, CONTACT, "");
	world_run(w, 60 * 1000);
	raw_expect_none(&w->raw);
	sip_message_unref(&update);
}

#define with_world(test)                                                       \
	cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_world(test_invite_asks),
		cmocka_unit_test(test_answers_negotiate),
		with_world(test_too_small_is_refused),
		with_world(test_update_is_refused_alike),
		with_world(test_refused_invite_goes_again),
		with_world(test_refused_invite_is_limited),
		with_world(test_refresh_by_update),
		with_world(test_refresh_by_invite),
		with_world(test_refresh_brings_another_answer),
		with_world(test_refresh_repeats_the_last_sdp),
		with_world(test_refresh_without_agreement),
		with_world(test_refresh_of_an_incoming_call),
		cmocka_unit_test(test_refused_update_becomes_invite),
		with_world(test_refused_update_meets_offers),
		with_world(test_lost_update_meets_an_offer),
		with_world(test_refresh_wants_more),
		with_world(test_own_offer_wants_more),
		with_world(test_refresh_glare),
		with_world(test_refresh_waits_for_an_offer),
		with_world(test_offer_waits_for_a_refresh),
		with_world(test_refresh_over_a_new_link),
		cmocka_unit_test(test_refresh_fails),
		with_world(test_refresh_refused_to_the_end),
		cmocka_unit_test(test_peer_does_not_refresh),
		with_world(test_peer_refreshes),
		with_world(test_refused_request_is_no_refresh),
		with_world(test_hangup_stops_it),
		with_world(test_hangup_while_it_refreshes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
