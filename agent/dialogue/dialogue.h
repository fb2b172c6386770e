/* SPDX-License-Identifier: MIT */
/* agent/dialogue/dialogue.h - the voice of a pathway: speaks its lines through
 * the playout, hears the caller, takes turns, and tells the pathway what was
 * really heard of each line. One per call that is up. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "agent/dialogue/latency.h"
#include "agent/pathway/pathway.h"

struct dialogue;
struct stream;

struct dialogue_settings {
	const char *voice;
	uint32_t end_ms; /* interruption_threshold; 0 and 500: adapted */
	bool block_interruptions;
	bool wait_for_greeting; /* the caller speaks first */
};

/* Send the far end to this number: 0, and it ends the call or is followed
 * by dialogue_transfer_failed(); or a negative errno. */
typedef int dialogue_transfer_fn(void *owner, const char *number);

struct dialogue_options {
	struct loop *loop; /* borrowed: outlives us */
	struct speech *speech; /* borrowed */
	struct stream *stream; /* borrowed: playout and wire times */
	const char *call_id;
	struct dialogue_settings settings;
	struct pathway_options pathway;
	dialogue_transfer_fn *on_transfer; /* NULL: cannot be done */
};

/* The conversation is over and its last word said: hang up. Once. */
typedef void dialogue_end_fn(void *owner, const char *why);

/* Starts to talk at once. -ENOENT as pathway_open(). */
int dialogue_open(struct dialogue **out, const struct dialogue_options *options,
		  dialogue_end_fn *on_end, void *owner);
/* The call is over: the line under way is on record as far as it was heard, and
 * nothing follows. What can be asked stays. */
void dialogue_stop(struct dialogue *dialogue);
void dialogue_close(struct dialogue **dialogue); /* stops, too */
/* The far end is another from now on: stream has what the last one had
 * (stream_take_over()). */
void dialogue_move(struct dialogue *dialogue, struct stream *stream);
/* What on_transfer asked for did not come about: the agent goes on. */
void dialogue_transfer_failed(struct dialogue *dialogue);
/* Each 20 ms: the far end's 160 samples. */
void dialogue_frame(struct dialogue *dialogue, const int16_t *samples,
		    bool is_voice);
void dialogue_digit(struct dialogue *dialogue, char digit);
const struct pathway *dialogue_pathway(const struct dialogue *dialogue);
const struct latency *dialogue_latency(const struct dialogue *dialogue);
/* Did the caller say or press anything that was understood? */
bool dialogue_heard_caller(const struct dialogue *dialogue);
