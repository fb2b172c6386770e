/* SPDX-License-Identifier: MIT */
#include "sip/session_priv.h"
#include <assert.h>
#include <errno.h>
#include "core/log.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/body.h"
#include "sip/header.h"
#include "sip/replaces.h"
#include "sip/session_trunk.h"

static const struct {
	const char *name;
	unsigned next; /* a bit for each state that may follow */
} states[] = {
	[SESSION_INVITING] = { "inviting",
			       1 << SESSION_UP | 1 << SESSION_ENDING },
	[SESSION_INCOMING] = { "incoming", 1 << SESSION_PENDING |
						   1 << SESSION_ENDING |
						   1 << SESSION_ENDED },
	[SESSION_PENDING] = { "pending", 1 << SESSION_ANSWERED |
						 1 << SESSION_ENDING |
						 1 << SESSION_ENDED },
	[SESSION_ANSWERED] = { "answered", 1 << SESSION_UP |
						   1 << SESSION_LEAVING |
						   1 << SESSION_ENDING },
	[SESSION_LEAVING] = { "leaving", 1 << SESSION_ENDING },
	[SESSION_UP] = { "up", 1 << SESSION_ENDING },
	[SESSION_ENDING] = { "ending", 1 << SESSION_ENDED },
	[SESSION_ENDED] = { "ended", 0 },
};

static void on_timer(void *arg);

void session_enter(struct session *session, enum session_state next)
{
	assert(states[session->state].next & 1u << next);
	log_debug("session", session->call_id, "%s -> %s",
		  states[session->state].name, states[next].name);
	if (next == SESSION_ENDED)
		session->ua->count.sessions--;
	session->state = next;
	if (next == SESSION_ENDING || next == SESSION_ENDED)
		timer_start(session->timer, 0, on_timer, session);
}

struct session *session_new(struct ua *ua, enum session_state state,
			    struct slice call_id)
{
	struct session *session = mem_new(sizeof(*session));

	*session =
		(struct session){ .ua = ua,
				  .next = ua->sessions,
				  .state = state,
				  .call_id = slice_dup(call_id),
				  .timer = timer_new(ua->loop),
				  .offer = { .timer = timer_new(ua->loop) } };
	session->expiry = session_timer_new(session);
	ua->sessions = session;
	ua->count.sessions++;
	return session;
}

static void unlink_from_ua(struct session *session)
{
	struct session **at = &session->ua->sessions;

	while (*at != session)
		at = &(*at)->next;
	*at = session->next;
}

void session_free(struct session *session)
{
	if (session->state != SESSION_ENDED)
		session->ua->count.sessions--;
	ua_trace_over(session->ua, session->call_id);
	unlink_from_ua(session);
	session_offer_reset(session);
	session_timer_close(&session->expiry);
	referral_close(&session->referral);
	timer_close(&session->offer.timer);
	timer_close(&session->timer);
	sip_request_close(&session->bye);
	invitation_close(&session->invitation);
	dialog_close(&session->dialog, &session->ua->dialogs);
	mem_free(session->login.username);
	mem_free(session->login.password);
	mem_free(session->call_id);
	mem_free(session->end_reason);
	mem_free(session);
}

void session_settle(struct session *session)
{
	if (session->state == SESSION_ENDED && !session->events)
		timer_start(session->timer, 0, on_timer, session);
}

static void on_timer(void *arg)
{
	struct session *session = arg;

	if (session->state == SESSION_ENDING) {
		session_enter(session, SESSION_ENDED);
		if (session->events)
			session->events->on_end(session->owner,
						&session->end); /* last */
		return;
	}
	if (!session->events && !session->invitation && !session->bye &&
	    !referral_is_busy(session))
		session_free(session);
}

void session_end(struct session *session, enum session_cause cause, int code,
		 struct slice reason)
{
	mem_free(session->end_reason);
	session->end_reason = slice_dup(reason);
	session->end = (struct session_end){ .cause = cause,
					     .code = code,
					     .reason = session->end_reason };
	session_offer_reset(session);
	session_timer_stop(session->expiry);
	referral_on_end(session);
	session_enter(session, SESSION_ENDING);
}

/* ---- BYE ---- */

