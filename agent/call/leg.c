/* SPDX-License-Identifier: MIT */
#include "agent/call/leg.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include "core/buffer.h"
#include "core/log.h"
#include "core/mem.h"
#include "media/stream.h"

enum { SDP_MAX_BYTES = 16 * 1024 };

/* OPENING --answered, media agreed--> UP --> ENDED;  OPENING --> ENDED */
enum state { OPENING, UP, ENDED };

struct leg {
	struct session *session; /* owned */
	struct stream *stream; /* owned */
	const struct leg_events *events; /* borrowed: outlives us */
	void *owner; /* borrowed: closes us */
	enum state state;
	bool has_answered_offer; /* incoming: media agreed before ACK */
	bool was_up;
	const char *failure; /* why we hung up ourselves; static text */
	char message[240];
};

static void enter(struct leg *leg, enum state next)
{
	static const unsigned allowed[] = {
		[OPENING] = 1 << UP | 1 << ENDED,
		[UP] = 1 << ENDED,
		[ENDED] = 0,
	};

	assert(allowed[leg->state] & 1u << next);
	leg->state = next;
	if (next == UP)
		leg->was_up = true;
}

/* The words of the published API for final answers. */
static const struct {
	int code;
	const char *status;
	const char *message;
} refusals[] = {
	{ 404, "failed", "The number you dialed is not found." },
	{ 484, "failed", "The number you dialed is not complete." },
	{ 410, "failed", "The number you dialed is no longer in service." },
	{ 480, "no-answer",
	  "The number you dialed is temporarily unavailable." },
	{ 408, "no-answer", "The number you dialed did not answer in time." },
	{ 486, "busy",
	  "The number you dialed is busy. Please try again later." },
	{ 600, "busy",
	  "The number you dialed is busy. Please try again later." },
	{ 487, "canceled", "The call was canceled before it was answered." },
	{ 603, "failed", "The call was declined." },
	{ 607, "failed", "The call was rejected as unwanted." },
	{ 608, "failed", "The call was rejected by the callee's network." },
	{ 401, "failed",
	  "The trunk asks for credentials: set sip_username and "
	  "sip_password, or correct them." },
	{ 407, "failed",
	  "The trunk asks for credentials: set sip_username and "
	  "sip_password, or correct them." },
	{ 403, "failed", "The trunk has refused the call." },
	{ 488, "failed", "The trunk does not accept our secure media (SRTP)." },
	{ 503, "failed", "The trunk is out of service at the moment." },
};

static void explain_refusal(struct leg *leg, const struct session_end *from,
			    struct leg_end *to)
{
	to->status = "failed";
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		if (refusals[i].code == from->code) {
			to->status = refusals[i].status;
			to->message = refusals[i].message;
			return;
		}
	}
	snprintf(leg->message, sizeof(leg->message),
		 "The trunk answered %d %s.", from->code,
		 from->reason ? from->reason : "");
	to->message = leg->message;
}

static void explain_with(struct leg *leg, const char *what,
			 const struct session_end *from, struct leg_end *to)
{
	to->status = "failed";
	snprintf(leg->message, sizeof(leg->message), "%s: %s.", what,
		 from->reason && from->reason[0] ? from->reason : "no detail");
	to->message = leg->message;
}

/* An incoming call may see a BYE before it was up. */
static void explain_hangup(const struct leg *leg, struct leg_end *to)
{
	to->status = leg->was_up ? "completed" : "canceled";
	if (!leg->was_up)
		to->message = "The call was canceled before it was answered.";
}

static void explain(struct leg *leg, const struct session_end *from,
		    struct leg_end *to)
{
	to->by_remote = from->by_remote;
	switch (from->cause) {
	case SESSION_HANGUP:
	case SESSION_CANCELED:
		explain_hangup(leg, to);
		break;
	case SESSION_REJECTED:
		explain_refusal(leg, from, to);
		break;
	case SESSION_NO_ANSWER:
		to->status = "no-answer";
		to->message = "The number you dialed did not answer in time.";
		break;
	case SESSION_UNREACHABLE:
		explain_with(leg, "The trunk cannot be reached", from, to);
		break;
	case SESSION_UNTRUSTED:
		explain_with(leg, "The trunk's certificate is not trusted",
			     from, to);
		break;
	case SESSION_LOST:
		explain_with(leg, "The connection to the trunk was lost", from,
			     to);
		break;
	case SESSION_TIMED_OUT:
		explain_with(leg, "The trunk did not answer in time", from, to);
		break;
	case SESSION_PROTOCOL:
		explain_with(leg, "The trunk's answer made no call", from, to);
		break;
	}
}

static void end(struct leg *leg, struct leg_end *what)
{
	if (leg->failure) {
		what->status = "failed";
		what->message = leg->failure;
		what->by_remote = false;
	}
	what->was_up = leg->was_up;
	enter(leg, ENDED);
	leg->events->on_end(leg->owner, what);
}

/* Our own reason to end; the session tells us when it is over. */
static void fail(struct leg *leg, const char *why)
{
	if (leg->failure || leg->state == ENDED)
		return;
	leg->failure = why;
	session_hangup(leg->session, why);
}

