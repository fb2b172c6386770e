/* SPDX-License-Identifier: MIT */
/* agent/call/dispatch.h - starts queued calls in order as far as each
 * organisation's concurrency allows, exactly; takes inbound ones; owns every
 * live call. */
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include "agent/call/load.h"
#include "agent/service.h"
#include "store/store.h"

struct dispatch;
struct session;
struct ua_invite;

/* Completes what a crash interrupted, then dials. service is borrowed and its
 * members are read when a call starts. */
int dispatch_open(struct dispatch **out, struct service *service);
void dispatch_close(struct dispatch **dispatch); /* no live calls left */
/* The queue has changed: something was stored as queued. */
void dispatch_wake(struct dispatch *dispatch);
/* Ends a queued or live call of the organisation; done follows when the call
 * is completed in the store (0 also for one that had ended), never inside this
 * call. -ENOENT; -EBUSY: eight wait for it already. */
void dispatch_stop(struct dispatch *dispatch, const char *org_id,
		   const char *call_id, struct store_reply reply);
/* An incoming INVITE: ua_events.on_invite. Returns 0 or a SIP status. */
int dispatch_on_invite(void *dispatch, struct session *session,
		       const struct ua_invite *invite);
/* No new calls; on_idle once the last one has ended. After deadline_ms the
 * rest are hung up. */
void dispatch_drain(struct dispatch *dispatch, uint64_t deadline_ms,
		    void (*on_idle)(void *owner), void *owner);
unsigned dispatch_live(const struct dispatch *dispatch, const char *org_id);
/* Variables of a live call as they are now; NULL when it is not live. */
const json_t *dispatch_variables(const struct dispatch *dispatch,
				 const char *call_id);

struct dispatch_stats {
	unsigned live;
	uint64_t started, completed, failed;
	uint64_t turns;
	uint64_t turn_ms_total; /* wire-to-wire latency summed */
	uint64_t turn_bucket[8]; /* <=100,200,400,700,1000,1500,3000,inf */
	struct load_stats load;
};
void dispatch_stats(const struct dispatch *dispatch,
		    struct dispatch_stats *out);
