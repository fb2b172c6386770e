/* SPDX-License-Identifier: MIT */
/* agent/pathway/graph.h - a pathway's nodes and edges, checked. Immutable. */
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct graph;

enum node_type {
	NODE_DEFAULT,
	NODE_END_CALL,
	NODE_WEBHOOK,
	NODE_TRANSFER, /* without warmTransferFields.isEnabled */
	NODE_OTHER /* kept as given; acts as Default with an error event */
};

struct graph_edge {
	const char *id;
	const char *source, *target;
	const char *label; /* top or data */
	const char *description;
	bool is_always; /* alwaysPick */
};

struct graph_node {
	const char *id;
	const char *type_name; /* as given */
	enum node_type type;
	const char *name;
	const json_t *data; /* never NULL */
	const struct graph_edge *edges; /* that leave it */
	size_t n_edges;
};

struct graph_problem {
	char field[160]; /* "nodes[2].data.url" */
	char message[240]; /* names the node and the remedy */
};

/* Checks and indexes: exactly one start node, edges between existing nodes,
 * known operators, required data of each type; empty nodes are allowed when
 * allow_empty is set. Keeps references. 0 or -EINVAL and *problem. */
int graph_open(struct graph **out, const json_t *nodes, const json_t *edges,
	       bool allow_empty, struct graph_problem *problem);
void graph_close(struct graph **graph);
const struct graph_node *graph_start(const struct graph *graph);
const struct graph_node *graph_find(const struct graph *graph, const char *id);
/* Global nodes, in order. */
const struct graph_node *const *graph_globals(const struct graph *graph,
					      size_t *n);
const char *graph_global_prompt(const struct graph *graph); /* or "" */
/* A one-node graph that speaks task and talks on (a call without pathway). */
struct graph *graph_of_task(const char *task, const char *first_sentence);
