/* SPDX-License-Identifier: MIT */
/* Every request method and an answer of every class in every state of dialog,
 * session and offer: what is sent and what the state is then. Rows: dialogs,
 * methods, INVITE in, INVITE out, re-INVITE; RFC 3261, 9, 12-15; RFC 3311, 5.2;
 * a re-INVITE after BYE (CVE-2021-31878). Complete by construction: a method,
 * status, session state or offer state without its row or column fails, as does
 * a cell left empty. */
#include "fixture_ua.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fixture_text.h"
#include "sip/client_transaction.h"
#include "sip/server_transaction.h"
#include "sip/session_priv.h"

#define CONTACT "Contact: <sip:raw@127.0.0.1:5065;transport=tls>\r\n"
/* What REFER and NOTIFY need, and nobody else minds. */
#define REFERRAL_LINES                                                         \
	"Refer-To: <sip:1@trunk.test>\r\n"                                     \
	"Event: refer\r\nSubscription-State: active\r\n"

/* One column each. */
enum stage {
	INVITING, /* ours is out, nobody has answered */
	EARLY, /* 183 made an early dialog */
	CANCELING, /* and we gave up */
	INCOMING, /* inside on_invite */
	PENDING, /* ringing */
	PENDING_WANTED, /* the same, offerless */
	ANSWERED, /* 200 sent, no ACK */
	ANSWERED_OURS, /* with our offer in it */
	LEAVING, /* hung up before the ACK */
	UP_CALLER,
	UP_CALLEE,
	UP_LOCAL, /* our re-INVITE is out */
	UP_REMOTE, /* their re-INVITE waits for the owner */
	UP_WANTED, /* an offerless one */
	UP_UPDATE, /* their UPDATE with SDP */
	UP_ACK, /* their re-INVITE has its 200 */
	UP_LOCAL_2XX, /* their offerless one, our offer in the 200 */
	ENDING, /* hung up just now */
	ENDED, /* our BYE waits for its answer */
	ENDED_REMOTE, /* they said BYE; the owner still holds the session */
	GONE, /* and has closed it */
	STAGES
};

/* A stage and what it took. */
struct scene {
	struct world *w;
	struct sip_message *ours; /* owned: our request to answer, or NULL */
	char branch[40]; /* of their last INVITE */
	unsigned cseq;
	unsigned to_skip; /* messages of ours that belong to the stage */
	unsigned uses; /* events it has seen */
	char sent[200]; /* by us, "491 BYE"; then ">state/offer" */
};

/* ---- to the stages ---- */

static void keep(struct scene *s, const char *what)
{
	sip_message_unref(&s->ours);
	s->ours = sip_message_ref(raw_expect(&s->w->raw, what));
}

static void invite(struct scene *s, const char *body)
{
	raw_request(&s->w->raw, "INVITE", "", body);
	snprintf(s->branch, sizeof(s->branch), "%s", s->w->raw.branch);
	s->cseq = s->w->raw.cseq;
}

static void to_inviting(struct scene *s)
{
	raw_listen(s->w, s->w->tls);
	side_call(s->w, RAW_PORT, &(struct session_call){ 0 });
	world_run(s->w, 50);
	keep(s, "INVITE");
	raw_learn(&s->w->raw, s->ours);
}

static void to_early(struct scene *s)
{
	to_inviting(s);
	raw_reply(&s->w->raw, s->ours, 183, CONTACT, "early");
}

static void to_canceling(struct scene *s)
{
	to_early(s);
	session_hangup(s->w->near.session, NULL);
	world_run(s->w, 0);
	raw_expect(&s->w->raw, "CANCEL");
}

static void to_incoming(struct scene *s)
{
	raw_dial(s->w);
	s->w->near.invite_status = 486;
}

static void ring(struct scene *s, const char *body)
{
	raw_dial(s->w);
	invite(s, body);
	raw_expect(&s->w->raw, "100");
	session_ring(s->w->near.session);
	world_run(s->w, 0);
	raw_learn(&s->w->raw, raw_expect(&s->w->raw, "180"));
}

static void to_pending(struct scene *s)
{
	ring(s, "offer");
}

static void to_pending_wanted(struct scene *s)
{
	ring(s, "");
}

