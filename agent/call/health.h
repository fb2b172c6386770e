/* SPDX-License-Identifier: MIT */
/* agent/call/health.h - is anyone there? Each host and port that an outbound
 * configuration names, of whichever organisation, is asked with an OPTIONS
 * every sip.probe_interval_s, spread over that time and without credentials:
 * a refusal is an answer too. */
#pragma once
#include "agent/service.h"
#include "store/trunks.h"

struct health;

enum health_state {
	HEALTH_UNCHECKED,
	HEALTH_HEALTHY,
	HEALTH_UNREACHABLE,
	HEALTH_STATES
};

/* What the last OPTIONS brought. */
struct health_report {
	enum health_state state;
	uint32_t response_ms; /* with the way there; healthy alone */
	int64_t checked_ms; /* Unix time; 0: never */
	char why[160]; /* for people; "" unless unreachable */
};

/* service is borrowed, its ua is read when somebody is asked. */
int health_open(struct health **out, struct service *service);
/* Before the ua closes. Who waits in health_ask() is told "unreachable". */
void health_close(struct health **health);
/* "healthy", "unreachable", "unchecked" */
const char *health_state_name(enum health_state state);
/* How the target was when it was last asked. */
void health_report(const struct health *health,
		   const struct trunk_target *target,
		   struct health_report *out);

typedef void health_fn(void *owner, const struct health_report *report);
/* Asks now; done follows within 5 s, never inside this call. -EBUSY: 32 of
 * this organisation wait already. */
int health_ask(struct health *health, const char *org_id,
	       const struct trunk_target *target, health_fn *done, void *owner);

struct health_stats {
	unsigned targets[HEALTH_STATES];
	unsigned in_flight;
	uint64_t probes, failures;
};
void health_stats(const struct health *health, struct health_stats *out);
