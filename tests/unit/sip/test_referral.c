/* SPDX-License-Identifier: MIT */
/* sip/referral: REFER in and out of a session (RFC 3515, 4488, 7614, 3892, 6665,
 * 5057). In: what is refused and how; 202, NOTIFYs one after the other, their
 * headers and body; expiry, refusal, end and close of the subscription. Out:
 * the request, its answers, NOTIFYs valid and not, silence, the session's
 * end. */
#include "fixture_ua.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "fixture_text.h"
#include "sip/header.h"

#define TO_BOB "Refer-To: <sip:+15550123@trunk.test>\r\n"

/* ---- the peer's REFER ---- */

static void test_what_is_refused(void **state)
{
	static const struct {
		const char *headers, *answer;
	} rows[] = {
		{ "", "400" },
		{ TO_BOB TO_BOB, "400" },
		{ "Refer-To: <sip:a@b.test>, <sip:c@b.test>\r\n", "400" },
		{ "Refer-To: sip:a@b.test, sip:c@b.test\r\n", "400" },
		{ "Refer-To:\r\n", "400" },
		{ "Refer-To: <http://b.test/>\r\n", "400" },
		{ "Refer-To: <mailto:a@b.test>\r\n", "400" },
		{ "Refer-To: <sip:>\r\n", "400" },
		{ "Refer-To: <sip:a@b..test>\r\n", "400" },
		{ "Refer-To: <sip:a@b.test\r\n", "400" },
		{ "Refer-To: <tel:>\r\n", "400" },
		{ "Refer-To: sip:a@b.test?Replaces=1\r\n", "400" },
		{ "Refer-To: <sip:a@b.test?Replaces=1>\r\n", "400" },
		{ "Refer-To: <sip:a@b.test?Replaces=a%3Bto-tag%3D1%3Bfrom-tag"
		  "%3D2%0D%0AVia:%20x>\r\n",
		  "400" },
		{ "Refer-To: <sip:a@b.test?Replaces=a%3Bto-tag%3D1%3Bfrom-tag"
		  "%3D2%00>\r\n",
		  "400" },
		{ "Refer-To: <sip:a@b.test?Replaces=a%3Bto-tag=1%3Bfrom-tag=2"
		  "&Replaces=b%3Bto-tag=1%3Bfrom-tag=2>\r\n",
		  "400" },
		{ "Refer-To: <sip:a@b.test;method=BYE>\r\n", "403" },
		{ TO_BOB "Referred-By: <sip:a@>\r\n", "400" },
		{ TO_BOB "Referred-By: <sip:a@b.test>\r\n"
			 "Referred-By: <sip:a@b.test>\r\n",
		  "400" },
		{ TO_BOB "Require: multiple-refer\r\n", "420" },
		{ TO_BOB "Require: explicitsub\r\n", "420" },
	};
	struct world *w = *state;

	raw_make_call(w);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		raw_request(&w->raw, "REFER", rows[i].headers, "");
		raw_expect(&w->raw, rows[i].answer);
		raw_expect_none(&w->raw);
	}
	expect_log(&w->near, "");
}

