/* SPDX-License-Identifier: MIT */
/* tools/benches/host.h - a user agent with audio ports and keys, without
 * conversation and store: what is measured as "ua, ports and keys". */
#pragma once
#include "agent/call/leg.h"
#include "media/media.h"
#include "sip/ua.h"
#include "tools/benches/node.h"

struct host {
	struct media *media; /* owned */
	struct ua *ua; /* owned */
};

int host_open(struct host *host, const struct node *node,
	      const struct ua_events *events, void *owner);
