/* SPDX-License-Identifier: MIT */
/* agent/engine/model.h - what decides and phrases: one question, one answer.
 * Back ends: `rules`, deterministic and offline; chat servers by configuration
 * later; a scripted one in tests. Answers come on a later turn of the loop. */
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct loop;
struct model;
struct model_call;

enum model_task {
	MODEL_DECIDE, /* extract, judge the condition, choose */
	MODEL_SPEAK, /* phrase a prompt for the caller */
	MODEL_SUMMARISE /* the call in two or three sentences */
};

struct model_route {
	const char *id; /* target node */
	const char *label;
	const char *description; /* "" when none */
	const json_t *examples; /* array of strings, or NULL */
};

/* All members are borrowed for the length of model_ask() alone. */
struct model_question {
	enum model_task task;
	const char *user_text; /* the caller's latest words or digits */
	const json_t *history; /* [{role: user|assistant, content}] */
	const json_t *variables; /* object: what is known */
	struct {
		const struct model_route *routes;
		size_t n_routes;
		const struct model_route *globals;
		size_t n_globals;
		const char *condition; /* "": none */
		const json_t *extract; /* [{name, type, description}] */
	} decide;
	struct {
		const char *prompt;
		const json_t *examples; /* dialogueExamples or NULL */
	} speak;
	struct {
		const char *outcome; /* "completed", "no-answer", ... */
		const char *prompt; /* summary_prompt or "" */
	} summarise;
};

struct model_answer {
	int error; /* 0 or negative errno */
	int route; /* index into routes, -1: none fits */
	int global; /* index into globals, -1: none */
	bool is_condition_met; /* true when there is none */
	const json_t *extracted; /* object of those found; borrowed */
	const char *text; /* SPEAK, SUMMARISE; else "" */
	unsigned output_chars;
};

/* answer is valid during the callback. */
typedef void model_done_fn(void *owner, const struct model_answer *answer);

struct model_ops {
	int (*ask)(struct model_call **out, struct model *model,
		   const struct model_question *question,
		   model_done_fn *on_done, void *owner);
	void (*cancel)(struct model_call **call);
	void (*shut)(struct model *model);
};

struct model {
	const struct model_ops *ops;
};
struct model_call {
	struct model *model; /* borrowed: outlives us */
};

/* on_done follows once unless cancelled, never inside this call; *out is
 * cleared before it runs. */
int model_ask(struct model_call **out, struct model *model,
	      const struct model_question *question, model_done_fn *on_done,
	      void *owner);
void model_cancel(struct model_call **call); /* NULL is fine */

int model_open_rules(struct model **out, struct loop *loop);
void model_close(struct model **model);
