/* SPDX-License-Identifier: MIT */
/* sip/session: calls both ways with digest, redirection, forks, CANCEL and
 * answer races, offers inside the dialog with glare, both ways to hang up, lost
 * links, and session_close() in every state. RFC 3261, 9, 12-15, 22; 3264;
 * 3311. Rows: INVITE out, INVITE in, re-INVITE, dialogs, digest. */
#include "fixture_ua.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fixture_text.h"
#include "core/link.h"

static const char contact[] =
	"Contact: <sip:raw@127.0.0.1:5065;transport=tls>\r\n";

static struct sip_message *start_call(struct world *w,
				      const struct session_call *call)
{
	raw_listen(w, w->tls);
	assert_int_equal(side_call(w, RAW_PORT, call), 0);
	world_run(w, 50);
	return raw_expect(&w->raw, "INVITE");
}

static struct sip_message *start_plain_call(struct world *w)
{
	return start_call(w, &(struct session_call){ 0 });
}

/* ---- two of ours ---- */

static void test_call_from_end_to_end(void **state)
{
	struct world *w = *state;

	side_call(w, FAR_PORT,
		  &(struct session_call){ .from_display = "A \"B" });
	world_run(w, 50);
	expect_log(&w->far, "invite +15550100 +15550199 A \"B  [offer];");
	assert_int_equal(session_ring(w->far.session), 0);
	world_run(w, 10);
	expect_log(&w->near, "progress 180 [];");
	session_answer(w->far.session, SLICE("answer"));
	world_run(w, 10);
	expect_log(&w->near, "answer [answer];");
	expect_log(&w->far, "answer [];");
	session_hangup(w->near.session, "SIP;cause=200;text=\"done\"");
	world_run(w, 10);
	expect_log(&w->near, "end hangup 0;");
	expect_log(&w->far, "end hangup 0 remote;");
}

static void test_called_side_hangs_up(void **state)
{
	struct world *w = *state;

	w->far.answer = "answer";
	w->near.closes_in_end = w->far.closes_in_end = true;
	side_call(w, FAR_PORT, &(struct session_call){ 0 });
	world_run(w, 50);
	expect_log(&w->near, "answer [answer];");
	session_hangup(w->far.session, NULL);
	world_run(w, 10);
	expect_log(&w->near, "end hangup 0 remote;");
	assert_null(w->near.session);
	assert_null(w->far.session);
}

static void test_offers_inside_the_dialog(void **state)
{
	struct world *w = *state;

	w->far.answer = "answer";
	side_call(w, FAR_PORT, &(struct session_call){ 0 });
	world_run(w, 50);
	buffer_clear(&w->near.log);
	buffer_clear(&w->far.log);
	assert_int_equal(session_offer(w->near.session, SLICE("hold")), 0);
	assert_int_equal(session_offer(w->near.session, SLICE("x")), -EAGAIN);
	world_run(w, 10);
	expect_log(&w->far, "offer [hold];");
	assert_int_equal(session_offer(w->far.session, SLICE("x")), -EAGAIN);
	assert_int_equal(session_answer(w->far.session, SLICE("held")), 0);
	world_run(w, 10);
	expect_log(&w->near, "answer [held];");
	expect_log(&w->far, "");
	assert_int_equal(session_answer(w->far.session, SLICE("?")), -EINVAL);

	session_offer(w->far.session, SLICE("bad"));
	world_run(w, 10);
	expect_log(&w->near, "offer [bad];");
	session_refuse(w->near.session, 488);
	world_run(w, 10);
	expect_log(&w->far, "answer [];"); /* all stays as it was */
	assert_int_equal(session_offer(w->far.session, SLICE("good")), 0);
	world_run(w, 10);
	session_answer(w->near.session, SLICE("fine"));
	world_run(w, 10);
	expect_log(&w->far, "answer [fine];");
}

static void test_glare_is_settled(void **state)
{
	struct world *w = *state;

	w->far.answer = "answer";
	side_call(w, FAR_PORT, &(struct session_call){ 0 });
	world_run(w, 50);
	buffer_clear(&w->near.log);
	buffer_clear(&w->far.log);
	session_offer(w->near.session, SLICE("mine"));
	session_offer(w->far.session, SLICE("yours"));
	world_run(w, 2050); /* the callee goes first */
	expect_log(&w->near, "offer [yours];");
	session_answer(w->near.session, SLICE("ok"));
	world_run(w, 10);
	expect_log(&w->far, "answer [ok];");
	world_run(w, 4500);
	expect_log(&w->far, "offer [mine];");
	session_answer(w->far.session, SLICE("ok too"));
	world_run(w, 10);
	expect_log(&w->near, "answer [ok too];");
}

/* ---- outgoing, against a script ---- */

static void test_invite_as_written(void **state)
{
	struct world *w = *state;
	const struct session_header extra[] = {
		{ SLICE("X-Trace"), SLICE("abc") },
		{ SLICE("User-to-User"), SLICE("48;encoding=hex") },
	};
	const struct session_call call = { .to_number = "1001",
					   .headers = extra,
					   .n_headers = 2 };
	const struct sip_message *invite = start_call(w, &call);
	char expected[200];

	assert_slice(invite->start.target, "sip:1001@trunk.test:5065");
	assert_slice(invite->common.from.uri_text, "sip:+15550199@near.test");
	assert_int_equal(invite->common.max_forwards, 70);
	assert_slice(message_value(invite, "X-Trace"), "abc");
	assert_slice(message_value(invite, "User-to-User"), "48;encoding=hex");
	assert_slice(message_value(invite, "User-Agent"), "parley-test");
	assert_slice(message_value(invite, "Content-Type"), "application/sdp");
	assert_slice(invite->body, "offer");
	snprintf(expected, sizeof(expected),
		 "<sip:+15550199@%.*s:%u;transport=tls>",
		 (int)invite->common.via.host.len, invite->common.via.host.ptr,
		 invite->common.via.port);
	assert_slice(message_value(invite, "Contact"), expected);
	assert_true(
		slice_has_prefix(invite->common.via.branch, SLICE("z9hG4bK")));
	assert_string_equal(session_call_id(w->near.session),
			    session_call_id(w->near.session));
	assert_slice(invite->common.call_id, session_call_id(w->near.session));
}

/* What a REFER brings into the call it asks for (RFC 3891, 3892). */
static void test_invite_of_a_referral(void **state)
{
	struct world *w = *state;
	const struct session_call call = {
		.replaces = "abc@x;to-tag=1;from-tag=2",
		.referred_by = "<sip:ann@near.test>",
	};
	const struct sip_message *invite = start_call(w, &call);

	assert_slice(message_value(invite, "Replaces"),
		     "abc@x;to-tag=1;from-tag=2");
	assert_slice(message_value(invite, "Require"), "replaces");
	assert_slice(message_value(invite, "Referred-By"),
		     "<sip:ann@near.test>");
	session_close(&w->near.session);
	assert_int_equal(
		side_call(w, RAW_PORT,
			  &(struct session_call){ .replaces = "x\r\nX-Y: 1" }),
		-EINVAL);
	assert_int_equal(
		side_call(w, RAW_PORT,
			  &(struct session_call){ .referred_by = "x\nX-Y: 1" }),
		-EINVAL);
}