static void test_what_the_owner_sees(void **state)
{
	static const struct {
		const char *headers, *log;
	} rows[] = {
		{ TO_BOB "Referred-By: \"Ann\" <sip:ann@b.test>;cid=x\r\n",
		  "refer sip:+15550123@trunk.test +15550123 trunk.test:0 - "
		  "<sip:ann@b.test>;" },
		{ "r: \"Bob\" <sips:15550123@[2001:db8::1]:5071;x=y>\r\n"
		  "b: sip:ann@b.test\r\n",
		  "refer sips:15550123@[2001:db8::1]:5071;x=y +15550123 "
		  "2001:db8::1:5071 - <sip:ann@b.test>;" },
		{ "Refer-To: tel:+1-555-0123\r\n",
		  "refer tel:+1-555-0123 +15550123 :0 - -;" },
		{ "Refer-To: sip:b.test\r\n",
		  "refer sip:b.test  b.test:0 - -;" },
		{ "Refer-To: <sip:bob@b.test;method=INVITE?Subject=x&replaces="
		  "a%40b%3Bto-tag%3D1%3Bfrom-tag%3D2&Route=%3Csip:x%3E>\r\n",
		  "refer sip:bob@b.test;method=INVITE bob b.test:0 "
		  "a@b;to-tag=1;from-tag=2 -;" },
		{ TO_BOB "Refer-Sub: FALSE;x=y\r\n",
		  "refer sip:+15550123@trunk.test +15550123 trunk.test:0 - - "
		  "no notify;" },
		{ TO_BOB "Require: nosub\r\n",
		  "refer sip:+15550123@trunk.test +15550123 trunk.test:0 - - "
		  "no notify;" },
		{ TO_BOB "Refer-Sub: true\r\nRequire: norefersub\r\n",
		  "refer sip:+15550123@trunk.test +15550123 trunk.test:0 - "
		  "-;" },
	};
	struct world *w = *state;

	raw_make_call(w);
	w->near.refer_status = 603;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		raw_request(&w->raw, "REFER", rows[i].headers, "");
		raw_expect(&w->raw, "603");
		raw_expect_none(&w->raw);
		expect_log(&w->near, rows[i].log);
	}
}

/* A NOTIFY of ours, with this status line and state. */
static void expect_notify(struct raw *raw, const char *line, const char *event,
			  const char *subscription)
{
	const struct sip_message *notify = raw_expect(raw, "NOTIFY");
	char body[80];

	snprintf(body, sizeof(body), "SIP/2.0 %s\r\n", line);
	assert_slice(notify->body, body);
	assert_slice(message_value(notify, "Content-Type"),
		     "message/sipfrag;version=2.0");
	assert_slice(message_value(notify, "Event"), event);
	assert_slice(message_value(notify, "Subscription-State"), subscription);
	assert_non_null(message_value(notify, "Contact").ptr);
}

static void reply(struct raw *raw, int status)
{
	struct sip_message *request = sip_message_ref(raw->message);

	raw_reply(raw, request, status, "", "");
	sip_message_unref(&request);
}

/* It is answered; an empty log is left. */
static void take_refer(struct world *w)
{
	raw_request(&w->raw, "REFER", TO_BOB, "");
	raw_expect(&w->raw, "202");
	assert_non_null(message_value(w->raw.message, "Contact").ptr);
	buffer_clear(&w->near.log);
}

static void notify(struct world *w, int status)
{
	session_refer_notify(w->near.session, status);
	world_run(w, 20);
}

static void test_from_trying_to_the_end(void **state)
{
	struct world *w = *state;

	raw_make_call(w);
	take_refer(w);
	expect_notify(&w->raw, "100 Trying", "refer", "active;expires=180");
	reply(&w->raw, 200);
	world_run(w, 10000);
	notify(w, 180);
	expect_notify(&w->raw, "180 Ringing", "refer", "active;expires=169");
	reply(&w->raw, 200);
	notify(w, 180); /* no news */
	raw_expect_none(&w->raw);
	notify(w, 200);
	expect_notify(&w->raw, "200 OK", "refer",
		      "terminated;reason=noresource");
	reply(&w->raw, 200);
	notify(w, 486); /* too late */
	raw_expect_none(&w->raw);
	raw_request(&w->raw, "UPDATE", "", ""); /* the session goes on */
	raw_expect(&w->raw, "200");
	expect_log(&w->near, "");
}

static void test_one_notify_at_a_time(void **state)
{
	struct world *w = *state;
	struct sip_message *first;

	raw_make_call(w);
	take_refer(w);
	first = sip_message_ref(raw_expect(&w->raw, "NOTIFY"));
	notify(w, 180);
	notify(w, 183);
	notify(w, 486);
	raw_expect_none(&w->raw);
	raw_reply(&w->raw, first, 200, "", "");
	sip_message_unref(&first);
	expect_notify(&w->raw, "486 Busy Here", "refer",
		      "terminated;reason=noresource");
	reply(&w->raw, 200);
	raw_expect_none(&w->raw);
}

