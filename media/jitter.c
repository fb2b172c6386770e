/* SPDX-License-Identifier: MIT */
#include "media/jitter.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "media/prefetch.h"

enum {
	MISSING_BYTE = 0x80, /* both bytes of it */
	MISSING = INT16_MIN + MISSING_BYTE, /* no G.711 code decodes to it */
	BIN = 80, /* samples */
	TARGET_MIN = 160,
	TARGET_MAX = 1600,
	FIRST_BIN = 2, /* 30 ms until the jitter is known */
	SPELL = 4 * 8000, /* the least transit is of the last 4 to 8 s */
	FADE = 480, /* samples until concealment is silent */
	FAR = 800, /* this late is made up for at once */
	LATE_MAX = 10, /* in a row: the timestamps have moved */
	QUIET = 400, /* peak under which samples may be left out */
};

/* What one packet weighs: half is forgotten in 3.5 s, but two that come too
 * late for the present delay are enough to raise it. */
static const float weight = 0.004f, late_weight = 0.016f;
static const float percentile = 0.97f;

static void clear_ring(struct jitter *jitter)
{
	memset(jitter->ring, MISSING_BYTE, sizeof(jitter->ring));
}

void jitter_init(struct jitter *jitter)
{
	*jitter = (struct jitter){ .target = (FIRST_BIN + 1) * BIN };
	jitter->bins[FIRST_BIN] = 1;
	jitter_restart(jitter);
}

void jitter_restart(struct jitter *jitter)
{
	clear_ring(jitter);
	jitter->is_started = false;
	jitter->late_in_a_row = 0;
	jitter->faded = FADE;
}

static int64_t to_samples(uint64_t us)
{
	return (int64_t)(us / 125);
}

static int64_t base(const struct jitter *jitter)
{
	return jitter->base < jitter->base_before ? jitter->base
						  : jitter->base_before;
}

/* Returns the timestamp one turn of its 32 bits up, so that whatever a peer
 * sends the buffer's own time stays positive. */
static int64_t start(struct jitter *jitter, uint32_t timestamp, int64_t arrived)
{
	int64_t at = (int64_t)timestamp + (1LL << 32);

	clear_ring(jitter);
	jitter->head = at - jitter->target;
	jitter->newest = at;
	jitter->base = jitter->base_before = arrived - at;
	jitter->spell_end = arrived + SPELL;
	jitter->late_in_a_row = 0;
	jitter->is_started = true;
	return at;
}

static int32_t find_target(const struct jitter *jitter)
{
	float sum = 0;
	int32_t bin = 0;
	int32_t target;

	while (bin < JITTER_BINS - 1) {
		sum += jitter->bins[bin];
		if (sum >= percentile)
			break;
		bin++;
	}
	target = (bin + 1) * BIN;
	if (target < TARGET_MIN)
		return TARGET_MIN;
	return target > TARGET_MAX ? TARGET_MAX : target;
}

static void measure(struct jitter *jitter, int64_t at, int64_t arrived)
{
	int64_t transit = arrived - at;
	int64_t bin;
	float share;

	if (arrived >= jitter->spell_end) {
		jitter->base_before = jitter->base;
		jitter->base = transit;
		jitter->spell_end = arrived + SPELL;
	}
	if (transit < jitter->base)
		jitter->base = transit;
	bin = (transit - base(jitter)) / BIN;
	if (bin >= JITTER_BINS)
		bin = JITTER_BINS - 1;
	share = (bin + 1) * BIN > jitter->target ? late_weight : weight;
	for (size_t i = 0; i < JITTER_BINS; i++)
		jitter->bins[i] *= 1 - share;
	jitter->bins[bin] += share;
	jitter->target = find_target(jitter);
}

/* How many of n samples from at on lie in one piece of the ring, at *slot. */
static size_t piece(int64_t at, int64_t n, size_t *slot)
{
	*slot = (uint64_t)at % JITTER_RING;
	return (size_t)n < JITTER_RING - *slot ? (size_t)n
					       : JITTER_RING - *slot;
}

static void store(struct jitter *jitter, int64_t at,
		  const struct jitter_packet *packet)
{
	const int16_t *samples = packet->samples;
	int64_t end = at + (int64_t)packet->n;

	if (at < jitter->head) {
		samples += jitter->head - at;
		at = jitter->head;
	}
	if (jitter->ring[at % JITTER_RING] != MISSING) {
		jitter->stats.duplicate++;
		return;
	}
	for (int64_t i = at / JITTER_FRAME; i <= (end - 1) / JITTER_FRAME; i++)
		jitter->arrived_us[i % JITTER_ARRIVALS] = packet->arrived_us;
	while (at < end) {
		size_t slot;
		size_t n = piece(at, end - at, &slot);

		memcpy(&jitter->ring[slot], samples, n * sizeof(*samples));
		samples += n;
		at += (int64_t)n;
	}
}

/* False: too late to be played. A timestamp out of all range, or many late ones
 * in a row, or a late talk spurt: the sender has moved its clock. */
static bool find_place(struct jitter *jitter, int64_t *at,
		       const struct jitter_packet *packet)
{
	int64_t arrived = to_samples(packet->arrived_us);
	int64_t end;

	if (!jitter->is_started) {
		*at = start(jitter, packet->timestamp, arrived);
		return true;
	}
	*at = jitter->newest +
	      (int32_t)(packet->timestamp - (uint32_t)jitter->newest);
	end = *at + (int64_t)packet->n - jitter->head;
	if (end > JITTER_RING) {
		*at = start(jitter, packet->timestamp, arrived);
		return true;
	}
	if (!packet->is_held_up)
		measure(jitter, *at, arrived);
	if (end > 0) {
		jitter->late_in_a_row = 0;
		return true;
	}
	jitter->stats.late++;
	if (!packet->starts_spurt && ++jitter->late_in_a_row < LATE_MAX)
		return false;
	*at = start(jitter, packet->timestamp, arrived);
	return true;
}

