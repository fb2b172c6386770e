/* SPDX-License-Identifier: MIT */
/* agent/call/call.h - one call from its queued row to its completed one: leg,
 * dialogue, timeline, recording, webhooks, summary. Dispatch owns it. */
#pragma once
#include <jansson.h>
#include "agent/service.h"
#include "core/slice.h"
#include "store/calls.h"

struct call;
struct session;
struct ua_invite;

/* The completed record is in the store; the owner closes the call. Posted. */
typedef void call_done_fn(void *owner, struct call *call);

/* Takes an outbound call from the queue; row is copied. Never fails here: a
 * call that cannot be dialled is completed with the reason. */
struct call *call_dial(struct service *service, const struct call_row *row,
		       call_done_fn *on_done, void *owner);
/* Takes an incoming one. Returns 0 or the SIP status to refuse with; then
 * *out is NULL and nothing was stored. */
struct call_incoming {
	struct session *session;
	struct slice offer;
	const struct call_row *row;
	json_t *variables; /* out of the INVITE's headers; shared, or NULL */
};
int call_take(struct call **out, struct service *service,
	      const struct call_incoming *incoming, call_done_fn *on_done,
	      void *owner);
/* An INVITE with Replaces wants the place of its far end: 0, or the SIP status
 * to refuse with. */
int call_replace(struct call *call, struct session *session,
		 const struct ua_invite *invite);
/* Ends it: hangs up or cancels; on_done follows. message (static text, may be
 * NULL) becomes the error_message of a call that was not up yet. */
void call_stop(struct call *call, const char *message);
void call_close(struct call **call);
/* Is it the session of the call's far end? */
bool call_has_session(const struct call *call, const struct session *session);
const char *call_id(const struct call *call);
const char *call_own_number(const struct call *call); /* of from and to */
const char *call_org_id(const struct call *call);
const json_t *call_variables(const struct call *call); /* NULL: none yet */
/* Will it take an audio port that it has not taken yet? */
bool call_needs_port(const struct call *call);