/* A request with a Contact of its own. */
static void request_from(struct raw *raw, const char *contact,
			 const char *method, const char *headers)
{
	struct buffer text;

	buffer_init(&text, 4096);
	buffer_printf(&text,
		      "%s %s SIP/2.0\r\n"
		      "Via: SIP/2.0/TLS 127.0.0.1;branch=z9hG4bKown%u\r\n"
		      "From: %s\r\nTo: %s\r\nCall-ID: %s\r\n"
		      "CSeq: %u %s\r\nContact: <%s>\r\n%s"
		      "Content-Length: 0\r\n\r\n",
		      method, raw->target, ++raw->branches, raw->local,
		      raw->remote, raw->call_id, ++raw->cseq, method, contact,
		      headers);
	raw_write(raw, buffer_slice(&text));
	buffer_reset(&text);
}

/* REFER and NOTIFY refresh the target (RFC 6665, 4.4.1). */
static void test_target_is_refreshed(void **state)
{
	struct world *w = *state;

	raw_make_call(w);
	request_from(&w->raw, "sip:new@trunk.test:5065", "REFER", TO_BOB);
	raw_expect(&w->raw, "202");
	assert_slice(raw_expect(&w->raw, "NOTIFY")->start.target,
		     "sip:new@trunk.test:5065");
	reply(&w->raw, 200);
	assert_int_equal(session_refer(w->near.session, "sip:a@b.test", NULL),
			 0);
	world_run(w, 20);
	raw_expect(&w->raw, "REFER");
	reply(&w->raw, 202);
	request_from(&w->raw, "sip:newer@trunk.test:5065", "NOTIFY",
		     "Event: refer\r\n");
	raw_expect(&w->raw, "200");
	notify(w, 200);
	assert_slice(raw_expect(&w->raw, "NOTIFY")->start.target,
		     "sip:newer@trunk.test:5065");
	reply(&w->raw, 200);
	buffer_clear(&w->near.log);
}

static void test_status_that_is_none(void **state)
{
	struct world *w = *state;

	raw_make_call(w);
	notify(w, 200); /* nobody asked */
	raw_expect_none(&w->raw);
	take_refer(w);
	raw_expect(&w->raw, "NOTIFY");
	reply(&w->raw, 200);
	notify(w, 0);
	expect_notify(&w->raw, "503 Service Unavailable", "refer",
		      "terminated;reason=noresource");
	reply(&w->raw, 200);
}

static void test_second_refer(void **state)
{
	struct world *w = *state;
	char event[40];

	raw_make_call(w);
	take_refer(w);
	raw_expect(&w->raw, "NOTIFY");
	reply(&w->raw, 200);
	raw_request(&w->raw, "REFER", TO_BOB, "");
	raw_expect(&w->raw, "491"); /* it can go to one place only */
	expect_log(&w->near, "");
	notify(w, 486);
	raw_expect(&w->raw, "NOTIFY");
	reply(&w->raw, 200);
	take_refer(w); /* now it may */
	snprintf(event, sizeof(event), "refer;id=%u", w->raw.cseq);
	expect_notify(&w->raw, "100 Trying", event, "active;expires=180");
	reply(&w->raw, 200);
	notify(w, 200);
	expect_notify(&w->raw, "200 OK", event, "terminated;reason=noresource");
	reply(&w->raw, 200);
}

static void test_without_a_subscription(void **state)
{
	struct world *w = *state;

	raw_make_call(w);
	for (int i = 0; i < 2; i++) { /* and so a second one finds none */
		raw_request(&w->raw, "REFER", TO_BOB "Refer-Sub: false\r\n",
			    "");
		assert_slice(
			message_value(raw_expect(&w->raw, "202"), "Refer-Sub"),
			"false");
		notify(w, 200);
		raw_expect_none(&w->raw);
	}
}