static void test_headers_cannot_inject(void **state)
{
	static const struct session_header bad[] = {
		{ SLICE("X-A"), SLICE("1\r\nX-B: 2") },
		{ SLICE("X-A"), SLICE("1\nX-B: 2") },
		{ SLICE("X-A\r\nX-B"), SLICE("2") },
		{ SLICE("X A"), SLICE("2") },
		{ SLICE("via"), SLICE("SIP/2.0/TLS evil.test") },
		{ SLICE("Content-Length"), SLICE("0") },
		{ SLICE("X-A"), { "1\0", 2 } },
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct session_call call = { .headers = &bad[i],
						   .n_headers = 1 };

		assert_int_equal(side_call(w, RAW_PORT, &call), -EINVAL);
		assert_null(w->near.session);
	}
}

static void test_numbers_cannot_inject(void **state)
{
	struct world *w = *state;
	const struct session_call call = {
		.to_number = "1@evil>\r\nX-Y: 1",
		.from_number = "2\r\nX-Y: 1",
		.from_display = "A\" <sip:x@y>",
	};
	const struct sip_message *invite = start_call(w, &call);

	assert_slice(invite->start.uri.host, "trunk.test");
	assert_slice(invite->common.from.uri.host, "near.test");
	assert_null(message_value(invite, "X-Y").ptr);
	raw_reply(&w->raw, invite, 404, "", "");
	raw_expect(&w->raw, "ACK");
	expect_log(&w->near, "end rejected 404 remote;");
}

static void test_rejections(void **state)
{
	static const int statuses[] = { 404, 480, 486, 503, 603 };
	struct world *w = *state;

	raw_listen(w, w->tls);
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		const struct sip_message *invite;
		char expected[60];

		side_call(w, RAW_PORT, &(struct session_call){ 0 });
		world_run(w, 50);
		invite = raw_expect(&w->raw, "INVITE");
		raw_reply(&w->raw, invite, statuses[i], "", "");
		assert_slice(raw_expect(&w->raw, "ACK")->common.to.tag,
			     "rawtag");
		snprintf(expected, sizeof(expected), "end rejected %d remote;",
			 statuses[i]);
		expect_log(&w->near, expected);
		session_close(&w->near.session);
	}
	assert_int_equal(w->raw.accepts, 1); /* one pooled link for all */
}

static const struct session_trunk login = { .host = "trunk.test",
					    .port = RAW_PORT,
					    .username = "ann",
					    .password = "secret" };

static void challenge(struct world *w, const struct sip_message *invite,
		      int status, const char *nonce, bool is_stale)
{
	char header[200];

	snprintf(header, sizeof(header),
		 "%s: Digest realm=\"r\", nonce=\"%s\", qop=\"auth\"%s\r\n",
		 status == 401 ? "WWW-Authenticate" : "Proxy-Authenticate",
		 nonce, is_stale ? ", stale=true" : "");
	raw_reply(&w->raw, invite, status, header, "");
	raw_expect(&w->raw, "ACK");
}

static void test_digest(void **state)
{
	struct world *w = *state;
	struct sip_message *invite =
		start_call(w, &(struct session_call){ .trunk = &login });
	const struct sip_message *ack;
	struct slice authorization;
	char branch[80];

	snprintf(branch, sizeof(branch), "%.*s",
		 (int)invite->common.via.branch.len,
		 invite->common.via.branch.ptr);
	challenge(w, invite, 407, "n1", false);
	invite = raw_expect(&w->raw, "INVITE");
	assert_int_equal(invite->common.cseq, 2);
	assert_false(slice_eq(invite->common.via.branch, slice_of(branch)));
	assert_non_null(message_value(invite, "Proxy-Authorization").ptr);
	challenge(w, invite, 401, "n2", false); /* the server asks as well */
	invite = raw_expect(&w->raw, "INVITE");
	assert_non_null(message_value(invite, "Proxy-Authorization").ptr);
	authorization = message_value(invite, "Authorization");
	assert_non_null(memmem(authorization.ptr, authorization.len,
			       "uri=\"sip:+15550100@trunk.test:5065\"", 34));
	raw_reply(&w->raw, invite, 200, contact, "answer");
	ack = raw_expect(&w->raw, "ACK");
	assert_int_equal(ack->common.cseq, 3);
	assert_non_null(message_value(ack, "Authorization").ptr);
	expect_log(&w->near, "answer [answer];");
}

static void test_digest_gives_up(void **state)
{
	struct world *w = *state;
	struct sip_message *invite =
		start_call(w, &(struct session_call){ .trunk = &login });

	challenge(w, invite, 401, "n1", false);
	challenge(w, raw_expect(&w->raw, "INVITE"), 401, "n2", true);
	challenge(w, raw_expect(&w->raw, "INVITE"), 401, "n3", true);
	raw_expect_none(&w->raw);
	expect_log(&w->near, "end rejected 401 remote;");
}

static void test_digest_refused(void **state)
{
	struct world *w = *state;
	struct sip_message *invite =
		start_call(w, &(struct session_call){ .trunk = &login });

	challenge(w, invite, 407, "n1", false);
	challenge(w, raw_expect(&w->raw, "INVITE"), 407, "n2", false);
	raw_expect_none(&w->raw);
	expect_log(&w->near, "end rejected 407 remote;");
}

static void test_no_credentials_for_the_challenge(void **state)
{
	struct world *w = *state;

	challenge(w, start_plain_call(w), 401, "n1", false);
	raw_expect_none(&w->raw);
	expect_log(&w->near, "end rejected 401 remote;");
}

/* Answers with this and takes the ACK. */
static void refuse_invite(struct world *w, const struct sip_message *invite,
			  int status, const char *headers)
{
	raw_reply(&w->raw, invite, status, headers, "");
	raw_expect(&w->raw, "ACK");
}

/* row: INVITE out, 3xx. RFC 3261, 8.1.3.4: by q, each once. */
static void test_redirect_by_q(void **state)
{
	struct world *w = *state;
	const struct sip_message *invite = start_plain_call(w);

	refuse_invite(w, invite, 300,
		      "Contact: <sip:low@trunk.test:5065>;q=0.1, "
		      "<sip:none@trunk.test>, "
		      "<sip:mid@trunk.test:5065>;q=0.55\r\n");
	invite = raw_expect(&w->raw, "INVITE");
	assert_slice(invite->start.target, "sip:none@trunk.test");
	assert_int_equal(invite->common.cseq, 2);
	assert_slice(invite->body, "offer");
	refuse_invite(w, invite, 404, "");
	invite = raw_expect(&w->raw, "INVITE");
	assert_slice(invite->start.target, "sip:mid@trunk.test:5065");
	refuse_invite(w, invite, 302, "Contact: <sip:low@trunk.test:5065>\r\n");
	invite = raw_expect(&w->raw, "INVITE");
	assert_slice(invite->start.target, "sip:low@trunk.test:5065");
	refuse_invite(w, invite, 486, "");
	raw_expect_none(&w->raw);
	expect_log(&w->near, "end rejected 486 remote;");
}

