/* SPDX-License-Identifier: MIT */
/* agent/engine/score.h - how well a caller's words fit the edges of a node. */
#pragma once
#include "agent/engine/model.h"
#include "agent/engine/words.h"

struct score_question {
	const char *text; /* as heard or pressed */
	const struct words *said; /* the same */
	const struct model_route *routes;
	size_t n;
	const json_t *extracted; /* this turn's variables, or NULL */
};

/* The route the words mean, or -1 when none fits or two fit alike. */
int score_route(const struct score_question *question, double *score);
/* The same for global nodes: only a clear match of words counts. */
int score_global(const struct score_question *question, double *score);
