/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/header.h"
#include "sip/referral_priv.h"
#include "sip/replaces.h"

/* Longer than a call may ring; a peer that needs more may refer again. */
enum { EXPIRES_S = 180 };

static const struct {
	const char *name;
	unsigned next; /* a bit for each state that may follow */
} states[] = {
	[REFERRAL_NONE] = { "none", 1 << REFERRAL_OPEN },
	[REFERRAL_OPEN] = { "open", 1 << REFERRAL_LAST | 1 << REFERRAL_NONE },
	[REFERRAL_LAST] = { "last", 1 << REFERRAL_NONE },
};

static void on_expired(void *arg);

static void enter(struct referral *r, enum referral_in_state next)
{
	assert(states[r->in.state].next & 1u << next);
	log_debug("referral", r->session->call_id, "subscription %s -> %s",
		  states[r->in.state].name, states[next].name);
	r->in.state = next;
	if (next == REFERRAL_OPEN)
		timer_start(r->in.timer, EXPIRES_S * 1000, on_expired, r);
	else
		timer_stop(r->in.timer);
}

struct referral *referral_of(struct session *session)
{
	struct referral *r = session->referral;

	if (r)
		return r;
	r = mem_new(sizeof(*r));
	*r = (struct referral){ .session = session,
				.in = { .timer = timer_new(session->ua->loop) },
				.out = { .timer = timer_new(
						 session->ua->loop) } };
	session->referral = r;
	return r;
}

void referral_answer(struct session *session, const struct sip_message *request,
		     int status, const char *lines)
{
	const struct dialog *dialog = session->dialog;
	struct buffer headers;

	buffer_init(&headers, SIP_HEADER_MAX_BYTES);
	if (dialog->link && status >= 200 && status < 300)
		dialog_contact(dialog, &headers,
			       sip_link_sent_by(dialog->link));
	buffer_add_str(&headers, lines);
	if (dialog->link)
		ua_respond(session->ua, dialog->link, request, status,
			   buffer_slice(&headers));
	buffer_reset(&headers);
}

/* ---- our NOTIFYs ---- */

static void send_notify(struct referral *r);

static void over(struct referral *r)
{
	r->in.is_due = false;
	enter(r, REFERRAL_NONE);
	session_settle(r->session);
}

static void on_notify_response(void *owner, struct sip_message *response)
{
	struct referral *r = owner;

	if (response->start.status < 200)
		return;
	sip_request_close(&r->in.notify);
	if (response->start.status >= 300)
		over(r); /* who refuses one wants no more (RFC 6665, 4.2.2) */
	else if (r->in.is_due)
		send_notify(r);
	else if (r->in.state == REFERRAL_LAST)
		over(r);
}

static void on_notify_failed(void *owner,
			     const struct sip_request_failure *failure)
{
	struct referral *r = owner;

	log_info("referral", r->session->call_id, "NOTIFY not answered: %s",
		 failure->why ? failure->why : "");
	sip_request_close(&r->in.notify);
	over(r);
}

static void write_state(const struct referral *r, struct buffer *out)
{
	uint64_t now_us = loop_now_us(r->session->ua->loop);

	/* From the second on the peer needs to know which (RFC 3515, 2.4.6). */
	if (r->in.n > 1)
		sip_header_printf(out, "Event", "refer;id=%u", r->in.cseq);
	else
		sip_header_printf(out, "Event", "refer");
	if (r->in.state == REFERRAL_LAST)
		sip_header_printf(out, "Subscription-State",
				  "terminated;reason=%s", r->in.why_over);
	else
		sip_header_printf(
			out, "Subscription-State", "active;expires=%u",
			(unsigned)((r->in.expires_at_us - now_us) / 1000000));
}

static void send_notify(struct referral *r)
{
	static const struct sip_request_events events = {
		.on_response = on_notify_response,
		.on_failed = on_notify_failed,
	};
	struct session *session = r->session;
	struct sip_request_options options = { .dialog = session->dialog,
					       .method = SIP_NOTIFY,
					       .login = &session->login };
	struct buffer headers, body;

	buffer_init(&headers, SIP_HEADER_MAX_BYTES);
	buffer_init(&body, SIP_HEADER_MAX_BYTES);
	write_state(r, &headers);
	buffer_printf(&body, "SIP/2.0 %d %s\r\n", r->in.status,
		      sip_reason(r->in.status));
	options.headers = buffer_slice(&headers);
	options.body = buffer_slice(&body);
	r->in.is_due = false;
	r->in.notify = sip_request_open(session->ua, &options, &events, r);
	buffer_reset(&headers);
	buffer_reset(&body);
}