static void test_redirect_ends_with_a_global_failure(void **state)
{
	struct world *w = *state;

	refuse_invite(w, start_plain_call(w), 300,
		      "Contact: <sip:a@trunk.test>, <sip:b@trunk.test>\r\n");
	refuse_invite(w, raw_expect(&w->raw, "INVITE"), 603, "");
	raw_expect_none(&w->raw);
	expect_log(&w->near, "end rejected 603 remote;");
}

static void test_redirect_in_a_circle_ends(void **state)
{
	struct world *w = *state;
	const struct sip_message *invite = start_plain_call(w);
	char next[80];

	for (int i = 0; i < 5; i++) { /* each time somewhere new */
		snprintf(next, sizeof(next),
			 "Contact: <sip:n%d@trunk.test:5065>\r\n", i);
		refuse_invite(w, invite, 302, next);
		invite = raw_expect(&w->raw, "INVITE");
	}
	refuse_invite(w, invite, 302, "Contact: <sip:n9@trunk.test:5065>\r\n");
	raw_expect_none(&w->raw);
	expect_log(&w->near, "end rejected 302 remote;");
	session_close(&w->near.session);
	side_call(w, RAW_PORT, &(struct session_call){ 0 });
	world_run(w, 50);
	refuse_invite(w, raw_expect(&w->raw, "INVITE"), 302,
		      "Contact: <sip:+15550100@trunk.test:5065>\r\n");
	raw_expect_none(&w->raw); /* back to where it came from */
	expect_log(&w->near, "end rejected 302 remote;");
}

static void test_redirect_elsewhere_is_refused(void **state)
{
	static const char *const elsewhere[] = {
		"<sip:other@evil.test:5065>",
		"<sip:other@trunk.test:5066>",
		"<tel:+15550100>",
		"<sip:other@trunk.test:5065;method=REFER>",
		"<sip:other@trunk.test:5065?Replaces=x>",
		"*",
	};
	struct world *w = *state;
	char contact_line[120];

	raw_listen(w, w->tls);
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(*elsewhere); i++) {
		side_call(w, RAW_PORT, &(struct session_call){ 0 });
		world_run(w, 50);
		snprintf(contact_line, sizeof(contact_line), "Contact: %s\r\n",
			 elsewhere[i]);
		refuse_invite(w, raw_expect(&w->raw, "INVITE"), 302,
			      contact_line);
		raw_expect_none(&w->raw);
		expect_log(&w->near, "end rejected 302 remote;");
		session_close(&w->near.session);
	}
}

static void test_early_media_and_second_183(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = sip_message_ref(start_plain_call(w));

	raw_reply(&w->raw, invite, 100, "", "");
	expect_log(&w->near, "");
	raw_reply(&w->raw, invite, 183, contact, "early");
	raw_reply(&w->raw, invite, 183, contact, "early 2");
	raw_reply(&w->raw, invite, 180, "", "");
	expect_log(&w->near, "progress 183 [early];progress 183 [early 2];"
			     "progress 180 [];");
	raw_reply(&w->raw, invite, 200, contact, "answer");
	expect_log(&w->near, "answer [answer];");
	sip_message_unref(&invite);
}

static void test_answer_without_sdp_ends(void **state)
{
	struct world *w = *state;

	raw_reply(&w->raw, start_plain_call(w), 200, contact, "");
	raw_expect(&w->raw, "ACK");
	raw_expect(&w->raw, "BYE");
	expect_log(&w->near, "end protocol 200;");
}

static void test_ring_timeout(void **state)
{
	struct world *w = *state;
	const struct session_call call = { .ring_timeout_ms = 5000 };
	struct sip_message *invite = sip_message_ref(start_call(w, &call));
	const struct sip_message *cancel;

	raw_reply(&w->raw, invite, 180, contact, "");
	expect_log(&w->near, "progress 180 [];");
	world_run(w, 4900);
	raw_expect_none(&w->raw);
	world_run(w, 100);
	cancel = raw_expect(&w->raw, "CANCEL");
	assert_true(
		slice_eq(cancel->common.via.branch, invite->common.via.branch));
	assert_int_equal(cancel->common.cseq, invite->common.cseq);
	assert_int_equal(cancel->common.to.tag.len, 0);
	raw_reply(&w->raw, cancel, 200, "", "");
	raw_reply(&w->raw, invite, 487, "", "");
	raw_expect(&w->raw, "ACK");
	expect_log(&w->near, "end no answer 487;");
	sip_message_unref(&invite);
}

static void test_ring_timeout_without_any_final(void **state)
{
	struct world *w = *state;
	const struct session_call call = { .ring_timeout_ms = 5000 };

	raw_reply(&w->raw, start_call(w, &call), 180, contact, "");
	world_run(w, 5000);
	raw_expect(&w->raw, "CANCEL");
	world_run(w, 31900);
	expect_log(&w->near, "progress 180 [];");
	world_run(w, 200);
	expect_log(&w->near, "end no answer 0;");
}

static void test_no_provisional_no_cancel(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = sip_message_ref(start_plain_call(w));

	session_hangup(w->near.session, "SIP;cause=487");
	world_run(w, 10);
	raw_expect_none(&w->raw); /* 9.1: not before a provisional */
	raw_reply(&w->raw, invite, 100, "", "");
	assert_slice(message_value(raw_expect(&w->raw, "CANCEL"), "Reason"),
		     "SIP;cause=487");
	raw_reply(&w->raw, invite, 487, "", "");
	raw_expect(&w->raw, "ACK");
	expect_log(&w->near, "end canceled 487;");
	sip_message_unref(&invite);
}

static void test_cancel_crosses_the_answer(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = sip_message_ref(start_plain_call(w));

	raw_reply(&w->raw, invite, 180, contact, "");
	session_hangup(w->near.session, NULL);
	world_run(w, 10);
	raw_expect(&w->raw, "CANCEL");
	raw_reply(&w->raw, invite, 200, contact, "answer");
	raw_expect(&w->raw, "ACK");
	raw_reply(&w->raw, raw_expect(&w->raw, "BYE"), 200, "", "");
	expect_log(&w->near, "progress 180 [];end canceled 0;");
	sip_message_unref(&invite);
}

static void test_answer_comes_again(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = sip_message_ref(start_plain_call(w));

	for (int i = 0; i < 3; i++) {
		raw_reply(&w->raw, invite, 200, contact, "answer");
		raw_expect(&w->raw, "ACK");
	}
	expect_log(&w->near, "answer [answer];");
	session_close(&w->near.session);
	world_run(w, 10);
	raw_reply(&w->raw, raw_expect(&w->raw, "BYE"), 200, "", "");
	raw_reply(&w->raw, invite, 200, contact, "answer");
	raw_expect(&w->raw, "ACK"); /* also when the call is over */
	world_run(w, 33000);
	raw_reply(&w->raw, invite, 200, contact, "answer");
	raw_expect_none(&w->raw);
	sip_message_unref(&invite);
}