void jitter_put(struct jitter *jitter, const struct jitter_packet *packet)
{
	int64_t at;

	assert(packet->n <= JITTER_PACKET_MAX);
	if (packet->n == 0 || !find_place(jitter, &at, packet))
		return;
	if (at >= jitter->newest) {
		jitter->newest = at;
		jitter->newest_end = at + (int64_t)packet->n;
	}
	store(jitter, at, packet);
}

bool jitter_is_due(const struct jitter *jitter, uint64_t now_us)
{
	return !jitter->is_started ||
	       to_samples(now_us) - base(jitter) >= jitter->newest_end;
}

static void advance(struct jitter *jitter, int64_t n)
{
	int64_t left = n < JITTER_RING ? n : JITTER_RING;
	int64_t at = jitter->head;

	while (left) {
		size_t slot;
		size_t part = piece(at, left, &slot);

		memset(&jitter->ring[slot], MISSING_BYTE,
		       part * sizeof(jitter->ring[0]));
		at += (int64_t)part;
		left -= (int64_t)part;
	}
	jitter->head += n;
}

/* The oldest sample that should be played now by the measured delay. */
static int64_t ideal(const struct jitter *jitter, uint64_t now_us)
{
	return to_samples(now_us) - base(jitter) - jitter->target;
}

/* How many of out are missing; those are left as MISSING. */
static int copy_out(const struct jitter *jitter, int16_t out[JITTER_FRAME])
{
	size_t slot;
	size_t n = piece(jitter->head, JITTER_FRAME, &slot);
	int missing = 0;

	memcpy(out, &jitter->ring[slot], n * sizeof(*out));
	memcpy(out + n, jitter->ring, (JITTER_FRAME - n) * sizeof(*out));
	for (int i = 0; i < JITTER_FRAME; i++)
		missing += out[i] == MISSING;
	return missing;
}

static void conceal(struct jitter *jitter, int16_t out[JITTER_FRAME])
{
	for (int i = 0; i < JITTER_FRAME; i++) {
		if (out[i] != MISSING)
			continue;
		if (jitter->faded >= FADE) {
			out[i] = 0;
			continue;
		}
		out[i] = (int16_t)(jitter->last[i] * (FADE - jitter->faded) /
				   FADE);
		jitter->faded++;
		jitter->stats.concealed++;
	}
}

/* A frame may span two packets, and a block of arrivals may be shared with the
 * packet after: its first sample tells it to within one packet. */
static uint64_t when(const struct jitter *jitter, bool has_first)
{
	int64_t at = jitter->head + (has_first ? 0 : JITTER_FRAME - 1);

	return jitter->arrived_us[at / JITTER_FRAME % JITTER_ARRIVALS];
}

static bool is_quiet(const int16_t samples[JITTER_FRAME])
{
	for (int i = 0; i < JITTER_FRAME; i++)
		if (abs(samples[i]) >= QUIET)
			return false;
	return true;
}

/* How far to go after a good frame: too deep a buffer loses 10 ms of a quiet
 * frame, or of any when it is 60 ms too deep; too shallow a one plays a quiet
 * frame twice. This is also what follows a drifting clock. */
static int64_t find_step(const int16_t out[JITTER_FRAME], int64_t behind)
{
	if (behind >= 120 && (behind >= 480 || is_quiet(out)))
		return JITTER_FRAME + 80;
	if (behind <= -JITTER_FRAME && is_quiet(out))
		return 0;
	return JITTER_FRAME;
}

void jitter_get(struct jitter *jitter, int16_t out[JITTER_FRAME],
		uint64_t *arrived_us, uint64_t now_us)
{
	int64_t behind;
	int missing;

	*arrived_us = 0;
	if (!jitter->is_started) {
		memset(out, 0, JITTER_FRAME * sizeof(*out));
		return;
	}
	behind = ideal(jitter, now_us) - jitter->head;
	if (behind > FAR) {
		advance(jitter, behind);
		behind = 0;
	}
	missing = copy_out(jitter, out);
	*arrived_us = when(jitter, out[0] != MISSING);
	if (missing)
		conceal(jitter, out);
	if (missing == JITTER_FRAME) {
		*arrived_us = 0;
		advance(jitter, behind > -BIN ? JITTER_FRAME : 0);
		return;
	}
	if (!missing) {
		jitter->faded = 0;
		memcpy(jitter->last, out, sizeof(jitter->last));
	}
	advance(jitter, find_step(out, behind));
}

void jitter_skip(struct jitter *jitter, uint32_t frames)
{
	if (jitter->is_started)
		advance(jitter, (int64_t)frames * JITTER_FRAME);
}

static void prefetch_ring(const struct jitter *jitter, int64_t at)
{
	size_t slot;
	size_t n = piece(at, JITTER_FRAME, &slot);

	prefetch_bytes(&jitter->ring[slot], n * sizeof(jitter->ring[0]));
}

void jitter_prefetch_put(const struct jitter *jitter)
{
	int64_t at = jitter->newest_end;

	prefetch_ring(jitter, at);
	prefetch_bytes(&jitter->arrived_us[at / JITTER_FRAME % JITTER_ARRIVALS],
		       sizeof(jitter->arrived_us[0]));
}

void jitter_prefetch_get(const struct jitter *jitter)
{
	prefetch_ring(jitter, jitter->head);
	prefetch_bytes(jitter->last, sizeof(jitter->last));
}

double jitter_delay_ms(const struct jitter *jitter)
{
	return jitter->is_started ? jitter->target / 8.0 : 0;
}