/* One after the other: what comes meanwhile waits, the latest alone. */
static void notify(struct referral *r)
{
	if (r->in.notify)
		r->in.is_due = true;
	else
		send_notify(r);
}

static void leave(struct referral *r, const char *why)
{
	r->in.why_over = why;
	enter(r, REFERRAL_LAST);
	notify(r);
}

static void on_expired(void *arg)
{
	leave(arg, "timeout");
}

void session_refer_notify(struct session *session, int status)
{
	struct referral *r = session->referral;

	if (!r || r->in.state != REFERRAL_OPEN || status == r->in.status)
		return;
	r->in.status = status < 100 || status > 699 ? 503 : status;
	if (r->in.status >= 200)
		leave(r, "noresource");
	else
		notify(r);
}

/* ---- the peer's REFER ---- */

/* What it asks, as text of our own. */
struct asked {
	struct buffer uri, number, host, replaces, referred_by;
	struct session_refer refer;
};

static void asked_init(struct asked *asked)
{
	asked->refer = (struct session_refer){ 0 };
	buffer_init(&asked->uri, SIP_HEADER_MAX_BYTES);
	buffer_init(&asked->number, SIP_HEADER_MAX_BYTES);
	buffer_init(&asked->host, SIP_HEADER_MAX_BYTES);
	buffer_init(&asked->replaces, SIP_HEADER_MAX_BYTES);
	buffer_init(&asked->referred_by, SIP_HEADER_MAX_BYTES);
}

static void asked_reset(struct asked *asked)
{
	buffer_reset(&asked->uri);
	buffer_reset(&asked->number);
	buffer_reset(&asked->host);
	buffer_reset(&asked->replaces);
	buffer_reset(&asked->referred_by);
}

/* The only header of that kind, or NULL; a second one is an error. */
static int read_only(const struct sip_message *request, enum sip_header_id id,
		     const struct sip_header **out)
{
	*out = sip_message_header(request, id, 0);
	return sip_message_header(request, id, 1) ? 400 : 0;
}

/* Replaces in the target's headers. Others there are not looked at: the peer
 * has no say in what our requests carry (RFC 3261, 19.1.5). */
static int read_replaces(struct asked *asked, const struct sip_uri *uri)
{
	struct replaces replaces;
	struct slice value, second;

	if (!sip_uri_header(uri, "Replaces", 0, &value))
		return 0;
	sip_unescape(&asked->replaces, value);
	if (sip_uri_header(uri, "Replaces", 1, &second) ||
	    replaces_parse(&replaces, buffer_slice(&asked->replaces)))
		return 400;
	asked->refer.replaces = buffer_str(&asked->replaces);
	return 0;
}

static int read_target(struct asked *asked, const struct sip_message *request)
{
	const struct sip_header *header;
	struct sip_address target;
	struct slice method;
	int status = read_only(request, SIP_H_REFER_TO, &header);

	if (status || !header || sip_address_parse(&target, header->value) ||
	    target.uri.scheme == SIP_SCHEME_OTHER)
		return 400;
	status = read_replaces(asked, &target.uri);
	if (status)
		return status;
	if (sip_uri_param(&target.uri, "method", &method) &&
	    !slice_eq(method, SLICE("INVITE")))
		return 403; /* we make calls for a peer, nothing else */
	target.uri.headers = SLICE("");
	sip_uri_write(&asked->uri, &target.uri);
	sip_uri_number(&asked->number, &target.uri);
	buffer_add(&asked->host, target.uri.host);
	asked->refer.uri = buffer_str(&asked->uri);
	asked->refer.number = buffer_str(&asked->number);
	asked->refer.host = buffer_str(&asked->host);
	asked->refer.port = target.uri.port;
	return 0;
}

/* Who says so, without the parameters: they speak of a body part that we do
 * not pass on (RFC 3892). */
static int read_referrer(struct asked *asked, const struct sip_message *request)
{
	const struct sip_header *header;
	struct sip_address referrer;
	int status = read_only(request, SIP_H_REFERRED_BY, &header);

	if (status || !header)
		return status;
	if (sip_address_parse(&referrer, header->value))
		return 400;
	buffer_add_char(&asked->referred_by, '<');
	buffer_add(&asked->referred_by, referrer.uri_text);
	buffer_add_char(&asked->referred_by, '>');
	asked->refer.referred_by = buffer_str(&asked->referred_by);
	return 0;
}