static void test_expiry(void **state)
{
	struct world *w = *state;

	raw_make_call(w);
	take_refer(w);
	raw_expect(&w->raw, "NOTIFY");
	reply(&w->raw, 200);
	notify(w, 180);
	raw_expect(&w->raw, "NOTIFY");
	reply(&w->raw, 200);
	world_run(w, 179 * 1000);
	raw_expect_none(&w->raw);
	world_run(w, 1000);
	expect_notify(&w->raw, "180 Ringing", "refer",
		      "terminated;reason=timeout");
	reply(&w->raw, 200);
	notify(w, 200);
	raw_expect_none(&w->raw);
}

static void test_notify_refused(void **state)
{
	static const int statuses[] = { 481, 489, 500, 603, 401 };
	struct world *w = *state;

	raw_make_call(w);
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		take_refer(w);
		raw_expect(&w->raw, "NOTIFY");
		notify(w, 180);
		reply(&w->raw, statuses[i]);
		notify(w, 200);
		raw_expect_none(&w->raw);
	}
	take_refer(w);
	raw_expect(&w->raw, "NOTIFY");
	world_run(w, 32 * 1000); /* nobody answers */
	notify(w, 200);
	raw_expect_none(&w->raw);
	raw_request(&w->raw, "UPDATE", "", "");
	raw_expect(&w->raw, "200");
}

/* Who refers often says goodbye at once and still wants to know. */
static void test_peer_leaves(void **state)
{
	struct world *w = *state;

	raw_make_call(w);
	take_refer(w);
	raw_expect(&w->raw, "NOTIFY");
	reply(&w->raw, 200);
	raw_request(&w->raw, "BYE", "", "");
	raw_expect(&w->raw, "200");
	expect_log(&w->near, "end hangup 0 remote;");
	notify(w, 180);
	expect_notify(&w->raw, "180 Ringing", "refer", "active;expires=179");
	session_close(&w->near.session);
	world_run(w, 20);
	reply(&w->raw, 200);
	expect_notify(&w->raw, "180 Ringing", "refer",
		      "terminated;reason=noresource");
	reply(&w->raw, 200);
	world_run(w, 20);
}

/* The session frees itself once the last NOTIFY is answered, or is not. */
static void test_owner_leaves(void **state)
{
	struct ua_stats stats;
	struct world *w = *state;

	raw_make_call(w);
	take_refer(w);
	raw_expect(&w->raw, "NOTIFY");
	reply(&w->raw, 200);
	session_close(&w->near.session);
	world_run(w, 20);
	expect_notify(&w->raw, "100 Trying", "refer",
		      "terminated;reason=noresource");
	raw_expect(&w->raw, "BYE");
	reply(&w->raw, 200);
	world_run(w, 1000);
	ua_stats(w->near.ua, &stats);
	assert_int_equal(stats.dialogs, 1);
	world_run(w, 32 * 1000);
	ua_stats(w->near.ua, &stats);
	assert_int_equal(stats.dialogs, 0);
}

static void test_session_is_lost(void **state)
{
	struct world *w = *state;

	raw_make_call(w);
	take_refer(w);
	raw_expect(&w->raw, "NOTIFY");
	reply(&w->raw, 200);
	assert_int_equal(session_offer(w->near.session, SLICE("again")), 0);
	world_run(w, 20);
	raw_expect(&w->raw, "INVITE");
	reply(&w->raw, 481);
	expect_log(&w->near, "end lost 481;");
	raw_expect(&w->raw, "ACK");
	raw_expect(&w->raw, "BYE");
	notify(w, 200); /* the subscription went with the dialog */
	raw_expect_none(&w->raw);
}

