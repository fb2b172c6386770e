/* SPDX-License-Identifier: MIT */
/* agent/dialogue/dialogue_priv.h - shared by dialogue.c (the pathway's side and
 * what the agent says) and dialogue_caller.c (what the caller does). */
#pragma once
#include "agent/dialogue/dialogue.h"
#include "agent/dialogue/ear.h"
#include "agent/dialogue/line.h"
#include "agent/dialogue/turn.h"

/* THINKING --on_say--> SPEAKING --said or cut--> THINKING
 * THINKING --on_listen--> LISTENING --caller's turn--> THINKING
 * GREETING --caller's turn or 5 s--> THINKING;  any --on_end--> OVER */
enum dialogue_state {
	DIALOGUE_GREETING,
	DIALOGUE_THINKING,
	DIALOGUE_SPEAKING,
	DIALOGUE_LISTENING,
	DIALOGUE_OVER
};

struct dialogue_report {
	dialogue_end_fn *on_end;
	dialogue_transfer_fn *on_transfer; /* NULL: cannot be done */
	void *owner;
	const char *why; /* static text of the pathway's */
	bool heard_caller;
};

struct dialogue {
	struct loop *loop; /* borrowed: outlives us */
	struct speech *speech; /* borrowed: outlives us */
	struct stream *stream; /* borrowed: outlives us */
	struct timeline *timeline; /* borrowed: outlives us */
	struct pathway *pathway; /* owned */
	struct ear *ear; /* owned */
	struct line *line; /* owned; only when SPEAKING */
	struct timer *timer; /* owned: the greeting's limit, the linger */
	char *call_id; /* owned */
	char *voice; /* owned */
	struct dialogue_settings settings;
	enum dialogue_state state;
	struct turn turn;
	unsigned digits; /* expected now, when more than one */
	bool is_line_blocked;
	bool ignores_digits;
	struct latency latency;
	struct dialogue_report report;
};

enum { DIALOGUE_END_MS = 500 }; /* silence that ends a turn */

void dialogue_enter(struct dialogue *dialogue, enum dialogue_state next);
uint64_t dialogue_now_us(const struct dialogue *dialogue);
/* The line under way ends here; the pathway hears how far it was heard. */
void dialogue_end_line(struct dialogue *dialogue);
/* Hands the caller's words over once they are complete. */
void dialogue_deliver(struct dialogue *dialogue);
extern const struct ear_events dialogue_ear_events;
