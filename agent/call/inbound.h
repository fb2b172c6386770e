/* SPDX-License-Identifier: MIT */
/* agent/call/inbound.h - which organisation an incoming INVITE belongs to, and
 * whether its sender may call there. */
#pragma once
#include <jansson.h>
#include "agent/service.h"
#include "store/calls.h"

struct call;
struct ua_invite;

struct inbound_call {
	struct call_row row; /* texts in the arena; a new id */
	unsigned concurrency; /* of the organisation's plan */
	const char *headers; /* the trunk's mapping, in the arena, or NULL */
};

/* 0, or the SIP status to refuse with: 404 unknown number, 403 not from an
 * allowed network. */
int inbound_route(struct inbound_call *out, struct service *service,
		  struct arena *arena, const struct ua_invite *invite);
/* What the trunk's mapping finds in the INVITE; the caller's to release. */
json_t *inbound_variables(const struct inbound_call *inbound,
			  const struct ua_invite *invite);
/* May the sender of an INVITE with Replaces take the place of the call's far
 * end: by the number it calls or, when that is none of ours, the call's. 0, or
 * 403. */
int inbound_may_replace(struct service *service, struct arena *arena,
			const struct ua_invite *invite,
			const struct call *call);
