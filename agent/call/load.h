/* SPDX-License-Identifier: MIT */
/* agent/call/load.h - may another call begin? Not when agent.max_calls are
 * live, when the audio ports run out, or when the loop itself comes late: the
 * calls that are up go first. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct load;
struct service;

enum load_state { LOAD_FINE, LOAD_CALLS, LOAD_PORTS, LOAD_LATE, LOAD_STATES };

struct load_demand {
	unsigned live; /* calls */
	unsigned coming; /* of them those that have not taken their port yet */
};

/* on_relief: what load_check() last objected to is over. Posted. */
void load_open(struct load **out, struct service *service,
	       void (*on_relief)(void *owner), void *owner);
void load_close(struct load **load);
enum load_state load_check(struct load *load, const struct load_demand *demand);
/* Counts the refusal that load_check() led to. The SIP status for it. */
int load_refuse(struct load *load);

struct load_stats {
	uint64_t refused[LOAD_STATES]; /* incoming calls, by reason */
	double late_ms; /* the loop's, mean of the last second */
	bool is_full; /* queued calls are held back */
};
void load_stats(const struct load *load, struct load_stats *out);

/* The mean lateness of the last second, from one sample each 50 ms. Caller's
 * memory, zeroed. */
enum { LOAD_SAMPLES = 20, LOAD_SAMPLE_MS = 50 };
struct load_meter {
	uint32_t late_us[LOAD_SAMPLES];
	unsigned at;
};
void load_meter_add(struct load_meter *meter, uint64_t late_us);
double load_meter_ms(const struct load_meter *meter);
