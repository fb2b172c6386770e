/* SPDX-License-Identifier: MIT */
/* agent/pathway/expect.h - what a node expects to hear: words for the
 * recogniser, and how many digits. */
#pragma once
#include "agent/pathway/pathway.h"

struct expect {
	struct pathway_expect is; /* phrases live until expect_reset() */
	json_t *examples; /* owned: the phrases that are no node's own text */
	const char **phrases; /* owned */
};

void expect_init(struct expect *expect, const struct graph *graph,
		 const struct graph_node *node);
void expect_reset(struct expect *expect);
/* How many digits make one turn: 1 key by key, n as many, 0 until '#' or a
 * pause. */
unsigned expect_digits(const struct graph_node *node);
