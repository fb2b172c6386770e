/* SPDX-License-Identifier: MIT */
/* agent/call/health_priv.h - shared by health.c (targets, who waits, a probe)
 * and health_round.c (when each target's turn comes). */
#pragma once
#include <sys/queue.h>
#include "agent/call/health.h"
#include "sip/table.h"

struct ask;
struct timer;
struct ua_probe;

struct health_target {
	struct table_entry entry;
	struct health *health; /* borrowed: owns us */
	char *host; /* owned */
	uint16_t port;
	struct ua_probe *probe; /* owned, while it is asked */
	struct timer *timer; /* owned; armed while it is asked */
	struct health_report report;
	unsigned round; /* the last that found it in the store */
	TAILQ_ENTRY(health_target) in_targets;
};

/* READING the store in pages --all read--> ASKING each target at its time
 * --all asked--> RESTING until the interval is over --> READING
 * READING --the store fails, or nobody is to be asked--> RESTING */
enum health_phase { HEALTH_READING, HEALTH_ASKING, HEALTH_RESTING };

struct health {
	struct service *service; /* borrowed: outlives us */
	struct timer *timer; /* owned: the round's next step */
	struct table by_name;
	TAILQ_HEAD(, health_target) targets; /* owned */
	TAILQ_HEAD(, ask) asks; /* owned */
	enum health_phase phase;
	unsigned round;
	uint64_t start_us; /* of the round */
	uint64_t interval_ms;
	bool is_off; /* no target is asked by itself */
	char cursor_host[256]; /* the last that was read */
	uint16_t cursor_port;
	struct health_target *next; /* to be asked in this round */
	size_t at, n; /* its place in the round, and of how many */
	struct health_stats stats;
};

/* In the table; NULL: never asked nor found in the store. */
struct health_target *health_find(const struct health *health,
				  const struct trunk_target *name);
/* A new one, in the table and the list. */
struct health_target *health_add(struct health *health,
				 const struct trunk_target *name);
/* Forgets it; nobody waits for it. */
void health_drop(struct health_target *target);
/* Asks it, unless that is under way. */
void health_probe(struct health_target *target);

/* health_round.c: the next step of the round. */
void health_step(void *health);
