/* SPDX-License-Identifier: MIT */
/* media/pacer.h - one absolute clock for all streams: four slots of 5 ms. Each
 * entry has a full turn every 20 ms and one in between to look at its socket,
 * both in its own slot, so that calls spread evenly. After a stall the turns
 * missed are skipped and counted, never made up for. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct loop;
struct pacer;

enum { PACER_SLOT_US = 5000, PACER_SLOTS = 4, PACER_AHEAD = 3 };

struct pacer_turn {
	uint64_t now_us;
	uint64_t due_us; /* when it should have been: exactly 20 ms apart */
	bool is_between; /* else it is the full turn */
	uint32_t skipped; /* turns of this kind that a stall took */
	void *ahead[PACER_AHEAD]; /* owners whose turns come next, or NULL */
};

typedef void pacer_fn(void *owner, const struct pacer_turn *turn);

/* Part of its owner, who reads nothing of it. */
struct pacer_entry {
	struct pacer_entry *prev, *next; /* borrowed: of the same slot */
	pacer_fn *fn;
	void *owner;
	uint64_t last[2]; /* tick of the last full turn and the last between */
	unsigned slot;
};

struct pacer_stats {
	uint64_t skipped;
	uint64_t late_us_max;
};

void pacer_open(struct pacer **out, struct loop *loop);
void pacer_close(struct pacer **pacer); /* empty, and not inside a turn */
/* Into the emptiest slot; the first turn comes within 20 ms. */
void pacer_add(struct pacer *pacer, struct pacer_entry *entry, pacer_fn *fn,
	       void *owner);
/* Also inside a turn, of any entry; none that is not in: nothing happens. */
void pacer_remove(struct pacer *pacer, struct pacer_entry *entry);
struct pacer_stats pacer_stats(const struct pacer *pacer);