/* Refer-Sub (RFC 4488), or nosub required (RFC 7614). */
static bool wants_notify(const struct sip_message *request)
{
	struct slice rest = sip_message_value(request, SLICE("Refer-Sub"));
	struct slice value = slice_trim(slice_cut(&rest, ';'));

	return !slice_eq_nocase(value, SLICE("false")) &&
	       !sip_message_has_token(request, SIP_H_REQUIRE, SLICE("nosub"));
}

static int read_refer(struct asked *asked, const struct sip_message *request)
{
	int status = read_target(asked, request);

	if (!status)
		status = read_referrer(asked, request);
	asked->refer.wants_notify = wants_notify(request);
	return status;
}

/* May the peer refer this session anywhere now? 0 or a status. */
static int check_session(const struct session *session)
{
	switch (session->state) {
	case SESSION_INVITING:
	case SESSION_INCOMING:
	case SESSION_PENDING:
	case SESSION_ANSWERED:
		return 491; /* once it is up */
	case SESSION_UP:
		break;
	case SESSION_LEAVING:
	case SESSION_ENDING:
	case SESSION_ENDED:
		return 481;
	}
	if (session->referral && session->referral->in.state != REFERRAL_NONE)
		return 491;
	return session->events->on_refer ? 0 : 403;
}

static void open_subscription(struct session *session,
			      const struct sip_message *refer)
{
	struct referral *r = referral_of(session);

	r->in.n++;
	r->in.cseq = refer->common.cseq;
	r->in.status = 100;
	r->in.expires_at_us =
		loop_now_us(session->ua->loop) + EXPIRES_S * UINT64_C(1000000);
	enter(r, REFERRAL_OPEN);
	notify(r);
}

static void on_refer(struct session *session, const struct sip_message *refer)
{
	struct asked asked;
	int status;

	asked_init(&asked);
	status = read_refer(&asked, refer);
	if (!status)
		status = check_session(session);
	sip_link_peer(session->dialog->link, &asked.refer.peer);
	/* Not the last thing done here, because it has an answer: session is
	 * safe, it frees itself on a later turn. */
	if (!status)
		status =
			session->events->on_refer(session->owner, &asked.refer);
	if (status < 200 || status >= 300) {
		referral_answer(session, refer, status < 200 ? 500 : status,
				"");
	} else {
		dialog_refresh(session->dialog, refer);
		referral_answer(
			session, refer, 202,
			asked.refer.wants_notify ? "" : "Refer-Sub: false\r\n");
		if (asked.refer.wants_notify && session->state == SESSION_UP)
			open_subscription(session, refer);
	}
	asked_reset(&asked);
}

void referral_on_request(struct session *session, struct sip_message *request)
{
	if (request->start.method == SIP_REFER)
		on_refer(session, request);
	else
		referral_on_notify(session, request); /* last */
}

void referral_refuse(struct ua *ua, struct sip_link *link,
		     const struct sip_message *request)
{
	struct asked asked;
	struct slice id;
	int status;

	if (request->start.method == SIP_NOTIFY) {
		status = referral_check_event(request, &id);
		ua_respond(ua, link, request, status ? status : 481,
			   status == 489 ? SLICE("Allow-Events: refer\r\n")
					 : SLICE(""));
		return;
	}
	asked_init(&asked);
	status = read_refer(&asked, request);
	ua_respond(ua, link, request, status ? status : 403, SLICE(""));
	asked_reset(&asked);
}

/* ---- with its session ---- */

/* Forgets what the peer subscribed to. */
static void in_reset(struct referral *r)
{
	sip_request_close(&r->in.notify);
	r->in.is_due = false;
	if (r->in.state != REFERRAL_NONE)
		enter(r, REFERRAL_NONE);
}

void referral_on_end(struct session *session)
{
	struct referral *r = session->referral;

	if (!r)
		return;
	referral_out_reset(&r->out);
	if (session->end.cause != SESSION_HANGUP)
		in_reset(r);
}

void referral_on_close(struct session *session)
{
	struct referral *r = session->referral;

	if (r && r->in.state == REFERRAL_OPEN)
		leave(r, "noresource");
}

bool referral_is_busy(const struct session *session)
{
	return session->referral && session->referral->in.notify;
}

void referral_close(struct referral **referral)
{
	struct referral *r = *referral;

	if (!r)
		return;
	*referral = NULL;
	in_reset(r);
	referral_out_reset(&r->out);
	timer_close(&r->in.timer);
	timer_close(&r->out.timer);
	mem_free(r);
}