static void answer(struct scene *s)
{
	assert_int_equal(session_answer(s->w->near.session, SLICE("answer")),
			 0);
	world_run(s->w, 0);
	raw_expect(&s->w->raw, "200");
}

static void to_answered(struct scene *s)
{
	ring(s, "offer");
	answer(s);
}

static void to_answered_ours(struct scene *s)
{
	ring(s, "");
	answer(s);
}

static void to_leaving(struct scene *s)
{
	to_answered(s);
	session_hangup(s->w->near.session, NULL);
}

static void to_up_caller(struct scene *s)
{
	to_inviting(s);
	raw_reply(&s->w->raw, s->ours, 200, CONTACT, "answer");
	raw_expect(&s->w->raw, "ACK");
}

static void to_up_callee(struct scene *s)
{
	to_answered(s);
	raw_request(&s->w->raw, "ACK", "", "");
}

static void to_up_local(struct scene *s)
{
	to_up_callee(s);
	session_offer(s->w->near.session, SLICE("offer"));
	world_run(s->w, 0);
	keep(s, "INVITE");
}

static void to_up_remote(struct scene *s)
{
	to_up_callee(s);
	invite(s, "offer");
}

static void to_up_wanted(struct scene *s)
{
	to_up_callee(s);
	invite(s, "");
}

static void to_up_update(struct scene *s)
{
	to_up_callee(s);
	raw_request(&s->w->raw, "UPDATE", "", "offer");
}

static void to_up_ack(struct scene *s)
{
	to_up_remote(s);
	answer(s);
}

static void to_up_local_2xx(struct scene *s)
{
	to_up_wanted(s);
	answer(s);
}

/* No turn has passed: the BYE is on its way, on_end not told. */
static void to_ending(struct scene *s)
{
	to_up_callee(s);
	session_hangup(s->w->near.session, NULL);
	s->to_skip = 1;
}

static void to_ended(struct scene *s)
{
	to_up_callee(s);
	session_hangup(s->w->near.session, NULL);
	world_run(s->w, 0);
	keep(s, "BYE");
}

static void to_ended_remote(struct scene *s)
{
	to_up_callee(s);
	raw_request(&s->w->raw, "BYE", "", "");
	raw_expect(&s->w->raw, "200");
}

static void to_gone(struct scene *s)
{
	to_ended_remote(s);
	session_close(&s->w->near.session);
	world_run(s->w, 0);
}

static const struct {
	const char *name;
	void (*reach)(struct scene *s);
	enum session_state state; /* GONE: none */
	enum offer_state offer;
} stages[STAGES] = {
	[INVITING] = { "inviting", to_inviting, SESSION_INVITING, OFFER_LOCAL },
	[EARLY] = { "early", to_early, SESSION_INVITING, OFFER_LOCAL },
	[CANCELING] = { "canceling", to_canceling, SESSION_INVITING,
			OFFER_LOCAL },
	[INCOMING] = { "incoming", to_incoming, SESSION_INCOMING,
		       OFFER_REMOTE },
	[PENDING] = { "pending", to_pending, SESSION_PENDING, OFFER_REMOTE },
	[PENDING_WANTED] = { "pending, offerless", to_pending_wanted,
			     SESSION_PENDING, OFFER_WANTED },
	[ANSWERED] = { "answered", to_answered, SESSION_ANSWERED, OFFER_ACK },
	[ANSWERED_OURS] = { "answered, our offer", to_answered_ours,
			    SESSION_ANSWERED, OFFER_LOCAL_2XX },
	[LEAVING] = { "leaving", to_leaving, SESSION_LEAVING, OFFER_ACK },
	[UP_CALLER] = { "up as caller", to_up_caller, SESSION_UP,
			OFFER_STABLE },
	[UP_CALLEE] = { "up as callee", to_up_callee, SESSION_UP,
			OFFER_STABLE },
	[UP_LOCAL] = { "up, our offer", to_up_local, SESSION_UP, OFFER_LOCAL },
	[UP_REMOTE] = { "up, their offer", to_up_remote, SESSION_UP,
			OFFER_REMOTE },
	[UP_WANTED] = { "up, offerless", to_up_wanted, SESSION_UP,
			OFFER_WANTED },
	[UP_UPDATE] = { "up, their UPDATE", to_up_update, SESSION_UP,
			OFFER_REMOTE },
	[UP_ACK] = { "up, no ACK", to_up_ack, SESSION_UP, OFFER_ACK },
	[UP_LOCAL_2XX] = { "up, our offer in 200", to_up_local_2xx, SESSION_UP,
			   OFFER_LOCAL_2XX },
	[ENDING] = { "ending", to_ending, SESSION_ENDING, OFFER_STABLE },
	[ENDED] = { "ended", to_ended, SESSION_ENDED, OFFER_STABLE },
	[ENDED_REMOTE] = { "ended by them", to_ended_remote, SESSION_ENDED,
			   OFFER_STABLE },
	[GONE] = { "gone", to_gone, SESSION_ENDED, OFFER_STABLE },
};