static void on_bye_response(void *owner, struct sip_message *response)
{
	struct session *session = owner;

	if (response->start.status < 200)
		return;
	sip_request_close(&session->bye);
	session_settle(session);
}

static void on_bye_failed(void *owner,
			  const struct sip_request_failure *failure)
{
	struct session *session = owner;

	log_info("session", session->call_id, "BYE not answered: %s",
		 failure->why ? failure->why : "");
	sip_request_close(&session->bye);
	session_settle(session);
}

/* A Reason line (RFC 3326), or nothing when it is none. */
static void write_reason(struct buffer *out, const char *reason)
{
	buffer_init(out, SIP_HEADER_MAX_BYTES);
	if (reason && *reason && sip_text_is_line(slice_of(reason)))
		sip_header_write(out, SLICE("Reason"), slice_of(reason));
	if (buffer_error(out))
		buffer_reset(out);
}

void session_bye(struct session *session, const char *reason)
{
	static const struct sip_request_events bye_events = {
		.on_response = on_bye_response,
		.on_failed = on_bye_failed,
	};
	struct sip_request_options options = { .dialog = session->dialog,
					       .method = SIP_BYE,
					       .login = &session->login };
	struct buffer headers;

	assert(!session->bye);
	write_reason(&headers, reason);
	options.headers = buffer_slice(&headers);
	session->bye =
		sip_request_open(session->ua, &options, &bye_events, session);
	buffer_reset(&headers);
}

void session_break(struct session *session, enum session_cause cause, int code,
		   const char *why)
{
	session_drop_incoming(session, 487);
	session_bye(session, NULL);
	session_end(session, cause, code, slice_of(why));
}

/* ---- outgoing: what the invitation tells ---- */

static void on_progress(void *owner, const struct sip_message *response)
{
	struct session *session = owner;
	struct slice sdp;

	if (body_sdp(response, &sdp))
		sdp = SLICE("");
	if (session->events && session->events->on_progress)
		session->events->on_progress(
			session->owner, response->start.status, sdp); /* last */
}

static void on_answer(void *owner, struct dialog *dialog,
		      const struct sip_message *response)
{
	struct session *session = owner;
	struct slice sdp;

	session->dialog = dialog;
	dialog_list(dialog, &session->ua->dialogs, session_on_request, session);
	offer_enter(&session->offer.state, OFFER_STABLE);
	session_enter(session, SESSION_UP);
	if (body_sdp(response, &sdp) || !sdp.len) {
		session_break(session, SESSION_PROTOCOL, response->start.status,
			      "the answer carries no SDP");
		return;
	}
	session_timer_on_success(session->expiry, response);
	session_timer_keep(session->expiry, SLICE(""), sdp);
	session->events->on_answer(session->owner, sdp); /* last */
}

static void on_invitation_end(void *owner, const struct session_end *end)
{
	struct session *session = owner;

	session_end(session, end->cause, end->code, slice_of(end->reason));
	session->end.by_remote = end->by_remote;
}

static void on_invitation_idle(void *owner)
{
	struct session *session = owner;

	invitation_close(&session->invitation);
	session_settle(session);
}

/* ---- public ---- */

/* Request-URI of the call; its host may be an IPv6 literal. */
static void write_target(struct buffer *out, const struct session_call *call)
{
	const char *host = call->trunk->host;

	buffer_add_str(out, "sip:");
	sip_escape_user(out, slice_of(call->to_number));
	buffer_printf(out, strchr(host, ':') ? "@[%s]" : "@%s", host);
	if (call->trunk->port)
		buffer_printf(out, ":%u", call->trunk->port);
}

static struct dialog *open_dialog(struct ua *ua,
				  const struct session_call *call)
{
	struct sip_target trunk;
	struct dialog_out out = { .trunk = &trunk,
				  .domain = ua->domain,
				  .display = call->from_display };
	struct dialog *dialog = NULL;
	struct buffer target, user;

	buffer_init(&target, SIP_HEADER_MAX_BYTES);
	buffer_init(&user, SIP_HEADER_MAX_BYTES);
	write_target(&target, call);
	sip_escape_user(&user, slice_of(call->from_number));
	out.target = buffer_str(&target);
	out.user = buffer_str(&user);
	if (!session_trunk_target(&trunk, ua, call->trunk) &&
	    !buffer_error(&target) && !buffer_error(&user))
		dialog = dialog_open_out(&out);
	buffer_reset(&target);
	buffer_reset(&user);
	return dialog;
}