/* A 200 of another branch, with this tag. */
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
		 "Record-Route: <sip:p2@trunk.test;lr>\r\n"
		 "Record-Route: <sip:p1@trunk.test;lr>\r\n"
		 "Content-Type: application/sdp\r\n"
		 "Content-Length: 6\r\n\r\nanswer",
		 status, (int)via.len, via.ptr, (int)from.len, from.ptr, tag,
		 (int)invite->common.call_id.len, invite->common.call_id.ptr,
		 tag);
	raw_write(&w->raw, slice_of(text));
}

static void test_forks(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = sip_message_ref(start_plain_call(w));
	const struct sip_message *ack;

	fork_reply(w, invite, "180 Ringing", "one");
	fork_reply(w, invite, "183 Progress", "two");
	fork_reply(w, invite, "200 OK", "two");
	ack = raw_expect(&w->raw, "ACK");
	assert_slice(ack->start.target, "sip:two@127.0.0.1:5065");
	assert_slice(message_value(ack, "Route"), "<sip:p1@trunk.test;lr>");
	expect_log(&w->near, "progress 180 [answer];progress 183 [answer];"
			     "answer [answer];");
	fork_reply(w, invite, "200 OK", "one");
	assert_slice(raw_expect(&w->raw, "ACK")->common.to.tag, "one");
	assert_slice(raw_expect(&w->raw, "BYE")->common.to.tag, "one");
	fork_reply(w, invite, "200 OK", "one"); /* its ACK again, no BYE */
	raw_expect(&w->raw, "ACK");
	raw_expect_none(&w->raw);
	expect_log(&w->near, "");
	session_hangup(w->near.session, NULL);
	world_run(w, 10);
	assert_slice(raw_expect(&w->raw, "BYE")->common.to.tag, "two");
	sip_message_unref(&invite);
}

static void test_nobody_answers(void **state)
{
	struct world *w = *state;

	start_plain_call(w);
	world_run(w, 31900);
	expect_log(&w->near, "");
	world_run(w, 200);
	expect_log(&w->near, "end timed out 0;");
}

static void test_unreachable(void **state)
{
	struct world *w = *state;

	side_call(w, 5999, &(struct session_call){ 0 });
	world_run(w, 10000);
	expect_log(&w->near, "end unreachable 0;");
}

static void test_untrusted(void **state)
{
	struct world *w = *state;

	raw_listen(w, w->stranger);
	side_call(w, RAW_PORT, &(struct session_call){ 0 });
	world_run(w, 10000);
	expect_log(&w->near, "end untrusted 0;");
}

static void test_wrong_name(void **state)
{
	const struct session_trunk trunk = { .host = "127.0.0.2",
					     .port = RAW_PORT };
	struct world *w = *state;

	side_call(w, 0, &(struct session_call){ .trunk = &trunk });
	world_run(w, 10000);
	expect_log(&w->near, "end unreachable 0;");
}

static void test_link_lost_before_the_answer(void **state)
{
	struct world *w = *state;

	raw_reply(&w->raw, start_plain_call(w), 180, contact, "");
	raw_cut(&w->raw);
	world_run(w, 50);
	expect_log(&w->near, "progress 180 [];end lost 0;");
}

static void test_link_lost_after_the_answer(void **state)
{
	struct world *w = *state;

	raw_take_call(w);
	raw_cut(&w->raw);
	world_run(w, 50);
	expect_log(&w->near, "");
	session_hangup(w->near.session, NULL);
	world_run(w, 50);
	assert_int_equal(w->raw.accepts, 2); /* a new one to the trunk */
	raw_reply(&w->raw, raw_expect(&w->raw, "BYE"), 200, "", "");
	expect_log(&w->near, "end hangup 0;");
}

static void test_link_lost_for_good(void **state)
{
	struct world *w = *state;

	raw_take_call(w);
	raw_cut(&w->raw);
	listener_close(&w->raw.listener);
	world_run(w, 50);
	session_offer(w->near.session, SLICE("hold"));
	world_run(w, 10000);
	expect_log(&w->near, "end lost 0;");
}

/* row: dialogs. Whoever answers now is not who we talked to. */
static void test_link_lost_and_nobody_to_trust(void **state)
{
	struct world *w = *state;

	raw_make_call(w);
	raw_listen(w, w->stranger);
	raw_cut(&w->raw);
	world_run(w, 50);
	session_offer(w->near.session, SLICE("hold"));
	world_run(w, 10000);
	expect_log(&w->near, "end untrusted 0;");
}

/* row: dialogs. Carriers put bare addresses into Contact and Record-Route. */
static void test_dialog_keeps_its_link(void **state)
{
	struct world *w = *state;
	const struct sip_message *bye;

	raw_reply(&w->raw, start_plain_call(w), 200,
		  "Contact: <sip:10.9.8.7:5060;transport=udp>\r\n"
		  "Record-Route: <sip:192.0.2.1;lr;transport=tcp>\r\n",
		  "answer");
	raw_expect(&w->raw, "ACK");
	session_hangup(w->near.session, NULL);
	world_run(w, 0);
	bye = raw_expect(&w->raw, "BYE");
	assert_slice(bye->start.target, "sip:10.9.8.7:5060;transport=udp");
	assert_slice(message_value(bye, "Route"),
		     "<sip:192.0.2.1;lr;transport=tcp>");
	assert_int_equal(w->raw.accepts, 1);
}

static void test_link_lost_under_our_offer(void **state)
{
	struct world *w = *state;

	raw_take_call(w);
	session_offer(w->near.session, SLICE("hold"));
	world_run(w, 10);
	raw_expect(&w->raw, "INVITE");
	raw_cut(&w->raw);
	world_run(w, 50);
	raw_reply(&w->raw, raw_expect(&w->raw, "INVITE"), 200, contact, "held");
	raw_expect(&w->raw, "ACK");
	expect_log(&w->near, "answer [held];");
}

static void test_our_offer_is_not_known(void **state)
{
	struct world *w = *state;

	raw_take_call(w);
	session_offer(w->near.session, SLICE("hold"));
	world_run(w, 10);
	raw_reply(&w->raw, raw_expect(&w->raw, "INVITE"), 481, "", "");
	raw_expect(&w->raw, "ACK");
	raw_expect(&w->raw, "BYE");
	expect_log(&w->near, "end lost 481;");
}

static struct sip_message *start_offer(struct world *w)
{
	raw_take_call(w);
	assert_int_equal(session_offer(w->near.session, SLICE("hold")), 0);
	world_run(w, 10);
	return sip_message_ref(raw_expect(&w->raw, "INVITE"));
}

static void test_answer_to_our_offer_comes_again(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = start_offer(w);

	for (int i = 0; i < 3; i++) {
		raw_reply(&w->raw, invite, 200, contact, "held");
		assert_int_equal(raw_expect(&w->raw, "ACK")->common.cseq,
				 invite->common.cseq);
	}
	expect_log(&w->near, "answer [held];");
	world_run(w, 33000);
	assert_int_equal(session_offer(w->near.session, SLICE("resume")), 0);
	world_run(w, 10);
	raw_reply(&w->raw, raw_expect(&w->raw, "INVITE"), 200, contact, "go");
	expect_log(&w->near, "answer [go];");
	sip_message_unref(&invite);
}