/* ---- the events ---- */

/* A request of the peer's in this dialog of ours. */
static void write_request(struct buffer *out, const struct dialog *dialog,
			  struct slice method, struct slice body)
{
	buffer_add(out, method);
	buffer_printf(out,
		      " sip:x@near.test SIP/2.0\r\n"
		      "Via: SIP/2.0/TLS 127.0.0.1:5065;branch=z9hG4bKin;rport"
		      "\r\nMax-Forwards: 70\r\nFrom: %s\r\nTo: %s\r\n"
		      "Call-ID: %s\r\n" CONTACT REFERRAL_LINES "CSeq: %u ",
		      dialog->remote, dialog->local, dialog->id.call_id,
		      (unsigned)dialog->remote_cseq + 1);
	buffer_add(out, method);
	buffer_printf(out,
		      "\r\nContent-Type: application/sdp\r\n"
		      "Content-Length: %zu\r\n\r\n",
		      body.len);
	buffer_add(out, body);
}

/* As the UA would, when no turn may pass (sip/ua.c: on_request()). */
static void deliver(struct session *session, const char *text)
{
	struct dialog *dialog = session->dialog;
	struct ua *ua = session->ua;
	struct sip_message *message;
	const char *why;

	assert_int_equal(sip_message_parse(&message, slice_of(text), &why), 0);
	if (dialog_on_request(dialog, dialog->link, message))
		ua_respond(ua, dialog->link, message, 500, SLICE(""));
	else if (message->start.method == SIP_ACK ||
		 !ua_has_answered(ua, dialog->link, message))
		dialog->on_request(dialog->user, dialog, message);
	sip_message_unref(&message);
}

/* Inside on_invite. What side.answer holds is what comes: "METHOD body". */
static void on_invited(struct side *side, struct session *session)
{
	struct slice body = slice_of(side->answer);
	struct slice method = slice_cut(&body, ' ');
	struct buffer text;

	buffer_init(&text, 4096);
	write_request(&text, session->dialog, method, body);
	deliver(session, buffer_str(&text));
	assert_int_equal(session->state, SESSION_INCOMING);
	buffer_reset(&text);
}

static void send_inside(struct scene *s, const char *method, const char *body)
{
	char what[40];

	snprintf(what, sizeof(what), "%s %s", method, body);
	s->w->near.answer = what;
	s->w->near.on_invited = on_invited;
	s->to_skip = 1; /* the 100 */
	invite(s, "offer");
}

static void send_now(struct scene *s, const char *method, const char *body)
{
	struct buffer text;

	buffer_init(&text, 4096);
	write_request(&text, s->w->near.session->dialog, slice_of(method),
		      slice_of(body));
	deliver(s->w->near.session, buffer_str(&text));
	buffer_reset(&text);
}

/* Of their last INVITE, or of none. */
static void send_cancel(struct scene *s)
{
	struct raw *raw = &s->w->raw;
	char text[1200];

	snprintf(text, sizeof(text),
		 "CANCEL sip:x@near.test SIP/2.0\r\n"
		 "Via: SIP/2.0/TLS 127.0.0.1:5065;branch=%s;rport\r\n"
		 "From: %s\r\nTo: <sip:+15550100@near.test>\r\n"
		 "Call-ID: %s\r\nCSeq: %u CANCEL\r\nContent-Length: 0\r\n\r\n",
		 s->branch[0] ? s->branch : "z9hG4bKnone", raw->local,
		 raw->call_id, s->cseq);
	raw_write(raw, slice_of(text));
}