/* The extra headers. Those a dialog is made of are ours alone to write. */
static int write_headers(struct buffer *out, const struct session_call *call)
{
	struct replaces replaces;

	buffer_init(out, SIP_MESSAGE_MAX_BYTES / 2);
	for (size_t i = 0; i < call->n_headers; i++) {
		if (!sip_header_is_mappable(call->headers[i].name) ||
		    !sip_text_is_line(call->headers[i].value))
			return -EINVAL;
		sip_header_write(out, call->headers[i].name,
				 call->headers[i].value);
	}
	if ((call->replaces &&
	     replaces_parse(&replaces, slice_of(call->replaces))) ||
	    (call->referred_by &&
	     !sip_text_is_line(slice_of(call->referred_by))))
		return -EINVAL;
	if (call->replaces) {
		sip_header_write(out, SLICE("Replaces"),
				 slice_of(call->replaces));
		buffer_add_str(out, "Require: replaces\r\n");
	}
	if (call->referred_by)
		sip_header_write(out, SLICE("Referred-By"),
				 slice_of(call->referred_by));
	return buffer_error(out);
}

int session_invite(struct session **out, struct ua *ua,
		   const struct session_call *call,
		   const struct session_events *events, void *owner)
{
	static const struct invitation_events invitation_events = {
		.on_progress = on_progress,
		.on_answer = on_answer,
		.on_end = on_invitation_end,
		.on_idle = on_invitation_idle,
	};
	struct invitation_options options = {
		.ua = ua,
		.offer = call->offer,
		.ring_timeout_ms =
			call->ring_timeout_ms ? call->ring_timeout_ms : 60000,
	};
	struct session *session;
	struct buffer headers;
	int err = write_headers(&headers, call);

	*out = NULL;
	if (!err)
		options.dialog = open_dialog(ua, call);
	if (!options.dialog) {
		buffer_reset(&headers);
		return err ? err : -EINVAL;
	}
	session = session_new(ua, SESSION_INVITING,
			      slice_of(options.dialog->id.call_id));
	session->events = events;
	session->owner = owner;
	session->login.username = mem_dup_str(call->trunk->username);
	session->login.password = mem_dup_str(call->trunk->password);
	offer_enter(&session->offer.state, OFFER_LOCAL);
	session_timer_keep(session->expiry, call->offer, SLICE(""));
	options.expiry = session->expiry;
	options.headers = buffer_slice(&headers);
	options.login = &session->login;
	session->invitation =
		invitation_open(&options, &invitation_events, session);
	ua->count.invites_out++;
	buffer_reset(&headers);
	*out = session;
	return 0;
}

void session_accept(struct session *session,
		    const struct session_events *events, void *owner)
{
	session->events = events;
	session->owner = owner;
	session_enter(session, SESSION_PENDING);
}

static void cancel(struct session *session, const char *reason)
{
	struct buffer headers;

	write_reason(&headers, reason);
	invitation_cancel(session->invitation, buffer_slice(&headers),
			  SESSION_CANCELED);
	buffer_reset(&headers);
}

void session_hangup(struct session *session, const char *reason)
{
	switch (session->state) {
	case SESSION_INVITING:
		cancel(session, reason);
		return;
	case SESSION_INCOMING:
	case SESSION_PENDING:
		session_drop_incoming(session, 480);
		session_end(session, SESSION_CANCELED, 480, SLICE(""));
		return;
	case SESSION_ANSWERED: /* no BYE before the ACK (RFC 3261, 15) */
		session_enter(session, SESSION_LEAVING);
		return;
	case SESSION_UP:
		session_drop_incoming(session, 487);
		session_bye(session, reason);
		session_end(session, SESSION_HANGUP, 0, SLICE(""));
		return;
	case SESSION_LEAVING:
	case SESSION_ENDING:
	case SESSION_ENDED:
		return;
	}
}

void session_close(struct session **session)
{
	struct session *s = *session;

	if (!s)
		return;
	*session = NULL;
	s->events = NULL;
	referral_on_close(s);
	session_hangup(s, NULL);
	session_settle(s);
}

const char *session_call_id(const struct session *session)
{
	return session->call_id;
}