static void test_not_up(void **state)
{
	struct world *w = *state;

	raw_dial(w);
	raw_request(&w->raw, "INVITE", "", "offer");
	raw_expect(&w->raw, "100");
	session_ring(w->near.session);
	world_run(w, 20);
	raw_learn(&w->raw, raw_expect(&w->raw, "180"));
	raw_request(&w->raw, "REFER", TO_BOB, "");
	raw_expect(&w->raw, "491");
	raw_request(&w->raw, "BYE", "", "");
	raw_expect(&w->raw, "200");
	raw_expect(&w->raw, "487");
	raw_request(&w->raw, "REFER", TO_BOB, "");
	raw_expect(&w->raw, "481");
	buffer_clear(&w->near.log);
}

static void test_outside_a_dialog(void **state)
{
	static const struct {
		const char *method, *headers, *answer;
	} rows[] = {
		{ "REFER", TO_BOB, "403" },
		{ "REFER", "", "400" },
		{ "REFER", TO_BOB TO_BOB, "400" },
		{ "NOTIFY", "", "489" },
		{ "NOTIFY", "Event: message-summary\r\n", "489" },
		{ "NOTIFY", "Event: refer\r\n", "481" },
		{ "NOTIFY", "o: refer ; id=1\r\n", "481" },
	};
	struct world *w = *state;

	raw_dial(w);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		raw_request(&w->raw, rows[i].method, rows[i].headers, "");
		raw_expect(&w->raw, rows[i].answer);
		if (strcmp(rows[i].answer, "489") == 0)
			assert_slice(
				message_value(w->raw.message, "Allow-Events"),
				"refer");
	}
}

/* ---- our own REFER ---- */

#define TO_EVE "sip:+15550155@trunk.test:5071;x=y"

static void refer(struct world *w)
{
	assert_int_equal(session_refer(w->near.session, TO_EVE, NULL), 0);
	world_run(w, 20);
	raw_expect(&w->raw, "REFER");
}

/* It is up and the peer has taken our REFER. */
static void refer_taken(struct world *w)
{
	raw_take_call(w);
	refer(w);
	reply(&w->raw, 202);
	expect_log(&w->near, "referred 202;");
}

/* The peer's NOTIFY; line NULL: without a body. */
static void peer_notifies(struct world *w, const char *line,
			  const char *subscription, const char *answer)
{
	char headers[300], body[100] = "";

	snprintf(headers, sizeof(headers),
		 "Event: refer\r\nSubscription-State: %s\r\n"
		 "Content-Type: message/sipfrag;version=2.0\r\n",
		 subscription);
	if (line)
		snprintf(body, sizeof(body), "SIP/2.0 %s\r\n", line);
	raw_request(&w->raw, "NOTIFY", headers, body);
	raw_expect(&w->raw, answer);
}

static void test_the_request(void **state)
{
	struct world *w = *state;
	const struct sip_message *request;

	raw_take_call(w);
	assert_int_equal(session_refer(w->near.session, TO_EVE,
				       "a@b;to-tag=1;from-tag=2"),
			 0);
	assert_int_equal(session_refer(w->near.session, TO_EVE, NULL), -EAGAIN);
	world_run(w, 20);
	request = raw_expect(&w->raw, "REFER");
	assert_slice(message_value(request, "Refer-To"),
		     "<" TO_EVE "?Replaces=a%40b%3Bto-tag%3D1%3Bfrom-tag%3D2>");
	assert_slice(message_value(request, "Referred-By"),
		     "<sip:+15550199@near.test>");
	assert_true(request->common.to.tag.len > 0);
	assert_non_null(message_value(request, "Contact").ptr);
	reply(&w->raw, 603);
	expect_log(&w->near, "referred 603 over;");
}

static void test_targets_refused(void **state)
{
	static const struct {
		const char *target, *replaces;
	} rows[] = {
		{ "", NULL },
		{ "bob", NULL },
		{ "http://b.test", NULL },
		{ "sip:a@b.test?Subject=x", NULL },
		{ "sip:a b@b.test", NULL },
		{ "<sip:a@b.test>", NULL },
		{ "sip:a@b.test\r\nVia: x", NULL },
		{ "tel:+15550155", "a;to-tag=1;from-tag=2" },
		{ TO_EVE, "" },
		{ TO_EVE, "a;to-tag=1" },
		{ TO_EVE, "a;to-tag=1;from-tag=2\r\nVia: x" },
	};
	struct world *w = *state;

	raw_take_call(w);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(session_refer(w->near.session, rows[i].target,
					       rows[i].replaces),
				 -EINVAL);
	world_run(w, 20);
	raw_expect_none(&w->raw);
	session_hangup(w->near.session, NULL);
	assert_int_equal(session_refer(w->near.session, TO_EVE, NULL), -EINVAL);
	world_run(w, 20);
	buffer_clear(&w->near.log);
}