static void send_request(struct scene *s, enum stage stage, const char *method,
			 const char *body)
{
	if (stage == INCOMING)
		send_inside(s, method, body);
	else if (stage == ENDING)
		send_now(s, method, body);
	else if (!strcmp(method, "CANCEL"))
		send_cancel(s);
	else
		raw_request(&s->w->raw, method, REFERRAL_LINES, body);
}

/* One that we never sent. */
static struct sip_message *stray_request(void)
{
	struct sip_message *request;
	const char *why;

	assert_int_equal(
		sip_message_parse(
			&request,
			SLICE("INVITE sip:x@near.test SIP/2.0\r\n"
			      "Via: SIP/2.0/TLS near.test;branch=z9hG4bKno\r\n"
			      "From: <sip:a@near.test>;tag=a\r\n"
			      "To: <sip:b@trunk.test>\r\nCall-ID: no\r\n"
			      "CSeq: 1 INVITE\r\nContent-Length: 0\r\n\r\n"),
			&why),
		0);
	return request;
}

static void send_response(struct scene *s, int status)
{
	if (!s->ours)
		s->ours = stray_request();
	raw_reply(&s->w->raw, s->ours, status,
		  CONTACT "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\""
			  "\r\nMin-SE: 2000\r\n",
		  s->ours->start.method == SIP_BYE ? "" : "sdp");
}

/* ---- what came of it ---- */

static void name_state(const struct session *session, char *out, size_t size)
{
	static const char *const states[] = {
		[SESSION_INVITING] = "inviting",
		[SESSION_INCOMING] = "incoming",
		[SESSION_PENDING] = "pending",
		[SESSION_ANSWERED] = "answered",
		[SESSION_LEAVING] = "leaving",
		[SESSION_UP] = "up",
		[SESSION_ENDING] = "ending",
		[SESSION_ENDED] = "ended",
	};
	static const char *const offers[] = {
		[OFFER_STABLE] = "",	    [OFFER_LOCAL] = "/local",
		[OFFER_REMOTE] = "/remote", [OFFER_WANTED] = "/wanted",
		[OFFER_ACK] = "/ack",	    [OFFER_LOCAL_2XX] = "/local 2xx",
	};

	if (!session)
		snprintf(out, size, "gone");
	else if (session->state == SESSION_UP)
		snprintf(out, size, "up%s", offers[session->offer.state]);
	else
		snprintf(out, size, "%s", states[session->state]);
}

static void note_sent(struct scene *s)
{
	const struct sip_message *message;
	char word[40];

	while ((message = raw_take(&s->w->raw))) {
		if (s->to_skip) {
			s->to_skip--;
			continue;
		}
		if (message->start.is_request)
			snprintf(word, sizeof(word), "%.*s ",
				 (int)message->start.method_text.len,
				 message->start.method_text.ptr);
		else
			snprintf(word, sizeof(word), "%d ",
				 message->start.status);
		strncat(s->sent, word, sizeof(s->sent) - strlen(s->sent) - 1);
	}
}

static void scene_open(struct scene *s, void **state, enum stage stage)
{
	memset(s, 0, sizeof(*s));
	world_setup(state);
	s->w = *state;
	stages[stage].reach(s);
	if (stage == INCOMING || stage == GONE)
		return;
	assert_int_equal(s->w->near.session->state, stages[stage].state);
	assert_int_equal(s->w->near.session->offer.state, stages[stage].offer);
}

/* A row of either table. */
struct event {
	const char *method; /* NULL: a response */
	const char *body;
	int status;
	const char *cells[STAGES];
};

static void scene_close(struct scene *s, void **state)
{
	if (!s->w)
		return;
	sip_message_unref(&s->ours);
	s->w = NULL;
	world_teardown(state); /* no count is left, nor any memory */
}

/* May the next event find the scene as the last one found it? Not once
 * anything but a refusal or silence came of it, and not before our 2xx goes
 * again, 500 ms after the first. */
