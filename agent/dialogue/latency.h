/* SPDX-License-Identifier: MIT */
/* agent/dialogue/latency.h - how long the caller waited, measured on the wire:
 * from the last voiced sample received to the first voiced sample sent, with
 * its parts, per turn. Caller's memory. */
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum latency_part {
	LATENCY_TOTAL, /* wire to wire */
	LATENCY_END_OF_TURN, /* last voice to the decision it was over */
	LATENCY_RECOGNISER, /* to the final words */
	LATENCY_MODEL, /* to the line to say */
	LATENCY_SYNTHESISER, /* to its first samples */
	LATENCY_PLAYOUT, /* to the first frame sent */
	LATENCY_PARTS
};

enum { LATENCY_TURNS_MAX = 1000 };

struct latency {
	uint32_t (*turns)[LATENCY_PARTS]; /* owned; ms */
	size_t n;
	uint64_t at_us[LATENCY_PARTS]; /* of the turn under way; 0: not yet */
};

void latency_init(struct latency *latency);
void latency_reset(struct latency *latency); /* frees */
/* A stage of the turn under way has been reached. LATENCY_TOTAL stands for the
 * last voiced sample received and begins a new turn. */
void latency_mark(struct latency *latency, enum latency_part part,
		  uint64_t at_us);
/* All but the first voiced sample is there. */
bool latency_is_due(const struct latency *latency);
/* The first voiced sample went out: the turn is complete. Returns its total in
 * ms, or -1 when stages are missing (the agent spoke of its own accord). */
int64_t latency_finish(struct latency *latency, uint64_t at_us);
void latency_abandon(struct latency *latency);
/* {turns, p50, p95, p99, parts: {...}, per_turn: [...]}; null without turns. */
json_t *latency_json(const struct latency *latency);
