/* SPDX-License-Identifier: MIT */
/* media/jitter.h - the jitter buffer: decoded samples by RTP timestamp, played
 * 20 to 200 ms after the fastest packet would have come, as much as the delay
 * really varies (97th percentile). Packets of any length fit. What is missing
 * is concealed by repeating the last 20 ms, faded out within 60 ms. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	JITTER_FRAME = 160, /* samples out at a time */
	JITTER_RING = 4096, /* samples: 512 ms */
	JITTER_ARRIVALS = 32,
	JITTER_BINS = 21, /* of 10 ms */
	JITTER_PACKET_MAX = 480, /* samples in at a time */
};

struct jitter_packet {
	uint32_t timestamp; /* of the first sample */
	bool starts_spurt; /* the marker bit */
	const int16_t *samples; /* borrowed */
	size_t n; /* at most JITTER_PACKET_MAX */
	uint64_t arrived_us; /* on the loop's clock */
	bool is_held_up; /* by us: its delay says nothing about the network */
};

struct jitter_stats {
	uint64_t late; /* packets that came after their time */
	uint64_t duplicate; /* packets whose samples were there already */
	uint64_t concealed; /* samples filled, while that could be heard */
};

/* Time is kept in samples; timestamps are unwrapped to 64 bits. */
struct jitter {
	int64_t head; /* timestamp that is played next */
	int64_t newest; /* last timestamp put */
	int64_t newest_end; /* and of the sample after it */
	int64_t base,
		base_before; /* least transit of this and the last spell */
	int64_t spell_end;
	int32_t target; /* samples of delay over base */
	unsigned late_in_a_row;
	float bins[JITTER_BINS]; /* how often a packet was that late */
	int32_t faded; /* samples concealed in a row */
	bool is_started;
	struct jitter_stats stats;
	int16_t last[JITTER_FRAME]; /* last good frame, to be repeated */
	uint64_t arrived_us[JITTER_ARRIVALS]; /* by timestamp / JITTER_FRAME */
	int16_t ring[JITTER_RING]; /* missing where nothing came */
};

void jitter_init(struct jitter *jitter);
/* Another source: forgets all but the statistics and the measured delay. */
void jitter_restart(struct jitter *jitter);
void jitter_put(struct jitter *jitter, const struct jitter_packet *packet);
/* May a packet after the newest have come by now? Not before the fastest would
 * have. */
bool jitter_is_due(const struct jitter *jitter, uint64_t now_us);
/* The next 20 ms. *arrived_us, when the frame came, is 0 if it did not. */
void jitter_get(struct jitter *jitter, int16_t out[JITTER_FRAME],
		uint64_t *arrived_us, uint64_t now_us);
/* Frames that will not be played: the loop stood still. */
void jitter_skip(struct jitter *jitter, uint32_t frames);
/* Ask the caches for what the next put and get will touch. */
void jitter_prefetch_put(const struct jitter *jitter);
void jitter_prefetch_get(const struct jitter *jitter);
/* Delay between arrival of the fastest packet and its playing. */
double jitter_delay_ms(const struct jitter *jitter);
