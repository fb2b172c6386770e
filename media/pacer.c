/* SPDX-License-Identifier: MIT */
#include "media/pacer.h"
#include <assert.h>
#include <stddef.h>
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "media/prefetch.h"

struct pacer {
	struct loop *loop; /* borrowed: outlives us */
	struct timer *timer; /* owned, armed while there are entries */
	uint64_t t0_us;
	uint64_t next_tick;
	struct pacer_entry *slots[PACER_SLOTS]; /* borrowed lists */
	unsigned sizes[PACER_SLOTS];
	unsigned n;
	struct pacer_entry *cursor; /* the entry whose turn is next */
	bool is_running; /* inside on_timer(), which arms the timer itself */
	struct pacer_stats stats;
};

static void on_timer(void *arg);

void pacer_open(struct pacer **out, struct loop *loop)
{
	struct pacer *pacer = mem_new(sizeof(*pacer));

	pacer->loop = loop;
	pacer->timer = timer_new(loop);
	pacer->t0_us = loop_now_us(loop);
	*out = pacer;
}

void pacer_close(struct pacer **pacer)
{
	if (!*pacer)
		return;
	assert((*pacer)->n == 0);
	timer_close(&(*pacer)->timer);
	mem_free(*pacer);
	*pacer = NULL;
}

static uint64_t tick_at(const struct pacer *pacer, uint64_t now_us)
{
	return (now_us - pacer->t0_us) / PACER_SLOT_US;
}

static void arm(struct pacer *pacer)
{
	timer_start_at(pacer->timer,
		       pacer->t0_us + pacer->next_tick * PACER_SLOT_US,
		       on_timer, pacer);
}

static void run_entry(struct pacer *pacer, struct pacer_entry *entry,
		      bool is_between, uint64_t now_us)
{
	const struct pacer_entry *next = entry->next;
	uint64_t passed = pacer->next_tick - entry->last[is_between];
	struct pacer_turn turn = { .now_us = now_us,
				   .due_us = pacer->t0_us +
					     pacer->next_tick * PACER_SLOT_US,
				   .is_between = is_between };

	for (unsigned i = 0; i < PACER_AHEAD && next; i++) {
		turn.ahead[i] = next->owner;
		next = next->next;
	}
	prefetch_bytes(next, sizeof(*next));
	if (passed > PACER_SLOTS)
		turn.skipped = (uint32_t)(passed / PACER_SLOTS - 1);
	pacer->stats.skipped += turn.skipped;
	entry->last[is_between] = pacer->next_tick;
	entry->fn(entry->owner, &turn);
}

static void run_slot(struct pacer *pacer, unsigned slot, bool is_between,
		     uint64_t now_us)
{
	pacer->cursor = pacer->slots[slot];
	while (pacer->cursor) {
		struct pacer_entry *entry = pacer->cursor;

		pacer->cursor = entry->next;
		run_entry(pacer, entry, is_between, now_us);
	}
}

/* After a stall at most one turn of each kind is run per entry. */
static void skip_missed(struct pacer *pacer, uint64_t due_tick)
{
	uint64_t late_us = (due_tick - pacer->next_tick) * PACER_SLOT_US;

	if (late_us > pacer->stats.late_us_max)
		pacer->stats.late_us_max = late_us;
	if (due_tick - pacer->next_tick >= PACER_SLOTS)
		pacer->next_tick = due_tick - (PACER_SLOTS - 1);
}

static void on_timer(void *arg)
{
	struct pacer *pacer = arg;
	uint64_t due_tick = tick_at(pacer, loop_now_us(pacer->loop));

	if (due_tick > pacer->next_tick)
		skip_missed(pacer, due_tick);
	pacer->is_running = true;
	for (; pacer->next_tick <= due_tick; pacer->next_tick++) {
		unsigned slot = pacer->next_tick % PACER_SLOTS;
		uint64_t now_us = loop_now_us(pacer->loop);

		run_slot(pacer, slot, false, now_us);
		run_slot(pacer, (slot + 2) % PACER_SLOTS, true, now_us);
	}
	pacer->is_running = false;
	if (pacer->n)
		arm(pacer);
}

static unsigned emptiest(const struct pacer *pacer)
{
	unsigned best = 0;

	for (unsigned i = 1; i < PACER_SLOTS; i++)
		if (pacer->sizes[i] < pacer->sizes[best])
			best = i;
	return best;
}

/* The last tick before now that was of this kind, so that nothing counts as
 * skipped at first. */
static uint64_t last_of(uint64_t tick, unsigned slot)
{
	uint64_t back = (tick + PACER_SLOTS - slot) % PACER_SLOTS;

	return tick >= back ? tick - back : 0;
}

void pacer_add(struct pacer *pacer, struct pacer_entry *entry, pacer_fn *fn,
	       void *owner)
{
	uint64_t tick = tick_at(pacer, loop_now_us(pacer->loop));
	unsigned slot = emptiest(pacer);

	*entry = (struct pacer_entry){ .next = pacer->slots[slot],
				       .fn = fn,
				       .owner = owner,
				       .slot = slot };
	entry->last[0] = last_of(tick, slot);
	entry->last[1] = last_of(tick, (slot + 2) % PACER_SLOTS);
	if (entry->next)
		entry->next->prev = entry;
	pacer->slots[slot] = entry;
	pacer->sizes[slot]++;
	if (pacer->n++ == 0 && !pacer->is_running) {
		pacer->next_tick = tick + 1;
		arm(pacer);
	}
}

void pacer_remove(struct pacer *pacer, struct pacer_entry *entry)
{
	if (!entry->fn)
		return;
	if (pacer->cursor == entry)
		pacer->cursor = entry->next;
	if (entry->prev)
		entry->prev->next = entry->next;
	else
		pacer->slots[entry->slot] = entry->next;
	if (entry->next)
		entry->next->prev = entry->prev;
	pacer->sizes[entry->slot]--;
	*entry = (struct pacer_entry){ .fn = NULL };
	if (--pacer->n == 0)
		timer_stop(pacer->timer);
}

struct pacer_stats pacer_stats(const struct pacer *pacer)
{
	return pacer->stats;
}
