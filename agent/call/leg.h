/* SPDX-License-Identifier: MIT */
/* agent/call/leg.h - one SIP session joined with one media stream: SIP carries
 * the SDP that media reads. A leg belongs to its call until leg_close(), which
 * hangs up if need be. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "agent/call/leg_end.h"
#include "sip/session.h"

struct call_trace;
struct leg;
struct media;
struct stream;
struct ua;

struct leg_events {
	void (*on_up)(void *owner); /* answered, media flows */
	/* Each 20 ms once up: 160 samples at 8 kHz. */
	void (*on_frame)(void *owner, const int16_t *samples, bool is_voice);
	void (*on_digit)(void *owner, char digit);
	void (*on_recording_failed)(void *owner, const char *why);
	/* As in session_events; NULL: nobody is called for a peer's REFER. */
	int (*on_refer)(void *owner, const struct session_refer *refer);
	void (*on_refer_status)(void *owner, int status, bool is_over);
	/* Once, and last; the owner still calls leg_close(). */
	void (*on_end)(void *owner, const struct leg_end *end);
};

struct leg_env {
	struct ua *ua; /* borrowed: outlives us, as the other */
	struct media *media;
	struct call_trace *trace; /* hears its SIP; NULL: nobody does */
};

struct leg_incoming {
	struct session *session; /* the leg's once leg_take() gave 0 */
	struct slice offer; /* empty: we offer in our 200 */
};

/* call->offer is left empty: the leg makes it. -EAGAIN: no port is free. */
int leg_dial(struct leg **out, const struct leg_env *env,
	     const struct session_call *call, const struct leg_events *events,
	     void *owner);
/* Takes an incoming session and answers it with 180 and 200. Returns 0 or the
 * SIP status to refuse with (488, 503); then there is no leg. */
int leg_take(struct leg **out, const struct leg_env *env,
	     const struct leg_incoming *incoming,
	     const struct leg_events *events, void *owner);
/* code and text go into a Reason header (RFC 3326); code 0: none. on_end
 * follows unless the leg has ended. */
void leg_hangup(struct leg *leg, int code, const char *text);
/* Somebody else owns it from now on. */
void leg_give(struct leg *leg, const struct leg_events *events, void *owner);
void leg_close(struct leg **leg); /* NULL is fine */
struct session *leg_session(const struct leg *leg);
struct stream *leg_stream(const struct leg *leg);