static void test_answer_to_our_offer_without_sdp(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = start_offer(w);

	raw_reply(&w->raw, invite, 200, contact, "");
	raw_expect(&w->raw, "ACK");
	raw_expect(&w->raw, "BYE");
	expect_log(&w->near, "end protocol 200;");
	sip_message_unref(&invite);
}

static void test_no_answer_to_our_offer(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = start_offer(w);

	world_run(w, 32100);
	raw_expect(&w->raw, "BYE");
	expect_log(&w->near, "end timed out 0;");
	sip_message_unref(&invite);
}

/* A re-INVITE that gets a provisional answer and nothing more. */
static void test_our_offer_is_given_up(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = start_offer(w);

	raw_reply(&w->raw, invite, 100, "", "");
	world_run(w, 35900);
	raw_expect_none(&w->raw);
	world_run(w, 100);
	raw_reply(&w->raw, raw_expect(&w->raw, "CANCEL"), 200, "", "");
	raw_reply(&w->raw, invite, 487, "", "");
	raw_expect(&w->raw, "ACK");
	expect_log(&w->near, "answer [];");
	sip_message_unref(&invite);
	session_offer(w->near.session, SLICE("hold"));
	world_run(w, 10);
	raw_reply(&w->raw, raw_expect(&w->raw, "INVITE"), 100, "", "");
	world_run(w, 36000);
	raw_expect(&w->raw, "CANCEL");
	world_run(w, 31900);
	expect_log(&w->near, "");
	world_run(w, 200);
	raw_expect(&w->raw, "BYE");
	expect_log(&w->near, "end timed out 0;");
}

static void test_endless_glare(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = start_offer(w);

	for (int i = 0; i < 4; i++) {
		raw_reply(&w->raw, invite, 491, "", "");
		raw_expect(&w->raw, "ACK");
		sip_message_unref(&invite);
		world_run(w, 2000); /* the Call-ID is ours: 2.1 to 4 s */
		raw_expect_none(&w->raw);
		world_run(w, 2100);
		invite = sip_message_ref(raw_expect(&w->raw, "INVITE"));
	}
	expect_log(&w->near, "");
	raw_reply(&w->raw, invite, 491, "", "");
	raw_expect(&w->raw, "ACK");
	expect_log(&w->near, "answer [];");
	sip_message_unref(&invite);
}

static void test_their_offer_while_we_wait_after_glare(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = start_offer(w);

	raw_reply(&w->raw, invite, 491, "", "");
	raw_expect(&w->raw, "ACK");
	raw_request(&w->raw, "INVITE", "", "theirs");
	expect_log(&w->near, "offer [theirs];");
	world_run(w, 5000); /* ours waits for theirs */
	raw_expect_none(&w->raw);
	session_refuse(w->near.session, 488);
	world_run(w, 600);
	raw_expect(&w->raw, "488");
	raw_expect(&w->raw, "INVITE");
	sip_message_unref(&invite);
}

static void test_offers_too_large(void **state)
{
	static char sdp[SIP_MESSAGE_MAX_BYTES];
	struct world *w = *state;
	const struct session_call call = { .offer = { sdp, sizeof(sdp) } };

	memset(sdp, 'x', sizeof(sdp));
	raw_take_call(w);
	session_offer(w->near.session, slice_make(sdp, sizeof(sdp)));
	world_run(w, 10);
	expect_log(&w->near, "answer [];"); /* refused: as it was */
	session_close(&w->near.session);
	side_call(w, RAW_PORT, &call);
	world_run(w, 50);
	expect_log(&w->near, "end protocol 0;");
}

/* ---- incoming, against a script ---- */

static void start_incoming(struct world *w)
{
	raw_dial(w);
	raw_request(&w->raw, "INVITE", "", "offer");
	raw_expect(&w->raw, "100");
	raw_expect_none(&w->raw);
	expect_log(&w->near, "invite +15550100 +15550177 Ann  [offer];");
}

static void test_incoming_ring_and_refuse(void **state)
{
	struct world *w = *state;
	const struct sip_message *ringing;

	start_incoming(w);
	session_ring(w->near.session);
	world_run(w, 10);
	ringing = raw_expect(&w->raw, "180");
	assert_true(ringing->common.to.tag.len > 0);
	assert_non_null(message_value(ringing, "Contact").ptr);
	session_refuse(w->near.session, 486);
	world_run(w, 10);
	raw_expect(&w->raw, "486");
	expect_log(&w->near, "");
}

static void test_answer_repeats_until_ack(void **state)
{
	/* RFC 3261, 13.3.1.4: T1, doubled up to T2. */
	static const unsigned waits_ms[] = { 500, 1000, 2000, 4000, 4000 };
	struct world *w = *state;

	start_incoming(w);
	session_answer(w->near.session, SLICE("answer"));
	world_run(w, 0);
	raw_learn(&w->raw, raw_expect(&w->raw, "200"));
	for (size_t i = 0; i < sizeof(waits_ms) / sizeof(waits_ms[0]); i++) {
		world_run(w, waits_ms[i] - 1);
		raw_expect_none(&w->raw);
		world_run(w, 1);
		raw_expect(&w->raw, "200");
	}
	expect_log(&w->near, "");
	raw_request(&w->raw, "ACK", "", "");
	expect_log(&w->near, "answer [];");
	raw_request(&w->raw, "ACK", "", ""); /* one for each 200 */
	world_run(w, 40000);
	raw_expect_none(&w->raw);
	expect_log(&w->near, "");
}

static void test_no_ack_at_all(void **state)
{
	struct world *w = *state;
	const struct sip_message *last = NULL;

	start_incoming(w);
	session_answer(w->near.session, SLICE("answer"));
	world_run(w, 31900);
	expect_log(&w->near, "");
	world_run(w, 200);
	expect_log(&w->near, "end timed out 0;");
	for (int i = 0; i < 12; i++)
		last = raw_take(&w->raw);
	assert_true(last && last->start.method == SIP_BYE);
}

static void test_hangup_before_ack_waits(void **state)
{
	struct world *w = *state;

	start_incoming(w);
	session_answer(w->near.session, SLICE("answer"));
	session_hangup(w->near.session, NULL);
	world_run(w, 10);
	raw_learn(&w->raw, raw_expect(&w->raw, "200"));
	raw_expect_none(&w->raw);
	raw_request(&w->raw, "ACK", "", "");
	raw_expect(&w->raw, "BYE");
	expect_log(&w->near, "end hangup 0;");
}

static void send_cancel(struct world *w)
{
	char text[800];

	snprintf(text, sizeof(text),
		 "CANCEL %s SIP/2.0\r\n"
		 "Via: SIP/2.0/TLS 127.0.0.1:5065;branch=%s;rport\r\n"
		 "From: %s\r\nTo: <sip:+15550100@near.test>\r\n"
		 "Call-ID: %s\r\nCSeq: %u CANCEL\r\n"
		 "Reason: SIP;cause=200\r\nContent-Length: 0\r\n\r\n",
		 "sip:+15550100@near.test", w->raw.branch, w->raw.local,
		 w->raw.call_id, w->raw.cseq);
	raw_write(&w->raw, slice_of(text));
}