static bool is_as_before(const struct scene *s, enum stage stage,
			 const struct event *event)
{
	static const unsigned fresh = 1u << INVITING | 1u << EARLY |
				      1u << CANCELING | 1u << UP_CALLER |
				      1u << UP_LOCAL;

	if (!s->w || s->uses >= 6 || stage == INCOMING || stage == ENDING)
		return false;
	if (!event->method && fresh & 1u << stage)
		return false;
	if (event->method &&
	    (!strcmp(event->method, "ACK") || !strcmp(event->method, "CANCEL")))
		return false;
	return !s->sent[0] ||
	       (strlen(s->sent) == 3 && s->sent[0] >= '2' && s->sent[0] <= '5');
}

/* Brings it and notes "491 BYE >up/local"; no state: as before. */
static void run(void **state, struct scene *s, enum stage stage,
		const struct event *event)
{
	char before[40], after[40];

	if (!is_as_before(s, stage, event)) {
		scene_close(s, state);
		scene_open(s, state, stage);
	}
	s->uses++;
	s->sent[0] = '\0';
	name_state(s->w->near.session, before, sizeof(before));
	if (stage == ENDING)
		snprintf(before, sizeof(before), "ended");
	if (event->method)
		send_request(s, stage, event->method, event->body);
	else
		send_response(s, event->status);
	world_run(s->w, 20);
	note_sent(s);
	name_state(s->w->near.session, after, sizeof(after));
	if (strcmp(before, after) != 0) {
		strcat(s->sent, ">");
		strcat(s->sent, after);
	} else if (s->sent[0]) {
		s->sent[strlen(s->sent) - 1] = '\0';
	}
}

/* ---- the tables ---- */

/* A cell says what we send, then the state after ">" if it is another. NEVER:
 * nothing can come between two lines of one callback. */
#define NEVER "-"

