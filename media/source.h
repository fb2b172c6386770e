/* SPDX-License-Identifier: MIT */
/* media/source.h - what one sender's packets tell: sequence with its wraps,
 * loss and jitter (RFC 3550, A.1, A.3, A.8). Packets are authenticated before
 * they come here, so a source needs no probation. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct source {
	uint32_t ssrc;
	bool is_started;
	uint32_t base; /* first extended sequence number */
	uint32_t highest; /* extended sequence number */
	uint64_t received;
	uint64_t reordered;
	double jitter; /* samples */
	int64_t transit;
	uint64_t expected_before, received_before; /* last report */
	uint64_t lost_before; /* of sources that went before */
};

/* seq and timestamp as they came; true: the newest so far. */
bool source_add(struct source *source, uint16_t seq, uint32_t timestamp,
		uint64_t now_us);
/* Another SSRC or clock: what was lost so far is kept. */
void source_restart(struct source *source, uint32_t ssrc);
uint64_t source_lost(const struct source *source); /* over all restarts */
/* Of 256, since the last call. */
uint8_t source_fraction(struct source *source);
double source_jitter_ms(const struct source *source);