static void test_progress_and_success(void **state)
{
	struct world *w = *state;

	refer_taken(w);
	peer_notifies(w, "100 Trying", "active;expires=60", "200");
	expect_log(&w->near, "referred 100;");
	peer_notifies(w, "180 Ringing", "active;expires=60", "200");
	expect_log(&w->near, "referred 180;");
	peer_notifies(w, NULL, "active;expires=60", "200");
	expect_log(&w->near, "");
	peer_notifies(w, "200 OK", "terminated;reason=noresource", "200");
	expect_log(&w->near, "referred 200 over;");
	peer_notifies(w, "200 OK", "terminated", "200"); /* lost its answer */
	peer_notifies(w, "200 OK", "terminated", "481");
	expect_log(&w->near, "");
	refer(w); /* and again */
	reply(&w->raw, 200);
	expect_log(&w->near, "referred 200;");
	peer_notifies(w, "486 Busy Here", "active", "200");
	expect_log(&w->near, "referred 486 over;");
	world_run(w, 31 * 1000);
	peer_notifies(w, "486 Busy Here", "active", "200");
	world_run(w, 1000); /* its last one is not waited for any longer */
	peer_notifies(w, "486 Busy Here", "terminated", "481");
	expect_log(&w->near, "");
}

/* A NOTIFY may overtake the 202 (RFC 6665, 4.1.2.4). */
static void test_notify_first(void **state)
{
	struct world *w = *state;
	struct sip_message *request;

	raw_take_call(w);
	refer(w);
	request = sip_message_ref(w->raw.message);
	peer_notifies(w, "100 Trying", "active", "200");
	expect_log(&w->near, "referred 100;");
	peer_notifies(w, "503 Service Unavailable", "terminated", "200");
	expect_log(&w->near, "referred 503 over;");
	assert_int_equal(session_refer(w->near.session, TO_EVE, NULL), -EAGAIN);
	raw_reply(&w->raw, request, 202, "", "");
	expect_log(&w->near, "");
	sip_message_unref(&request);
	refer(w);
	reply(&w->raw, 403);
	expect_log(&w->near, "referred 403 over;");
}

static void test_notifies_that_are_none(void **state)
{
	static const struct {
		const char *headers, *body, *answer;
	} rows[] = {
		{ "", "", "489" },
		{ "Event: presence\r\n", "", "489" },
		{ "Event: refer;id=99999\r\n", "", "481" },
		{ "Event: refer;id=x\r\n", "", "481" },
		{ "Event: refer\r\nContent-Type: text/plain\r\n",
		  "SIP/2.0 200 OK\r\n", "415" },
		{ "Event: refer\r\n", "SIP/2.0 200 OK\r\n", "415" },
		{ "Event: refer\r\nContent-Type: message/sipfrag\r\n", "hello",
		  "400" },
		{ "Event: refer\r\nContent-Type: message/sipfrag\r\n",
		  "SIP/2.0 2000 OK\r\n", "400" },
		{ "Event: refer\r\nContent-Type: message/sipfrag\r\n",
		  "SIP/2.0 099 X\r\n", "400" },
		{ "Event: refer\r\nContent-Type: message/sipfrag\r\n",
		  "SIP/2.0 700 X\r\n", "400" },
		{ "Event: refer\r\nContent-Type: message/sipfrag\r\n",
		  "\r\nSIP/2.0 200 OK\r\n", "400" },
		{ "Event: refer\r\nContent-Type: message/sipfrag\r\n",
		  "SIP/3.0 200 OK\r\n", "400" },
	};
	struct world *w = *state;

	refer_taken(w);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		raw_request(&w->raw, "NOTIFY", rows[i].headers, rows[i].body);
		raw_expect(&w->raw, rows[i].answer);
	}
	expect_log(&w->near, "");
	/* Sloppy, and clear all the same. */
	raw_request(&w->raw, "NOTIFY",
		    "Event: Refer\r\nContent-Type: Message/SIPfrag\r\n",
		    "SIP/2.0 200");
	raw_expect(&w->raw, "200");
	expect_log(&w->near, "referred 200 over;");
}