static const struct event requests[] = {
	{ "INVITE",
	  "x",
	  0,
	  { [INVITING] = "481", /* no tag of ours went to anybody */
	    [EARLY] = "491",
	    [CANCELING] = "481",
	    [INCOMING] = "500 486",
	    [PENDING... PENDING_WANTED] = "500", /* 14.2 */
	    [ANSWERED... LEAVING] = "491",
	    [UP_CALLER... UP_CALLEE] = ">up/remote",
	    [UP_LOCAL] = "491",
	    [UP_REMOTE... UP_UPDATE] = "500",
	    [UP_ACK... UP_LOCAL_2XX] = "491",
	    [ENDING... GONE] = "481" } },
	{ "INVITE",
	  "",
	  0,
	  { [INVITING] = "481",
	    [EARLY] = "491",
	    [CANCELING] = "481",
	    [INCOMING] = "500 486",
	    [PENDING... PENDING_WANTED] = "500",
	    [ANSWERED... LEAVING] = "491",
	    [UP_CALLER... UP_CALLEE] = ">up/wanted",
	    [UP_LOCAL] = "491",
	    [UP_REMOTE... UP_UPDATE] = "500",
	    [UP_ACK... UP_LOCAL_2XX] = "491",
	    [ENDING... GONE] = "481" } },
	{ "ACK",
	  "",
	  0,
	  { [INVITING... CANCELING] = "",
	    [INCOMING] = "486",
	    [PENDING... PENDING_WANTED] = "",
	    [ANSWERED] = ">up",
	    [ANSWERED_OURS] = "BYE >ended", /* 13.2.2.4: no answer in it */
	    [LEAVING] = "BYE >ended",
	    [UP_CALLER... UP_UPDATE] = "",
	    [UP_ACK] = ">up",
	    [UP_LOCAL_2XX] = "BYE >ended",
	    [ENDING... GONE] = "" } },
	{ "ACK",
	  "x",
	  0,
	  { [INVITING... CANCELING] = "",
	    [INCOMING] = "486",
	    [PENDING... PENDING_WANTED] = "",
	    [ANSWERED... ANSWERED_OURS] = ">up",
	    [LEAVING] = "BYE >ended",
	    [UP_CALLER... UP_UPDATE] = "",
	    [UP_ACK... UP_LOCAL_2XX] = ">up",
	    [ENDING... GONE] = "" } },
	{ "BYE",
	  "",
	  0,
	  { [INVITING... CANCELING] = "481", /* 15: not the callee's to send */
	    [INCOMING] = "200 486",
	    [PENDING... PENDING_WANTED] = "200 487 >ended", /* 15.1.2 */
	    [ANSWERED... UP_LOCAL] = "200 >ended",
	    [UP_REMOTE... UP_UPDATE] = "200 487 >ended",
	    [UP_ACK... UP_LOCAL_2XX] = "200 >ended",
	    [ENDING... ENDED_REMOTE] = "200", /* two BYEs that crossed */
	    [GONE] = "481" } },
	{ "CANCEL", /* of their last INVITE */
	  "",
	  0,
	  { [INVITING... CANCELING] = "481",
	    [INCOMING] = NEVER,
	    [PENDING... PENDING_WANTED] = "200 487 >ended",
	    [ANSWERED... LEAVING] = "200", /* 9.2: without effect */
	    [UP_CALLER] = "481",
	    [UP_CALLEE... UP_LOCAL] = "200",
	    [UP_REMOTE... UP_WANTED] = "200 487 >up",
	    [UP_UPDATE... UP_LOCAL_2XX] = "200",
	    [ENDING] = NEVER,
	    [ENDED... GONE] = "200" } },
	{ "OPTIONS",
	  "",
	  0,
	  { [INVITING] = "481",
	    [EARLY... CANCELING] = "200",
	    [INCOMING] = "200 486",
	    [PENDING... ENDED_REMOTE] = "200",
	    [GONE] = "481" } },
	{ "REFER",
	  "",
	  0,
	  { [INVITING] = "481",
	    [EARLY] = "491",
	    [CANCELING] = "481",
	    [INCOMING] = "491 486",
	    [PENDING... ANSWERED_OURS] = "491",
	    [LEAVING] = "481",
	    [UP_CALLER... UP_LOCAL_2XX] = "202 NOTIFY",
	    [ENDING... GONE] = "481" } },
	{ "NOTIFY", /* of no subscription */
	  "",
	  0,
	  { [INVITING... CANCELING] = "481",
	    [INCOMING] = "481 486",
	    [PENDING... GONE] = "481" } },
	{ "UPDATE",
	  "x",
	  0,
	  { [INVITING] = "481",
	    [EARLY] = "491", /* RFC 3311, 5.2: our offer is open */
	    [CANCELING] = "481",
	    [INCOMING] = "500 486",
	    [PENDING... PENDING_WANTED] = "500", /* theirs is */
	    [ANSWERED... LEAVING] = "491",
	    [UP_CALLER... UP_CALLEE] = ">up/remote",
	    [UP_LOCAL] = "491",
	    [UP_REMOTE... UP_UPDATE] = "500",
	    [UP_ACK... UP_LOCAL_2XX] = "491",
	    [ENDING... GONE] = "481" } },
	{ "UPDATE",
	  "",
	  0,
	  { [INVITING] = "481",
	    [EARLY] = "200",
	    [CANCELING] = "481",
	    [INCOMING] = "200 486",
	    [PENDING... UP_WANTED] = "200",
	    [UP_UPDATE] = "500", /* one after the other */
	    [UP_ACK... UP_LOCAL_2XX] = "200",
	    [ENDING... GONE] = "481" } },
#define UNTAKEN(method, status)                                                \
	{                                                                      \
		method, "", 0,                                                 \
		{                                                              \
			[INVITING... CANCELING] = status,                      \
				     [INCOMING] = status " 486",               \
				     [PENDING... GONE] = status                \
		}                                                              \
	}
	UNTAKEN("INFO", "405"),
	UNTAKEN("PRACK", "405"),
	UNTAKEN("REGISTER", "405"),
	UNTAKEN("SUBSCRIBE", "405"),
	UNTAKEN("MESSAGE", "405"),
	UNTAKEN("PUBLISH", "405"),
	UNTAKEN("FROB", "501"),
};

/* To our request where there is one: the INVITE in INVITING to CANCELING and,
 * late, in UP_CALLER; the re-INVITE in UP_LOCAL; the BYE in ENDED. Elsewhere to
 * nothing we asked, which gets no attention. */
#define RESPONSE(status, to_new, to_canceled, to_late, to_ours)                \
	{                                                                      \
		NULL, NULL, status,                                            \
		{                                                              \
			[INVITING...                                           \
				EARLY] = to_new,                               \
				[CANCELING] = to_canceled, [INCOMING] = NEVER, \
				[PENDING... LEAVING] = "",                     \
				[UP_CALLER] = to_late, [UP_CALLEE] = "",       \
				[UP_LOCAL] = to_ours, [UP_REMOTE... GONE] = "" \
		}                                                              \
	}
