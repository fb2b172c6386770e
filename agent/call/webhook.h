/* SPDX-License-Identifier: MIT */
/* agent/call/webhook.h - delivers what the outbox holds: signed, in order per
 * call, with retries over 24 h, also after a restart. */
#pragma once
#include "agent/service.h"
#include "core/buffer.h"

struct webhook;

int webhook_open(struct webhook **out, struct service *service);
void webhook_close(struct webhook **webhook);
void webhook_wake(struct webhook *webhook); /* the outbox has changed */

struct webhook_stats {
	uint64_t delivered, failed_attempts, given_up;
	unsigned in_flight;
};
void webhook_stats(const struct webhook *webhook, struct webhook_stats *out);
