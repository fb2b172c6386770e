/* SPDX-License-Identifier: MIT */
/* agent/pathway/pathway_priv.h - the interpreter's parts: pathway.c holds the
 * state and what comes in, node_run.c enters nodes and moves between them,
 * decide.c asks the model, speak.c says lines, keys.c gathers digits. All work
 * that ends in a callback is posted: one step waits at a time. */
#pragma once
#include "agent/pathway/operation.h"
#include "agent/pathway/pathway.h"
#include "agent/pathway/variables.h"

struct arena;
struct timer;
struct webhook_node;

/* IDLE --start--> STEPPING --words--> [PHRASING] --> SAYING --spoken--> ...
 * ... --> LISTENING --caller's turn--> DECIDING --> STEPPING (the next node)
 * FETCHING: a Webhook node waits for its answer. TRANSFERRING: the caller is
 * being sent to somebody else. ENDED follows on_end. */
enum pathway_state {
	PATHWAY_IDLE,
	PATHWAY_STEPPING,
	PATHWAY_DECIDING,
	PATHWAY_PHRASING,
	PATHWAY_FETCHING,
	PATHWAY_TRANSFERRING,
	PATHWAY_SAYING,
	PATHWAY_LISTENING,
	PATHWAY_ENDED
};

/* What follows a line. */
enum pathway_after {
	AFTER_NODE, /* what its node does next */
	AFTER_LISTEN, /* the caller's turn */
	AFTER_END /* the end */
};

enum pathway_tone {
	TONE_PLAIN,
	TONE_SORRY /* nothing fitted what the caller said */
};

enum pathway_purpose {
	DECIDE_TURN, /* on the caller's turn */
	DECIDE_MOVE_ON, /* on where to go without waiting for the caller */
	DECIDE_EXTRACT /* nothing: variables for a request */
};

struct pathway_place {
	const struct graph_node *node;
	const struct graph_node *back; /* where a global node returns to */
	unsigned steps; /* nodes since the caller was last waited for */
	unsigned silences; /* in a row */
	char *words; /* owned: the node's filled-in text or prompt */
	char *said; /* owned: its line in full */
};

struct pathway_spoken_line {
	char *text; /* owned */
	enum pathway_after after;
	enum pathway_tone tone;
	bool is_uninterruptible;
	const char *why; /* AFTER_END: for on_end; static text */
};

struct pathway_turn {
	struct model_call *call; /* owned; NULL: none under way */
	enum pathway_purpose purpose;
	bool is_asked; /* the model was: nothing else settled it */
	char *text; /* owned: the caller's latest words */
	struct operation extraction; /* prefix NULL: nothing to extract */
	struct operation condition;
};

enum { PATHWAY_KEYS_MAX = 32 };

struct pathway_keys {
	struct timer *timer; /* owned: the last digit was the last */
	char digits[PATHWAY_KEYS_MAX + 1]; /* pressed, not yet heard */
	size_t n;
	bool is_ignored;
};

/* A request whose answer nobody waits for. */
struct pathway_background {
	struct pathway *pathway;
	struct webhook_node *run; /* owned */
	struct pathway_background *next; /* owned */
};

struct pathway_given {
	json_t *init; /* owned; gone after the start */
	json_t *transfer_list; /* owned; may be NULL */
};

struct pathway {
	struct loop *loop; /* borrowed: outlives us */
	struct graph *graph; /* owned */
	struct model *model; /* borrowed: outlives us */
	struct fetch *fetch; /* borrowed: outlives us */
	struct timeline *timeline; /* borrowed: outlives us */
	struct variables *variables; /* owned */
	json_t *history; /* owned */
	struct pathway_given given;
	char *call_id; /* owned */
	const struct pathway_events *events;
	void *owner;
	enum pathway_state state;
	struct timer *post; /* owned */
	void (*step)(struct pathway *pathway); /* what post runs */
	struct pathway_place place;
	struct pathway_spoken_line line;
	struct pathway_turn turn;
	struct pathway_keys keys;
	struct webhook_node *webhook; /* owned: the node waits for it */
	struct pathway_background *background; /* owned */
};

/* The step runs on the loop's next turn, in place of one not yet run. */
void pathway_post(struct pathway *pathway, enum pathway_state state,
		  void (*step)(struct pathway *pathway));
void pathway_enter(struct pathway *pathway, enum pathway_state next);
void pathway_listen(struct pathway *pathway);
void pathway_add_history(struct pathway *pathway, const char *role,
			 const char *content);
void pathway_end(struct pathway *pathway, const char *why);

/* Says text, which is copied. why: of AFTER_END. */
void pathway_say(struct pathway *pathway, const char *text,
		 enum pathway_after after, const char *why);
/* The node's text, or its prompt by way of the model. */
void pathway_say_node(struct pathway *pathway, enum pathway_after after,
		      enum pathway_tone tone);
/* An answer of the model that is an error, as tool.error. */
void pathway_model_failed(struct pathway *pathway, int error);

/* The current node, entered: posted by its predecessor. */
void pathway_run_node(struct pathway *pathway);
