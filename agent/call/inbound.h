/* SPDX-License-Identifier: MIT */
/* agent/call/inbound.h - which organisation an incoming INVITE belongs to, and
 * whether its sender may call there. */
#pragma once
#include "agent/service.h"
#include "store/calls.h"

struct ua_invite;

struct inbound_call {
	struct call_row row; /* texts in the arena; a new id */
	unsigned concurrency; /* of the organisation's plan */
};

/* 0, or the SIP status to refuse with: 404 unknown number, 403 not from an
 * allowed network. */
int inbound_route(struct inbound_call *out, struct service *service,
		  struct arena *arena, const struct ua_invite *invite);