static void test_id_of_the_subscription(void **state)
{
	struct world *w = *state;
	char headers[200];

	raw_take_call(w);
	refer(w);
	snprintf(headers, sizeof(headers),
		 "Event: refer;id=%u\r\nSubscription-State: active\r\n"
		 "Content-Type: message/sipfrag\r\n",
		 w->raw.message->common.cseq);
	reply(&w->raw, 202);
	raw_request(&w->raw, "NOTIFY", headers, "SIP/2.0 180 Ringing\r\n");
	raw_expect(&w->raw, "200");
	expect_log(&w->near, "referred 202;referred 180;");
}

static void test_silence(void **state)
{
	struct world *w = *state;

	refer_taken(w);
	world_run(w, 59 * 1000);
	expect_log(&w->near, "");
	world_run(w, 1000);
	expect_log(&w->near, "referred 0 over;");
	peer_notifies(w, "200 OK", "terminated", "481");
	refer(w);
	reply(&w->raw, 202);
	peer_notifies(w, "100 Trying", "active;expires=90", "200");
	buffer_clear(&w->near.log);
	world_run(w, 89 * 1000);
	expect_log(&w->near, "");
	world_run(w, 1000); /* it has expired */
	expect_log(&w->near, "referred 0 over;");
	refer(w);
	world_run(w, 32 * 1000); /* not even an answer */
	expect_log(&w->near, "referred 0 over;");
}

static void test_over_without_a_final_one(void **state)
{
	static const struct {
		const char *line, *log;
	} rows[] = {
		{ "100 Trying", "referred 0 over;" },
		{ NULL, "referred 0 over;" },
	};
	struct world *w = *state;

	raw_take_call(w);
	for (size_t i = 0; i < 2; i++) {
		refer(w);
		reply(&w->raw, 202);
		buffer_clear(&w->near.log);
		peer_notifies(w, rows[i].line, "terminated;reason=noresource",
			      "200");
		expect_log(&w->near, rows[i].log);
	}
}

static void test_peer_declines_to_notify(void **state)
{
	struct world *w = *state;
	struct sip_message *request;

	raw_take_call(w);
	refer(w);
	request = sip_message_ref(w->raw.message);
	raw_reply(&w->raw, request, 202, "Refer-Sub: false\r\n", "");
	expect_log(&w->near, "referred 202 over;");
	sip_message_unref(&request);
}

static void test_challenge(void **state)
{
	static const struct session_trunk trunk = { .host = "trunk.test",
						    .port = RAW_PORT,
						    .username = "u",
						    .password = "p" };
	const struct session_call call = { .trunk = &trunk };
	struct world *w = *state;
	struct sip_message *request;
	unsigned cseq;
	char headers[200];

	raw_listen(w, w->tls);
	side_call(w, RAW_PORT, &call);
	world_run(w, 50);
	request = sip_message_ref(raw_expect(&w->raw, "INVITE"));
	raw_learn(&w->raw, request);
	raw_reply(&w->raw, request, 200,
		  "Contact: <sip:raw@127.0.0.1:5065>\r\n", "answer");
	sip_message_unref(&request);
	raw_expect(&w->raw, "ACK");
	buffer_clear(&w->near.log);
	refer(w);
	request = sip_message_ref(w->raw.message);
	raw_reply(&w->raw, request, 401,
		  "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n", "");
	sip_message_unref(&request);
	request = raw_expect(&w->raw, "REFER");
	assert_non_null(message_value(request, "Authorization").ptr);
	cseq = request->common.cseq;
	snprintf(headers, sizeof(headers),
		 "Event: refer;id=%u\r\nContent-Type: message/sipfrag\r\n",
		 cseq);
	request = sip_message_ref(request);
	raw_request(&w->raw, "NOTIFY", headers, "SIP/2.0 180 Ringing\r\n");
	raw_expect(&w->raw, "200"); /* the id is that of the second try */
	raw_reply(&w->raw, request, 202, "", "");
	sip_message_unref(&request);
	expect_log(&w->near, "referred 180;referred 202;");
}

