/* SPDX-License-Identifier: MIT */
#include "media/source.h"
#include <stdlib.h>

enum { DROPOUT_MAX = 3000, MISORDER_MAX = 1000 };

static uint64_t expected(const struct source *source)
{
	return source->is_started ? (uint64_t)source->highest - source->base + 1
				  : 0;
}

static uint64_t lost_now(const struct source *source)
{
	uint64_t all = expected(source);

	return all > source->received ? all - source->received : 0;
}

void source_restart(struct source *source, uint32_t ssrc)
{
	uint64_t lost = source_lost(source);
	uint64_t reordered = source->reordered;
	double jitter = source->jitter;

	*source = (struct source){ .ssrc = ssrc,
				   .lost_before = lost,
				   .reordered = reordered,
				   .jitter = jitter };
}

static void start(struct source *source, uint16_t seq)
{
	/* One cycle up, so that a packet from before the first has a place. */
	source->base = source->highest = seq + 0x10000u;
	source->is_started = true;
}

/* In-order packets alone: a gap in the timestamps is not jitter. */
static void add_jitter(struct source *source, uint32_t timestamp,
		       uint64_t now_us)
{
	int64_t transit = (int32_t)((uint32_t)(now_us / 125) - timestamp);
	int64_t change = llabs(transit - source->transit);

	if (source->received && change < 8000)
		source->jitter += ((double)change - source->jitter) / 16;
	source->transit = transit;
}

bool source_add(struct source *source, uint16_t seq, uint32_t timestamp,
		uint64_t now_us)
{
	int32_t ahead;

	if (!source->is_started)
		start(source, seq);
	ahead = (int16_t)(seq - (uint16_t)source->highest);
	if (ahead > DROPOUT_MAX || ahead < -MISORDER_MAX) {
		source_restart(source, source->ssrc);
		start(source, seq);
		ahead = 0;
	}
	if (ahead >= 0) {
		add_jitter(source, timestamp, now_us);
		source->highest += (uint32_t)ahead;
	} else {
		source->reordered++;
	}
	source->received++;
	return ahead >= 0;
}

uint64_t source_lost(const struct source *source)
{
	return source->lost_before + lost_now(source);
}

uint8_t source_fraction(struct source *source)
{
	uint64_t all = expected(source) - source->expected_before;
	uint64_t came = source->received - source->received_before;

	source->expected_before += all;
	source->received_before += came;
	if (all == 0 || came >= all)
		return 0;
	return (uint8_t)(((all - came) << 8) / all);
}

double source_jitter_ms(const struct source *source)
{
	return source->jitter / 8;
}
