/* SPDX-License-Identifier: MIT */
/* agent/call/call.h - one call from its queued row to its completed one: leg,
 * dialogue, timeline, recording, webhooks, summary. Dispatch owns it. */
#pragma once
#include <jansson.h>
#include "agent/service.h"
#include "store/calls.h"

struct call;
struct session;
struct slice;

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
};
int call_take(struct call **out, struct service *service,
	      const struct call_incoming *incoming, call_done_fn *on_done,
	      void *owner);
/* Ends it: hangs up or cancels; on_done follows. message (static text, may be
 * NULL) becomes the error_message of a call that was not up yet. */
void call_stop(struct call *call, const char *message);
void call_close(struct call **call);
const char *call_id(const struct call *call);
const char *call_org_id(const struct call *call);
const json_t *call_variables(const struct call *call); /* NULL: none yet */
/* For statistics once done: wire-to-wire turn latencies and its status. */
const json_t *call_latency(const struct call *call);
bool call_has_failed(const struct call *call);