static void test_incoming_canceled(void **state)
{
	struct world *w = *state;

	start_incoming(w);
	send_cancel(w);
	raw_expect(&w->raw, "200");
	raw_expect(&w->raw, "487");
	expect_log(&w->near, "end canceled 487 remote;");
	assert_int_equal(session_answer(w->near.session, SLICE("x")), -EINVAL);
}

static void test_cancel_after_the_answer(void **state)
{
	struct world *w = *state;

	start_incoming(w);
	session_answer(w->near.session, SLICE("answer"));
	world_run(w, 0);
	raw_learn(&w->raw, raw_expect(&w->raw, "200"));
	send_cancel(w);
	raw_expect(&w->raw, "200"); /* of the CANCEL: it changes nothing */
	raw_request(&w->raw, "ACK", "", "");
	expect_log(&w->near, "answer [];");
}

static void test_cancel_over_another_link(void **state)
{
	struct world *w = *state;
	struct link *first;

	start_incoming(w);
	first = w->raw.link;
	w->raw.link = NULL;
	raw_dial(w);
	send_cancel(w);
	raw_expect(&w->raw, "481");
	expect_log(&w->near, "");
	link_close(&first);
	world_run(w, 20);
	expect_log(&w->near, "end lost 0;");
}

static void test_offerless_invite(void **state)
{
	struct world *w = *state;

	raw_dial(w);
	raw_request(&w->raw, "INVITE", "", "");
	expect_log(&w->near, "invite +15550100 +15550177 Ann  [];");
	session_answer(w->near.session, SLICE("our offer"));
	world_run(w, 0);
	raw_expect(&w->raw, "100");
	raw_learn(&w->raw, raw_expect(&w->raw, "200"));
	assert_slice(w->raw.message->body, "our offer");
	raw_request(&w->raw, "ACK", "", "their answer");
	expect_log(&w->near, "answer [their answer];");
}

static void test_offerless_invite_without_answer(void **state)
{
	struct world *w = *state;

	w->near.answer = "our offer";
	raw_dial(w);
	raw_request(&w->raw, "INVITE", "", "");
	raw_expect(&w->raw, "100");
	raw_learn(&w->raw, raw_expect(&w->raw, "200"));
	raw_request(&w->raw, "ACK", "", "");
	raw_expect(&w->raw, "BYE");
	expect_log(&w->near, "invite +15550100 +15550177 Ann  [];"
			     "end protocol 0;");
}

static void test_reinvite_with_and_without_sdp(void **state)
{
	struct world *w = *state;

	raw_make_call(w);
	raw_request(&w->raw, "INVITE", "", "hold");
	expect_log(&w->near, "offer [hold];");
	session_answer(w->near.session, SLICE("held"));
	world_run(w, 0);
	assert_slice(raw_expect(&w->raw, "200")->body, "held");
	raw_request(&w->raw, "INVITE", "", "too early");
	raw_expect(&w->raw, "491"); /* the ACK is missing */
	w->raw.cseq--;
	raw_request(&w->raw, "ACK", "", "");
	w->raw.cseq++;
	expect_log(&w->near, "");
	raw_request(&w->raw, "INVITE", "", "");
	expect_log(&w->near, "offer [];");
	session_answer(w->near.session, SLICE("offer"));
	world_run(w, 0);
	raw_expect(&w->raw, "200");
	raw_request(&w->raw, "ACK", "", "theirs");
	expect_log(&w->near, "answer [theirs];");
	raw_expect_none(&w->raw);
}

static void test_reinvite_refused_goes_on(void **state)
{
	struct world *w = *state;

	raw_make_call(w);
	raw_request(&w->raw, "INVITE", "", "no srtp");
	session_refuse(w->near.session, 488);
	world_run(w, 0);
	raw_expect(&w->raw, "488");
	raw_request(&w->raw, "ACK", "", "");
	raw_request(&w->raw, "INVITE", "", "second");
	raw_request(&w->raw, "INVITE", "", "third"); /* 14.2 */
	assert_non_null(
		message_value(raw_expect(&w->raw, "500"), "Retry-After").ptr);
	expect_log(&w->near, "offer [no srtp];offer [second];");
	raw_request(&w->raw, "BYE", "", "");
	raw_expect(&w->raw, "200");
	raw_expect(&w->raw, "487"); /* what was pending */
	expect_log(&w->near, "end hangup 0 remote;");
}

static void test_update(void **state)
{
	struct world *w = *state;

	raw_make_call(w);
	raw_request(&w->raw, "UPDATE", "", "");
	assert_non_null(
		message_value(raw_expect(&w->raw, "200"), "Contact").ptr);
	expect_log(&w->near, "");
	raw_request(&w->raw, "UPDATE", "", "new port");
	expect_log(&w->near, "offer [new port];");
	session_answer(w->near.session, SLICE("fine"));
	world_run(w, 0);
	assert_slice(raw_expect(&w->raw, "200")->body, "fine");
	assert_int_equal(session_offer(w->near.session, SLICE("x")), 0);
}

/* RFC 3311, 5.2: while one UPDATE waits, another gets 500. */
static void test_update_after_update(void **state)
{
	struct world *w = *state;

	raw_make_call(w);
	raw_request(&w->raw, "UPDATE", "", "first");
	raw_request(&w->raw, "UPDATE", "", "second");
	assert_non_null(
		message_value(raw_expect(&w->raw, "500"), "Retry-After").ptr);
	raw_request(&w->raw, "UPDATE", "", "");
	assert_non_null(
		message_value(raw_expect(&w->raw, "500"), "Retry-After").ptr);
	expect_log(&w->near, "offer [first];");
	session_answer(w->near.session, SLICE("fine"));
	world_run(w, 0);
	assert_slice(raw_expect(&w->raw, "200")->body, "fine");
}

/* 504: the owner has not made up its mind in time. */
static void test_update_not_answered(void **state)
{
	struct world *w = *state;

	raw_make_call(w);
	raw_request(&w->raw, "UPDATE", "", "offer");
	world_run(w, 19900);
	raw_expect_none(&w->raw);
	world_run(w, 200);
	raw_expect(&w->raw, "504");
	assert_int_equal(session_answer(w->near.session, SLICE("x")), -EINVAL);
	raw_request(&w->raw, "UPDATE", "", "offer"); /* all goes on */
	session_refuse(w->near.session, 488);
	world_run(w, 0);
	raw_expect(&w->raw, "488");
}

static void test_update_refused_goes_on(void **state)
{
	struct world *w = *state;

	raw_make_call(w);
	raw_request(&w->raw, "UPDATE", "", "no srtp");
	session_refuse(w->near.session, 488);
	world_run(w, 0);
	assert_non_null(
		message_value(raw_expect(&w->raw, "488"), "Accept").ptr);
	raw_request(&w->raw, "INVITE", "", "srtp");
	expect_log(&w->near, "offer [no srtp];offer [srtp];");
}

