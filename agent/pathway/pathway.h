/* SPDX-License-Identifier: MIT */
/* agent/pathway/pathway.h - the interpreter: text in, text out and variables;
 * never audio. One line is out at a time: each on_say is answered by
 * pathway_spoken(), each on_listen by pathway_hear(), _press() or _silence(),
 * unless the call ends. Voice calls, chats and simulation all run this. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "agent/engine/model.h"
#include "agent/engine/speech.h"
#include "agent/pathway/graph.h"
#include "agent/pathway/timeline.h"

struct fetch;
struct pathway;

struct pathway_line {
	const char *text;
	bool is_uninterruptible; /* block_interruptions */
	bool is_last; /* the call ends after it */
};

struct pathway_expect {
	struct speech_hint hint; /* what the node's edges expect */
	uint32_t threshold_ms; /* interruptionThreshold; 0: default */
	unsigned digits; /* expected length; 0: any */
};

/* Posted: never inside a call into the pathway. What they are given is valid
 * during the callback. */
struct pathway_events {
	void (*on_say)(void *owner, const struct pathway_line *line);
	void (*on_listen)(void *owner, const struct pathway_expect *expect);
	/* The caller is to talk to number (E.164) instead of us. Either the
	 * call ends or pathway_transfer_failed() follows, also inside this.
	 * NULL: cannot be done. */
	void (*on_transfer)(void *owner, const char *number);
	/* The pathway has come to its end: hang up. Last. why: "end_call",
	 * "silence", "loop" or "transfer". */
	void (*on_end)(void *owner, const char *why);
};

struct pathway_options {
	struct loop *loop; /* borrowed: outlives us */
	struct graph *graph; /* owned from now on */
	struct model *model; /* borrowed */
	struct fetch *fetch; /* borrowed; egress policy for tenants */
	struct timeline *timeline; /* borrowed */
	const char *call_id;
	const char *start_node_id; /* NULL: the start node */
	const json_t *variables; /* initial; copied */
	const json_t *init; /* more members of conversation.init */
	const char *timezone; /* IANA name */
	const json_t *transfer_list; /* name to number; copied; or NULL */
	bool ignore_digits;
};

/* -ENOENT: no such start node (the graph is closed then, too). */
int pathway_open(struct pathway **out, const struct pathway_options *options,
		 const struct pathway_events *events, void *owner);
void pathway_close(struct pathway **pathway); /* no callback after */
void pathway_start(struct pathway *pathway); /* conversation.init, first line */
/* What the caller really heard of the last line: all of it or, when it was
 * cut, the words up to the cut. Writes transcript.assistant. */
void pathway_spoken(struct pathway *pathway, const char *heard);
/* The call is over: the line that is out, if any, is on record as far as it was
 * heard, and the pathway goes nowhere. pathway_close() follows. */
void pathway_stop(struct pathway *pathway, const char *heard);
/* The caller's turn; also while a line is out (after its pathway_spoken()).
 * Writes transcript.user. */
void pathway_hear(struct pathway *pathway, const char *text);
/* Key presses; writes button.press. Counts as the caller's turn. */
void pathway_press(struct pathway *pathway, char digit);
/* After on_transfer: the caller stays with us. */
void pathway_transfer_failed(struct pathway *pathway);
/* Nothing was said for the silence time: asks again, at last says goodbye. */
void pathway_silence(struct pathway *pathway);
const json_t *pathway_variables(const struct pathway *pathway); /* borrowed */
const json_t *pathway_history(const struct pathway *pathway); /* borrowed */
