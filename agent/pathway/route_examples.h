/* SPDX-License-Identifier: MIT */
/* agent/pathway/route_examples.h - node data in the shapes that clients write,
 * brought into the one the model reads. */
#pragma once
#include "agent/pathway/graph.h"

/* [{name, type, description}] of extractVars, which holds triples or such
 * objects; NULL when there are none. The caller owns it. */
json_t *route_extract(const json_t *data);
/* The caller's sentences of those pathwayExamples that name the edge by label
 * or target: [text, label] pairs or objects with both, the text also as an
 * array of texts or of {role, content}. Array of strings or NULL; owned. */
json_t *route_examples(const json_t *data, const struct graph_edge *edge);