/* An UPDATE without SDP has nothing to do with our own offer. */
static void test_update_beside_our_offer(void **state)
{
	struct world *w = *state;
	struct sip_message *invite;

	raw_take_call(w);
	session_offer(w->near.session, SLICE("mine"));
	world_run(w, 0);
	invite = sip_message_ref(raw_expect(&w->raw, "INVITE"));
	raw_request(&w->raw, "UPDATE", "", "yours");
	raw_expect(&w->raw, "491");
	raw_request(&w->raw, "UPDATE", "", "");
	raw_expect(&w->raw, "200");
	raw_reply(&w->raw, invite, 200, contact, "answer");
	raw_expect(&w->raw, "ACK");
	expect_log(&w->near, "answer [answer];");
	sip_message_unref(&invite);
}

/* An UPDATE without SDP from this Contact. */
static void move_to(struct world *w, const char *user)
{
	char text[1200];

	snprintf(text, sizeof(text),
		 "UPDATE %s SIP/2.0\r\n"
		 "Via: SIP/2.0/TLS 127.0.0.1:5065;branch=z9hG4bKmove;rport\r\n"
		 "From: %s\r\nTo: %s\r\nCall-ID: %s\r\nCSeq: %u UPDATE\r\n"
		 "Contact: <sip:%s@127.0.0.1:5065;transport=tls>\r\n"
		 "Content-Length: 0\r\n\r\n",
		 w->raw.target, w->raw.local, w->raw.remote, w->raw.call_id,
		 ++w->raw.cseq, user);
	raw_write(&w->raw, slice_of(text));
}

static void test_update_before_our_answer(void **state)
{
	struct world *w = *state;

	start_incoming(w);
	session_ring(w->near.session);
	world_run(w, 0);
	raw_learn(&w->raw, raw_expect(&w->raw, "180"));
	raw_request(&w->raw, "UPDATE", "", "offer"); /* theirs is open */
	assert_non_null(
		message_value(raw_expect(&w->raw, "500"), "Retry-After").ptr);
	move_to(w, "moved");
	assert_null(message_value(raw_expect(&w->raw, "200"), "Session-Expires")
			    .ptr); /* none runs before the answer */
	session_answer(w->near.session, SLICE("answer"));
	world_run(w, 0);
	raw_expect(&w->raw, "200");
	w->raw.cseq = 1;
	raw_request(&w->raw, "ACK", "", "");
	expect_log(&w->near, "answer [];");
	session_hangup(w->near.session, NULL);
	world_run(w, 0);
	assert_slice(raw_expect(&w->raw, "BYE")->start.target,
		     "sip:moved@127.0.0.1:5065;transport=tls");
}

/* row: re-INVITE. The same INVITE once more, and one whose number is used. */
static void test_reinvite_comes_again(void **state)
{
	struct world *w = *state;

	raw_make_call(w);
	raw_request(&w->raw, "INVITE", "", "hold");
	w->raw.branches--;
	w->raw.cseq--;
	raw_request(&w->raw, "INVITE", "", "hold"); /* the same branch */
	raw_expect_none(&w->raw);
	w->raw.cseq--;
	raw_request(&w->raw, "INVITE", "", "hold"); /* another */
	raw_expect(&w->raw, "500");
	session_answer(w->near.session, SLICE("held"));
	world_run(w, 0);
	assert_slice(raw_expect(&w->raw, "200")->body, "held");
	raw_request(&w->raw, "ACK", "", "");
	raw_request(&w->raw, "ACK", "", "");
	world_run(w, 40000);
	raw_expect_none(&w->raw);
	expect_log(&w->near, "offer [hold];");
}

static void test_reinvite_without_ack_ends(void **state)
{
	struct world *w = *state;
	const struct sip_message *last = NULL;

	raw_make_call(w);
	raw_request(&w->raw, "INVITE", "", "hold");
	session_answer(w->near.session, SLICE("held"));
	world_run(w, 31900);
	expect_log(&w->near, "offer [hold];");
	world_run(w, 200);
	expect_log(&w->near, "end timed out 0;");
	for (int i = 0; i < 12; i++)
		last = raw_take(&w->raw);
	assert_true(last && last->start.method == SIP_BYE);
}

static void test_reinvite_meets_ours(void **state)
{
	struct world *w = *state;

	raw_take_call(w);
	session_offer(w->near.session, SLICE("mine"));
	world_run(w, 0);
	raw_expect(&w->raw, "INVITE");
	raw_request(&w->raw, "INVITE", "", "yours");
	raw_expect(&w->raw, "491");
}

static void test_target_is_refreshed(void **state)
{
	struct world *w = *state;

	raw_make_call(w);
	move_to(w, "elsewhere");
	raw_expect(&w->raw, "200");
	session_hangup(w->near.session, "SIP;cause=200;text=\"bye\"");
	world_run(w, 0);
	raw_expect(&w->raw, "BYE");
	assert_slice(w->raw.message->start.target,
		     "sip:elsewhere@127.0.0.1:5065;transport=tls");
	assert_slice(message_value(w->raw.message, "Reason"),
		     "SIP;cause=200;text=\"bye\"");
}

static void test_reason_cannot_inject(void **state)
{
	struct world *w = *state;

	raw_make_call(w);
	session_hangup(w->near.session, "SIP\r\nX: 1");
	world_run(w, 0);
	raw_expect(&w->raw, "BYE");
	assert_null(message_value(w->raw.message, "X").ptr);
	assert_null(message_value(w->raw.message, "Reason").ptr);
}

static void test_incoming_link_lost_then_bye(void **state)
{
	struct world *w = *state;

	raw_make_call(w);
	raw_listen(w, w->tls);
	raw_cut(&w->raw);
	world_run(w, 50);
	expect_log(&w->near, "");
	session_hangup(w->near.session, NULL);
	world_run(w, 50);
	assert_int_equal(w->raw.accepts, 1); /* verified host of Contact */
	raw_reply(&w->raw, raw_expect(&w->raw, "BYE"), 200, "", "");
	expect_log(&w->near, "end hangup 0;");
}

static void test_old_cseq(void **state)
{
	struct world *w = *state;

	raw_make_call(w);
	w->raw.cseq = 10;
	raw_request(&w->raw, "UPDATE", "", "");
	raw_expect(&w->raw, "200");
	w->raw.cseq = 5;
	raw_request(&w->raw, "UPDATE", "", "");
	raw_expect(&w->raw, "500");
	w->raw.cseq = 10;
	raw_request(&w->raw, "BYE", "", ""); /* the same once more */
	raw_expect(&w->raw, "500");
	raw_request(&w->raw, "BYE", "", "");
	raw_expect(&w->raw, "200");
}

/* ---- session_close() in every state ---- */

static void test_close_while_connecting(void **state)
{
	struct world *w = *state;

	raw_listen(w, w->tls);
	side_call(w, RAW_PORT, &(struct session_call){ 0 });
	session_close(&w->near.session);
	world_run(w, 50);
	raw_expect_none(&w->raw);
	expect_log(&w->near, "");
}

