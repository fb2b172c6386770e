/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include "agent/pathway/graph_priv.h"
#include "core/json.h"
#include "core/mem.h"

static size_t node_index(const struct graph *graph, const char *id)
{
	const json_t *index = json_object_get(graph->ids, id);

	return index ? (size_t)json_integer_value(index) : SIZE_MAX;
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* {"globalConfig": {"globalPrompt": "..."}} in place of a node, or in data. */
static const char *config_prompt(const json_t *given)
{
	const json_t *config = json_object_get(given, "globalConfig");

	if (!config)
		config = json_object_get(json_object_get(given, "data"),
					 "globalConfig");
	return json_str(config, "globalPrompt");
}

static int add_node(struct graph *graph, const json_t *given, size_t place,
		    struct graph_problem *problem)
{
	const json_t *data = json_object_get(given, "data");
	const char *prompt = config_prompt(given);
	const char *id = json_str(given, "id");
	struct graph_node *node = &graph->nodes[graph->n_nodes];
	size_t other;
	char where[32];

	if (prompt)
		graph->global_prompt = prompt;
	if (!id || !id[0])
		return 0; /* a pseudo node: kept, never entered */
	other = node_index(graph, id);
	snprintf(where, sizeof(where), "nodes[%zu].id", place);
	if (other != SIZE_MAX)
		return graph_refuse(problem, where,
				    "nodes[%zu] and nodes[%zu] have the same "
				    "id '%.60s': ids must be unique",
				    graph->places[other], place, id);
	if (!json_is_object(data))
		data = graph->no_data;
	*node = (struct graph_node){
		.id = id,
		.type_name = or_empty(json_str(given, "type")),
		.name = or_empty(json_str(data, "name")),
		.data = data,
	};
	node->type = graph_type(node->type_name, node->data);
	graph->places[graph->n_nodes] = place;
	json_put_int(graph->ids, id, (int64_t)graph->n_nodes);
	graph->n_nodes++;
	return 0;
}

static int add_nodes(struct graph *graph, struct graph_problem *problem)
{
	size_t n = json_array_size(graph->given_nodes);
	const json_t *given;
	size_t i;
	int err = 0;

	graph->nodes = mem_new_array(n, sizeof(*graph->nodes));
	graph->places = mem_new_array(n, sizeof(*graph->places));
	graph->globals = mem_new_array(n, sizeof(*graph->globals));
	json_array_foreach(graph->given_nodes, i, given) {
		if (!json_is_object(given)) {
			char where[32];

			snprintf(where, sizeof(where), "nodes[%zu]", i);
			return graph_refuse(problem, where,
					    "%s must be an object", where);
		}
		err = add_node(graph, given, i, problem);
		if (err)
			return err;
	}
	for (i = 0; i < graph->n_nodes; i++)
		if (graph_is_set(graph->nodes[i].data, "isGlobal"))
			graph->globals[graph->n_globals++] = &graph->nodes[i];
	return 0;
}

/* label and description stand at the top or in data. */
static const char *edge_text(const json_t *given, const char *key)
{
	const char *text = json_str(given, key);

	if (!text || !text[0])
		text = json_str(json_object_get(given, "data"), key);
	return or_empty(text);
}

static int check_end(const struct graph *graph, const json_t *given, size_t i,
		     const char *key, struct graph_problem *problem)
{
	const char *id = json_str(given, key);
	char where[40];

	snprintf(where, sizeof(where), "edges[%zu].%s", i, key);
	if (!id || !id[0])
		return graph_refuse(problem, where,
				    "edges[%zu] has no %s: it must name a node",
				    i, key);
	if (graph_find(graph, id))
		return 0;
	return graph_refuse(problem, where,
			    "edges[%zu] '%.60s' %s '%.60s', but no node has "
			    "that id",
			    i, edge_text(given, "label"),
			    strcmp(key, "source") ? "leads to" : "leaves from",
			    id);
}

/* Edges grouped by the node they leave, else in the order given: a count, then
 * each into its place. */
static void index_edges(struct graph *graph)
{
	const json_t *given;
	size_t i, first = 0;

	graph->edges = mem_new_array(json_array_size(graph->given_edges),
				     sizeof(*graph->edges));
	json_array_foreach(graph->given_edges, i, given) {
		size_t from = node_index(graph, json_str(given, "source"));

		graph->nodes[from].n_edges++;
	}
	for (i = 0; i < graph->n_nodes; i++) {
		graph->nodes[i].edges = graph->edges + first;
		first += graph->nodes[i].n_edges;
		graph->nodes[i].n_edges = 0;
	}
	json_array_foreach(graph->given_edges, i, given) {
		struct graph_node *from = &graph->nodes[node_index(
			graph, json_str(given, "source"))];
		size_t at =
			(size_t)(from->edges - graph->edges) + from->n_edges++;

		graph->edges[at] = (struct graph_edge){
			.id = or_empty(json_str(given, "id")),
			.source = json_str(given, "source"),
			.target = json_str(given, "target"),
			.label = edge_text(given, "label"),
			.description = edge_text(given, "description"),
			.is_always =
				graph_is_set(given, "alwaysPick") ||
				graph_is_set(json_object_get(given, "data"),
					     "alwaysPick"),
		};
	}
}

static int add_edges(struct graph *graph, struct graph_problem *problem)
{
	const json_t *given;
	size_t i;
	int err;

	json_array_foreach(graph->given_edges, i, given) {
		err = check_end(graph, given, i, "source", problem);
		if (!err)
			err = check_end(graph, given, i, "target", problem);
		if (err)
			return err;
	}
	index_edges(graph);
	return 0;
}

static int find_start(struct graph *graph, struct graph_problem *problem)
{
	char first[96], second[96], where[48];
	size_t i;

	for (i = 0; i < graph->n_nodes; i++) {
		if (!graph_is_set(graph->nodes[i].data, "isStart"))
			continue;
		if (!graph->start) {
			graph->start = &graph->nodes[i];
			continue;
		}
		graph_node_label(first, graph,
				 (size_t)(graph->start - graph->nodes));
		graph_node_label(second, graph, i);
		snprintf(where, sizeof(where), "nodes[%zu].data.isStart",
			 graph->places[i]);
		return graph_refuse(problem, where,
				    "A pathway needs exactly one start node: "
				    "%s and %s both have isStart",
				    first, second);
	}
	if (graph->start)
		return 0;
	return graph_refuse(problem, NULL,
			    "A pathway needs exactly one start node: none has "
			    "isStart");
}

static int build(struct graph *graph, bool allow_empty,
		 struct graph_problem *problem)
{
	size_t i;
	int err = add_nodes(graph, problem);

	if (!err)
		err = add_edges(graph, problem);
	if (err)
		return err;
	if (graph->n_nodes == 0 && allow_empty)
		return 0;
	for (i = 0; i < graph->n_nodes && !err; i++)
		err = graph_check_node(graph, i, problem);
	return err ? err : find_start(graph, problem);
}

/* Absent and null count as []. */
static int take_array(json_t **out, const json_t *given, const char *name,
		      struct graph_problem *problem)
{
	if (given && !json_is_null(given) && !json_is_array(given))
		return graph_refuse(problem, name, "%s must be an array", name);
	*out = json_is_array(given) ? json_incref((json_t *)given)
				    : json_array();
	return 0;
}

int graph_open(struct graph **out, const json_t *nodes, const json_t *edges,
	       bool allow_empty, struct graph_problem *problem)
{
	struct graph *graph = mem_new(sizeof(*graph));
	int err;

	*problem = (struct graph_problem){ 0 };
	graph->ids = json_object();
	graph->no_data = json_object();
	graph->global_prompt = "";
	err = take_array(&graph->given_nodes, nodes, "nodes", problem);
	if (!err)
		err = take_array(&graph->given_edges, edges, "edges", problem);
	if (!err)
		err = build(graph, allow_empty, problem);
	if (err)
		graph_close(&graph);
	*out = graph;
	return err;
}

void graph_close(struct graph **graph)
{
	struct graph *g = *graph;

	if (!g)
		return;
	mem_free(g->nodes);
	mem_free(g->places);
	mem_free(g->edges);
	mem_free(g->globals);
	json_decref(g->ids);
	json_decref(g->no_data);
	json_decref(g->given_nodes);
	json_decref(g->given_edges);
	mem_free(g);
	*graph = NULL;
}

const struct graph_node *graph_start(const struct graph *graph)
{
	return graph->start;
}

const struct graph_node *graph_find(const struct graph *graph, const char *id)
{
	size_t index = node_index(graph, id);

	return index == SIZE_MAX ? NULL : &graph->nodes[index];
}

const struct graph_node *const *graph_globals(const struct graph *graph,
					      size_t *n)
{
	*n = graph->n_globals;
	return graph->globals;
}

const char *graph_global_prompt(const struct graph *graph)
{
	return graph->global_prompt;
}

static void add_task_node(json_t *nodes, const char *id, const char *key,
			  const char *words)
{
	bool is_start = json_array_size(nodes) == 0;

	json_array_append_new(nodes,
			      json_pack("{s:s, s:s, s:{s:s, s:b, s:s}}", "id",
					id, "type", "Default", "data", "name",
					id, "isStart", is_start, key, words));
}

struct graph *graph_of_task(const char *task, const char *first_sentence)
{
	bool has_task = task && task[0];
	bool has_first = first_sentence && first_sentence[0];
	json_t *nodes = json_array();
	json_t *edges = json_array();
	struct graph_problem problem;
	struct graph *graph;
	int err;

	if (has_first || !has_task)
		add_task_node(nodes, "first_sentence", "text",
			      has_first ? first_sentence : "Hello.");
	if (has_task)
		add_task_node(nodes, "task", "prompt", task);
	if (json_array_size(nodes) == 2)
		json_array_append_new(
			edges, json_pack("{s:s, s:s, s:s, s:b}", "id", "go_on",
					 "source", "first_sentence", "target",
					 "task", "alwaysPick", 1));
	err = graph_open(&graph, nodes, edges, false, &problem);
	assert(err == 0);
	json_decref(nodes);
	json_decref(edges);
	return graph;
}