static const struct event responses[] = {
	RESPONSE(100, "", "", "", ""),
	RESPONSE(183, "", "", "", ""),
	RESPONSE(200, "ACK >up", "ACK BYE >ended", "ACK", "ACK >up"),
	RESPONSE(302, "ACK >ended", "ACK >ended", "", "ACK >up"),
	RESPONSE(401, "ACK >ended", "ACK >ended", "", "ACK >up"),
	RESPONSE(407, "ACK >ended", "ACK >ended", "", "ACK >up"),
	RESPONSE(408, "ACK >ended", "ACK >ended", "", "ACK BYE >ended"),
	RESPONSE(422, "ACK INVITE", "ACK >ended", "", "ACK INVITE"),
	RESPONSE(481, "ACK >ended", "ACK >ended", "", "ACK BYE >ended"),
	RESPONSE(486, "ACK >ended", "ACK >ended", "", "ACK >up"),
	RESPONSE(491, "ACK >ended", "ACK >ended", "", "ACK >up"),
	RESPONSE(500, "ACK >ended", "ACK >ended", "", "ACK >up"),
	RESPONSE(503, "ACK >ended", "ACK >ended", "", "ACK >up"),
	RESPONSE(603, "ACK >ended", "ACK >ended", "", "ACK >up"),
};

enum {
	REQUESTS = sizeof(requests) / sizeof(requests[0]),
	RESPONSES = sizeof(responses) / sizeof(responses[0])
};

/* Runs one cell: 0 when it is as the table says. */
static unsigned run_cell(void **state, struct scene *s, enum stage stage,
			 const struct event *event)
{
	const char *expected = event->cells[stage];

	if (expected && !strcmp(expected, NEVER))
		return 0;
	run(state, s, stage, event);
	if (expected && !strcmp(expected, s->sent))
		return 0;
	print_error("%s%s %d in \"%s\": \"%s\", not \"%s\"\n",
		    event->method ? event->method : "",
		    event->body && *event->body ? " with body" : "",
		    event->status, stages[stage].name, s->sent,
		    expected ? expected : "(no such cell)");
	return 1;
}

static void run_table(void **state, const struct event *events, size_t n)
{
	struct scene s = { 0 };
	unsigned wrong = 0;

	for (int stage = 0; stage < STAGES; stage++) {
		for (size_t i = 0; i < n; i++)
			wrong += run_cell(state, &s, (enum stage)stage,
					  &events[i]);
		scene_close(&s, state);
	}
	assert_int_equal(wrong, 0);
}

static void test_requests(void **state)
{
	run_table(state, requests, REQUESTS);
}

static void test_responses(void **state)
{
	run_table(state, responses, RESPONSES);
}

/* A new method needs a row, a new state a column. */
static void test_tables_are_complete(void **state)
{
	static const int statuses[] = { 100, 183, 200, 302, 401, 407, 408,
					422, 481, 486, 491, 500, 503, 603 };
	unsigned methods = 0, sessions = 0, offers = 0, answers = 0;

	(void)state;
	for (int i = 0; i < REQUESTS; i++)
		methods |= 1u << sip_method_parse(slice_of(requests[i].method));
	for (int i = 0; i < STAGES; i++) {
		assert_non_null(stages[i].reach);
		sessions |= 1u << stages[i].state;
		offers |= 1u << stages[i].offer;
	}
	assert_int_equal(RESPONSES, sizeof(statuses) / sizeof(statuses[0]));
	for (int i = 0; i < RESPONSES; i++)
		for (int j = 0; j < RESPONSES; j++)
			if (responses[j].status == statuses[i])
				answers |= 1u << i;
	assert_int_equal(methods, (1u << (SIP_UNKNOWN + 1)) - 1);
	assert_int_equal(sessions, (1u << (SESSION_ENDED + 1)) - 1);
	assert_int_equal(offers, (1u << (OFFER_LOCAL_2XX + 1)) - 1);
	assert_int_equal(answers, (1u << RESPONSES) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables_are_complete),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_responses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
