/* SPDX-License-Identifier: MIT */
#include "http/api/pathway_body.h"

#include <errno.h>
#include "agent/pathway/graph.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/time.h"
#include "http/problem.h"

static bool is_given(const json_t *value)
{
	return value && !json_is_null(value);
}

/* ---- reading ---- */

static int read_words(struct request *request, struct pathway_row *row,
		      const json_t *body)
{
	const json_t *name = json_object_get(body, "name");
	const json_t *about = json_object_get(body, "description");
	struct arena *arena = request_view(request)->arena;

	if (body && !json_is_object(body)) {
		problem_invalid(request, "", "The body must be a JSON object.");
		return -EINVAL;
	}
	if (is_given(name) && !json_is_string(name)) {
		problem_invalid(request, "name", "name must be a string.");
		return -EINVAL;
	}
	if (is_given(about) && !json_is_string(about)) {
		problem_invalid(request, "description",
				"description must be a string.");
		return -EINVAL;
	}
	if (is_given(name))
		row->name = arena_dup_str(arena, json_string_value(name));
	if (about)
		row->description =
			arena_dup_str(arena, json_string_value(about));
	if (row->name && slice_trim(slice_of(row->name)).len)
		return 0;
	problem_invalid(request, "name", "Missing required parameter: name.");
	return -EINVAL;
}

static void spread(json_t *edge, const char *key)
{
	json_t *data = json_object_get(edge, "data");
	json_t *top = json_object_get(edge, key);
	json_t *below = json_object_get(data, key);

	if (!is_given(top) && is_given(below))
		json_object_set(edge, key, below);
	if (!is_given(top) || is_given(below))
		return;
	if (!json_is_object(data)) {
		data = json_object();
		json_put(edge, "data", data);
	}
	json_object_set(data, key, top);
}

/* A copy of the member, else of what is stored. */
static json_t *take(const json_t *body, const char *key, const char *stored)
{
	const json_t *given = json_object_get(body, key);

	if (is_given(given))
		return json_deep_copy(given);
	return stored ? json_parse(slice_of(stored), NULL) : json_array();
}

static const char *text_of(struct arena *arena, const json_t *value)
{
	char *text = json_text(value);
	const char *copy = arena_dup_str(arena, text);

	mem_free(text);
	return copy;
}

static int check_graph(struct request *request, const json_t *nodes,
		       const json_t *edges)
{
	struct graph_problem problem;
	struct graph *graph;
	int err = graph_open(&graph, nodes, edges, true, &problem);

	if (err)
		problem_invalid(request, problem.field, problem.message);
	graph_close(&graph);
	return err;
}

int pathway_body_read(struct request *request, struct pathway_row *row)
{
	const struct request_view *view = request_view(request);
	json_t *nodes, *edges, *edge;
	size_t i;
	int err = read_words(request, row, view->body);

	if (err)
		return err;
	nodes = take(view->body, "nodes", row->nodes);
	edges = take(view->body, "edges", row->edges);
	json_array_foreach(edges, i, edge) {
		spread(edge, "label");
		spread(edge, "description");
	}
	err = check_graph(request, nodes, edges);
	if (!err) {
		row->nodes = text_of(view->arena, nodes);
		row->edges = text_of(view->arena, edges);
	}
	json_decref(nodes);
	json_decref(edges);
	return err;
}

/* ---- writing ---- */

static void add_text(struct buffer *out, const char *key, const char *text)
{
	json_t *value = text ? json_string(text) : json_null();

	buffer_printf(out, ",\"%s\":", key);
	json_write(out, value);
	json_decref(value);
}

/* Nodes and edges are stored as JSON: they go out as they stand. */
void pathway_write(struct buffer *out, const struct pathway_row *row)
{
	char at[TIME_TEXT_SIZE];

	buffer_printf(out, "{\"id\":\"%s\"", row->id);
	add_text(out, "pathway_id", row->id);
	add_text(out, "name", row->name);
	add_text(out, "description", row->description);
	buffer_add_str(out, ",\"nodes\":");
	buffer_add_str(out, row->nodes);
	buffer_add_str(out, ",\"edges\":");
	buffer_add_str(out, row->edges);
	add_text(out, "created_at", time_write(at, row->created_ms));
	add_text(out, "updated_at", time_write(at, row->updated_ms));
	buffer_add_char(out, '}');
}