static void test_peer_hangs_up_meanwhile(void **state)
{
	struct world *w = *state;

	refer_taken(w);
	raw_request(&w->raw, "BYE", "", "");
	raw_expect(&w->raw, "200");
	expect_log(&w->near, "end hangup 0 remote;");
	peer_notifies(w, "200 OK", "terminated", "481");
	world_run(w, 100 * 1000);
	expect_log(&w->near, "");
}

static void test_we_hang_up_meanwhile(void **state)
{
	struct world *w = *state;
	struct sip_message *request;

	raw_take_call(w);
	refer(w);
	request = sip_message_ref(w->raw.message);
	session_hangup(w->near.session, NULL);
	world_run(w, 20);
	raw_expect(&w->raw, "BYE");
	raw_reply(&w->raw, request, 202, "", "");
	expect_log(&w->near, "end hangup 0;");
	sip_message_unref(&request);
}

/* Both refer each other, two user agents of ours: near calls far. */
static void test_between_two_of_us(void **state)
{
	struct world *w = *state;

	w->far.answer = "answer";
	side_call(w, FAR_PORT, &(struct session_call){ 0 });
	world_run(w, 100);
	buffer_clear(&w->near.log);
	buffer_clear(&w->far.log);
	assert_int_equal(session_refer(w->near.session, TO_EVE, NULL), 0);
	assert_int_equal(session_refer(w->far.session, TO_EVE, NULL), 0);
	world_run(w, 100);
	session_refer_notify(w->near.session, 180);
	session_refer_notify(w->far.session, 486);
	world_run(w, 100);
	session_refer_notify(w->near.session, 200);
	world_run(w, 100);
	expect_log(&w->near, "refer " TO_EVE " +15550155 trunk.test:5071 - "
			     "<sip:+15550100@trunk.test:5063>;referred 202;"
			     "referred 100;referred 486 over;");
	expect_log(&w->far,
		   "refer " TO_EVE " +15550155 trunk.test:5071 - "
		   "<sip:+15550199@near.test>;referred 202;referred 100;"
		   "referred 180;referred 200 over;");
}

#define with_world(test)                                                       \
	cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_world(test_what_is_refused),
		with_world(test_what_the_owner_sees),
		with_world(test_from_trying_to_the_end),
		with_world(test_one_notify_at_a_time),
		with_world(test_target_is_refreshed),
		with_world(test_status_that_is_none),
		with_world(test_second_refer),
		with_world(test_without_a_subscription),
		with_world(test_expiry),
		with_world(test_notify_refused),
		with_world(test_peer_leaves),
		with_world(test_owner_leaves),
		with_world(test_session_is_lost),
		with_world(test_not_up),
		with_world(test_outside_a_dialog),
		with_world(test_the_request),
		with_world(test_targets_refused),
		with_world(test_progress_and_success),
		with_world(test_notify_first),
		with_world(test_notifies_that_are_none),
		with_world(test_id_of_the_subscription),
		with_world(test_silence),
		with_world(test_over_without_a_final_one),
		with_world(test_peer_declines_to_notify),
		with_world(test_challenge),
		with_world(test_peer_hangs_up_meanwhile),
		with_world(test_we_hang_up_meanwhile),
		with_world(test_between_two_of_us),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