/* ---- from SIP ---- */

static void on_progress(void *owner, int status, struct slice sdp)
{
	(void)owner;
	(void)status;
	(void)sdp; /* early media has no listener yet */
}

static void on_answer(void *owner, struct slice sdp)
{
	struct leg *leg = owner;
	int err = 0;

	if (leg->state != OPENING)
		return;
	if (!leg->has_answered_offer)
		err = stream_take_answer(leg->stream, sdp);
	if (err) {
		fail(leg, err == -ENOTSUP
				  ? "The trunk answered without secure media "
				    "(SRTP) that we can do."
				  : "The trunk answered with a body that is "
				    "not valid SDP.");
		return;
	}
	enter(leg, UP);
	leg->events->on_up(leg->owner);
}

static void on_offer(void *owner, struct slice sdp)
{
	struct leg *leg = owner;
	struct buffer answer;
	int err = 0;

	buffer_init(&answer, SDP_MAX_BYTES);
	if (sdp.len)
		err = stream_take_offer(leg->stream, sdp, &answer);
	else
		stream_offer(leg->stream, &answer);
	if (err)
		session_refuse(leg->session, err == -ENOTSUP ? 488 : 400);
	else
		session_answer(leg->session, buffer_slice(&answer));
	buffer_reset(&answer);
}

static void on_session_end(void *owner, const struct session_end *what)
{
	struct leg *leg = owner;
	struct leg_end ended = { 0 };

	explain(leg, what, &ended);
	end(leg, &ended);
}

/* ---- from media ---- */

static void on_frame(void *owner, const int16_t *samples, bool is_voice)
{
	struct leg *leg = owner;

	if (leg->state == UP)
		leg->events->on_frame(leg->owner, samples, is_voice);
}

static void on_digit(void *owner, char digit)
{
	struct leg *leg = owner;

	if (leg->state == UP)
		leg->events->on_digit(leg->owner, digit);
}

static void on_timeout(void *owner)
{
	fail(owner, "No audio arrived from the far end for too long.");
}

static void on_recording_failed(void *owner, const char *why)
{
	struct leg *leg = owner;

	leg->events->on_recording_failed(leg->owner, why);
}

static const struct session_events session_events = {
	.on_progress = on_progress,
	.on_answer = on_answer,
	.on_offer = on_offer,
	.on_end = on_session_end,
};

static const struct stream_events stream_events = {
	.on_frame = on_frame,
	.on_digit = on_digit,
	.on_timeout = on_timeout,
	.on_recording_failed = on_recording_failed,
};

static struct leg *leg_new(const struct leg_events *events, void *owner)
{
	struct leg *leg = mem_new(sizeof(*leg));

	leg->events = events;
	leg->owner = owner;
	return leg;
}

int leg_dial(struct leg **out, const struct leg_env *env,
	     const struct session_call *call, const struct leg_events *events,
	     void *owner)
{
	struct leg *leg = leg_new(events, owner);
	struct session_call with_offer = *call;
	struct buffer offer;
	int err = stream_open(&leg->stream, env->media, &stream_events, leg);

	buffer_init(&offer, SDP_MAX_BYTES);
	if (err)
		goto out;
	stream_offer(leg->stream, &offer);
	with_offer.offer = buffer_slice(&offer);
	err = session_invite(&leg->session, env->ua, &with_offer,
			     &session_events, leg);
out:
	buffer_reset(&offer);
	if (err)
		leg_close(&leg);
	*out = leg;
	return err;
}

int leg_take(struct leg **out, const struct leg_env *env,
	     const struct leg_incoming *incoming,
	     const struct leg_events *events, void *owner)
{
	struct leg *leg = leg_new(events, owner);
	struct buffer sdp;
	int status = 503;
	int err = stream_open(&leg->stream, env->media, &stream_events, leg);

	buffer_init(&sdp, SDP_MAX_BYTES);
	if (err)
		goto out;
	leg->has_answered_offer = incoming->offer.len != 0;
	if (leg->has_answered_offer)
		err = stream_take_offer(leg->stream, incoming->offer, &sdp);
	else
		stream_offer(leg->stream, &sdp);
	status = err == -ENOTSUP ? 488 : 400;
	if (err)
		goto out;
	status = 0;
	leg->session = incoming->session;
	session_accept(leg->session, &session_events, leg);
	session_ring(leg->session);
	session_answer(leg->session, buffer_slice(&sdp));
out:
	buffer_reset(&sdp);
	if (status)
		leg_close(&leg);
	*out = leg;
	return status;
}

void leg_hangup(struct leg *leg, const char *reason)
{
	if (leg->state != ENDED)
		session_hangup(leg->session, reason);
}

void leg_close(struct leg **leg)
{
	if (!*leg)
		return;
	session_close(&(*leg)->session);
	stream_close(&(*leg)->stream);
	mem_free(*leg);
	*leg = NULL;
}

struct stream *leg_stream(const struct leg *leg)
{
	return leg->stream;
}
