/* SPDX-License-Identifier: MIT */
/* agent/pathway/graph_priv.h - shared by graph.c, which indexes, and
 * graph_check.c, which judges the data of each node. */
#pragma once
#include "agent/pathway/graph.h"

/* responsePathways: the entry that is taken once the request is over. */
#define GRAPH_COMPLETION "API Request Completion (Default)"

struct graph {
	json_t *given_nodes; /* owned reference, as given */
	json_t *given_edges; /* owned reference, as given */
	json_t *ids; /* owned: id to index into nodes */
	json_t *no_data; /* owned: of nodes that have none */
	struct graph_node *nodes; /* owned; those with an id */
	size_t *places; /* owned: of nodes[i] in the given array */
	size_t n_nodes;
	struct graph_edge *edges; /* owned; grouped by source */
	const struct graph_node **globals; /* owned array */
	size_t n_globals;
	const struct graph_node *start; /* NULL: empty graph */
	const char *global_prompt;
};

/* Fills in *problem and returns -EINVAL. field NULL: "nodes". */
int graph_refuse(struct graph_problem *problem, const char *field,
		 const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* True and "true". */
bool graph_is_set(const json_t *data, const char *key);
/* The type of that name and data, NODE_OTHER for others. */
enum node_type graph_type(const char *name, const json_t *data);
/* "nodes[3] 'Greeting'" */
void graph_node_label(char out[96], const struct graph *graph, size_t index);
/* Required data of the node's type. 0 or -EINVAL. */
int graph_check_node(const struct graph *graph, size_t index,
		     struct graph_problem *problem);
