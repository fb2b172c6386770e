/* SPDX-License-Identifier: MIT */
/* media/playout.h - what is to be said next, paced by the stream's slot: one
 * frame of 160 samples each 20 ms, so the number of samples really sent is
 * known at every moment and an interruption cuts by it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct playout;

struct playout_events {
	/* All that was queued has been sent (one frame ago). Posted. */
	void (*on_drained)(void *owner);
	/* The first frame after silence went out. Posted. */
	void (*on_started)(void *owner);
};

void playout_attach(struct playout *playout,
		    const struct playout_events *events, void *owner);
/* Appends samples at 8 kHz; copied. At most 10 minutes wait: -ENOBUFS. */
int playout_queue(struct playout *playout, const int16_t *samples, size_t n);
/* Samples sent since the last playout_mark(); pauses do not count. */
uint64_t playout_position(const struct playout *playout);
/* The next sample queued counts as 0: the start of an utterance. */
void playout_mark(struct playout *playout);
size_t playout_queued(const struct playout *playout); /* not yet sent */
void playout_pause(struct playout *playout); /* silence, place kept */
void playout_resume(struct playout *playout);
/* Drops what was not sent, with a ramp of 5 ms against clicks. */
void playout_drop(struct playout *playout);
bool playout_is_paused(const struct playout *playout);
