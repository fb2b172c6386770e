/* SPDX-License-Identifier: MIT */
#include "agent/call/leg.h"

#include <assert.h>
#include <errno.h>
#include "agent/call/trace.h"
#include "core/buffer.h"
#include "core/log.h"
#include "core/mem.h"
#include "media/stream.h"
#include "sip/header.h"

enum { SDP_MAX_BYTES = 16 * 1024, REASON_MAX_BYTES = 512 };

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
	char message[LEG_MESSAGE_SIZE];
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

static void end(struct leg *leg, struct leg_end *what)
{
	if (leg->failure) {
		what->status = "failed";
		what->message = leg->failure;
		what->by_remote = false;
	}
	enter(leg, ENDED);
	leg->events->on_end(leg->owner, what);
}

/* Our own reason to end; the session tells us when it is over. */
static void fail(struct leg *leg, int code, const char *why)
{
	if (leg->failure || leg->state == ENDED)
		return;
	leg->failure = why;
	leg_hangup(leg, code, why);
}

/* ---- from SIP ---- */

static void on_progress(void *owner, int status, struct slice sdp)
{
	(void)owner;
	(void)status;
	(void)sdp; /* early media has no listener yet */
}

/* To a refresh of the session, which repeated our description. */
static void take_new_answer(struct leg *leg, struct slice sdp)
{
	if (leg->state == UP && sdp.len && stream_take_answer(leg->stream, sdp))
		log_info("session", session_call_id(leg->session),
			 "a refresh changed nothing: its answer has no audio "
			 "that we can do");
}

static void on_answer(void *owner, struct slice sdp)
{
	struct leg *leg = owner;
	int err = 0;

	if (leg->state != OPENING) {
		take_new_answer(leg, sdp);
		return;
	}
	if (!leg->has_answered_offer)
		err = stream_take_answer(leg->stream, sdp);
	if (err) {
		fail(leg, 488,
		     err == -ENOTSUP
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
	struct leg_end ended;

	leg_end_explain(&ended, leg->message, what, leg->was_up);
	end(leg, &ended);
}

static int on_refer(void *owner, const struct session_refer *refer)
{
	struct leg *leg = owner;

	if (leg->state != UP || !leg->events->on_refer)
		return 603;
	return leg->events->on_refer(leg->owner, refer);
}

static void on_refer_status(void *owner, int status, bool is_over)
{
	struct leg *leg = owner;

	if (leg->events->on_refer_status)
		leg->events->on_refer_status(leg->owner, status, is_over);
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
	fail(owner, 408, "No audio arrived from the far end for too long.");
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
	.on_refer = on_refer,
	.on_refer_status = on_refer_status,
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
	if (!err)
		call_trace_leg(env->trace, env->ua,
			       session_call_id(leg->session));
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
	call_trace_leg(env->trace, env->ua, session_call_id(leg->session));
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

void leg_hangup(struct leg *leg, int code, const char *text)
{
	struct buffer reason;

	if (leg->state == ENDED)
		return;
	buffer_init(&reason, REASON_MAX_BYTES);
	if (code) {
		buffer_printf(&reason, "SIP;cause=%d;text=", code);
		sip_quote(&reason, slice_of(text));
	}
	session_hangup(leg->session, code && !buffer_error(&reason)
					     ? buffer_str(&reason)
					     : NULL);
	buffer_reset(&reason);
}

void leg_give(struct leg *leg, const struct leg_events *events, void *owner)
{
	leg->events = events;
	leg->owner = owner;
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

struct session *leg_session(const struct leg *leg)
{
	return leg->session;
}