static void test_close_before_a_provisional(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = sip_message_ref(start_plain_call(w));

	session_close(&w->near.session);
	raw_reply(&w->raw, invite, 200, contact, "late");
	raw_expect(&w->raw, "ACK");
	raw_reply(&w->raw, raw_expect(&w->raw, "BYE"), 200, "", "");
	raw_expect_none(&w->raw);
	expect_log(&w->near, "");
	sip_message_unref(&invite);
}

static void test_close_while_ringing(void **state)
{
	struct world *w = *state;
	struct sip_message *invite = sip_message_ref(start_plain_call(w));

	raw_reply(&w->raw, invite, 180, contact, "");
	session_close(&w->near.session);
	world_run(w, 10);
	raw_reply(&w->raw, raw_expect(&w->raw, "CANCEL"), 200, "", "");
	raw_reply(&w->raw, invite, 487, "", "");
	raw_expect(&w->raw, "ACK");
	expect_log(&w->near, "progress 180 [];");
	sip_message_unref(&invite);
}

static void test_close_while_up_and_nobody_answers(void **state)
{
	struct world *w = *state;

	raw_take_call(w);
	session_close(&w->near.session);
	world_run(w, 10);
	raw_expect(&w->raw, "BYE");
	world_run(w, 40000);
	expect_log(&w->near, "");
}

static void test_close_while_offering(void **state)
{
	struct world *w = *state;

	raw_take_call(w);
	session_offer(w->near.session, SLICE("hold"));
	session_close(&w->near.session);
	world_run(w, 10);
	raw_expect(&w->raw, "INVITE");
	raw_expect(&w->raw, "BYE");
}

static void test_close_incoming(void **state)
{
	struct world *w = *state;

	start_incoming(w);
	session_close(&w->near.session);
	world_run(w, 10);
	raw_expect(&w->raw, "480");
	expect_log(&w->near, "");
}

static void test_close_inside_on_invite(void **state)
{
	struct world *w = *state;

	w->near.closes_in_invite = true;
	raw_dial(w);
	raw_request(&w->raw, "INVITE", "", "offer");
	raw_expect(&w->raw, "100");
	raw_expect(&w->raw, "480");
}

static void test_close_answered(void **state)
{
	struct world *w = *state;

	start_incoming(w);
	session_answer(w->near.session, SLICE("answer"));
	session_close(&w->near.session);
	world_run(w, 10);
	raw_learn(&w->raw, raw_expect(&w->raw, "200"));
	raw_request(&w->raw, "ACK", "", "");
	raw_reply(&w->raw, raw_expect(&w->raw, "BYE"), 200, "", "");
	expect_log(&w->near, "");
}

static void test_close_answered_and_lost(void **state)
{
	struct world *w = *state;

	start_incoming(w);
	session_answer(w->near.session, SLICE("answer"));
	session_close(&w->near.session);
	raw_cut(&w->raw);
	world_run(w, 40000);
	expect_log(&w->near, "");
}

static void test_ua_closes_over_open_sessions(void **state)
{
	struct world *w = *state;

	raw_take_call(w);
	session_offer(w->near.session, SLICE("hold"));
	session_close(&w->near.session);
	side_call(w, RAW_PORT, &(struct session_call){ 0 });
	session_close(&w->near.session);
	side_call(w, 5999, &(struct session_call){ 0 });
	session_close(&w->near.session);
	buffer_clear(&w->raw.got);
	w->raw.call_id[0] = '\0';
	start_incoming(w);
	session_close(&w->near.session);
	ua_close(&w->near.ua);
}

#define with_world(test)                                                       \
	cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_world(test_call_from_end_to_end),
		with_world(test_called_side_hangs_up),
		with_world(test_offers_inside_the_dialog),
		with_world(test_glare_is_settled),
		with_world(test_invite_as_written),
		with_world(test_invite_of_a_referral),
		with_world(test_headers_cannot_inject),
		with_world(test_numbers_cannot_inject),
		with_world(test_rejections),
		with_world(test_digest),
		with_world(test_digest_gives_up),
		with_world(test_digest_refused),
		with_world(test_no_credentials_for_the_challenge),
		with_world(test_redirect_by_q),
		with_world(test_redirect_ends_with_a_global_failure),
		with_world(test_redirect_in_a_circle_ends),
		with_world(test_redirect_elsewhere_is_refused),
		with_world(test_early_media_and_second_183),
		with_world(test_answer_without_sdp_ends),
		with_world(test_ring_timeout),
		with_world(test_ring_timeout_without_any_final),
		with_world(test_no_provisional_no_cancel),
		with_world(test_cancel_crosses_the_answer),
		with_world(test_answer_comes_again),
		with_world(test_forks),
		with_world(test_nobody_answers),
		with_world(test_unreachable),
		with_world(test_untrusted),
		with_world(test_wrong_name),
		with_world(test_link_lost_before_the_answer),
		with_world(test_link_lost_after_the_answer),
		with_world(test_link_lost_for_good),
		with_world(test_link_lost_and_nobody_to_trust),
		with_world(test_dialog_keeps_its_link),
		with_world(test_link_lost_under_our_offer),
		with_world(test_our_offer_is_not_known),
		with_world(test_answer_to_our_offer_comes_again),
		with_world(test_answer_to_our_offer_without_sdp),
		with_world(test_no_answer_to_our_offer),
		with_world(test_our_offer_is_given_up),
		with_world(test_endless_glare),
		with_world(test_their_offer_while_we_wait_after_glare),
		with_world(test_offers_too_large),
		with_world(test_incoming_ring_and_refuse),
		with_world(test_answer_repeats_until_ack),
		with_world(test_no_ack_at_all),
		with_world(test_hangup_before_ack_waits),
		with_world(test_incoming_canceled),
		with_world(test_cancel_after_the_answer),
		with_world(test_cancel_over_another_link),
		with_world(test_offerless_invite),
		with_world(test_offerless_invite_without_answer),
		with_world(test_reinvite_with_and_without_sdp),
		with_world(test_reinvite_refused_goes_on),
		with_world(test_update),
		with_world(test_update_after_update),
		with_world(test_update_not_answered),
		with_world(test_update_refused_goes_on),
		with_world(test_update_beside_our_offer),
		with_world(test_update_before_our_answer),
		with_world(test_reinvite_comes_again),
		with_world(test_reinvite_without_ack_ends),
		with_world(test_reinvite_meets_ours),
		with_world(test_target_is_refreshed),
		with_world(test_reason_cannot_inject),
		with_world(test_incoming_link_lost_then_bye),
		with_world(test_old_cseq),
		with_world(test_close_while_connecting),
		with_world(test_close_before_a_provisional),
		with_world(test_close_while_ringing),
		with_world(test_close_while_up_and_nobody_answers),
		with_world(test_close_while_offering),
		with_world(test_close_incoming),
		with_world(test_close_inside_on_invite),
		with_world(test_close_answered),
		with_world(test_close_answered_and_lost),
		with_world(test_ua_closes_over_open_sessions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
