/* SPDX-License-Identifier: MIT */
#include "agent/pathway/route_examples.h"
#include <stdbool.h>
#include <string.h>
#include "core/json.h"

static json_t *variable(const json_t *given)
{
	static const char *const keys[] = { "name", "type", "description" };
	bool is_triple = json_is_array(given);
	json_t *out = json_object();
	size_t i;

	for (i = 0; i < 3; i++) {
		const char *text =
			is_triple ? json_string_value(json_array_get(given, i))
				  : json_str(given, keys[i]);

		json_put_str(out, keys[i], text ? text : "");
	}
	if (!json_str(out, "type")[0])
		json_put_str(out, "type", "string");
	return out;
}

json_t *route_extract(const json_t *data)
{
	const json_t *list = json_object_get(data, "extractVars");
	json_t *out = json_array();
	const json_t *given;
	size_t i;

	json_array_foreach(list, i, given)
		json_array_append_new(out, variable(given));
	if (json_array_size(out))
		return out;
	json_decref(out);
	return NULL;
}

static bool names(const char *text, const struct graph_edge *edge)
{
	return strcmp(text, edge->target) == 0 ||
	       (edge->label[0] && strcasecmp(text, edge->label) == 0);
}

/* A text, or texts, or a conversation of which the caller's turns count. */
static void add_texts(json_t *out, json_t *given)
{
	json_t *item;
	size_t i;

	if (json_is_string(given))
		json_array_append(out, given);
	json_array_foreach(given, i, item) {
		const char *role = json_str(item, "role");
		json_t *content = json_object_get(item, "content");

		if (json_is_string(item))
			json_array_append(out, item);
		else if (role && strcmp(role, "user") == 0 &&
			 json_is_string(content))
			json_array_append(out, content);
	}
}

/* Members of one example: one names the edge, the others are the texts. */
static void add_example(json_t *out, json_t *example,
			const struct graph_edge *edge)
{
	json_t *members = json_array();
	bool is_named = false;
	const char *key;
	json_t *item;
	size_t i;

	json_object_foreach(example, key, item)
		json_array_append(members, item);
	json_array_foreach(example, i, item)
		json_array_append(members, item);
	json_array_foreach(members, i, item)
		if (json_is_string(item) &&
		    names(json_string_value(item), edge))
			is_named = true;
	json_array_foreach(members, i, item) {
		if (!is_named)
			break;
		if (!json_is_string(item) ||
		    !names(json_string_value(item), edge))
			add_texts(out, item);
	}
	json_decref(members);
}

json_t *route_examples(const json_t *data, const struct graph_edge *edge)
{
	const json_t *list = json_object_get(data, "pathwayExamples");
	json_t *out = json_array();
	json_t *example;
	size_t i;

	json_array_foreach(list, i, example)
		add_example(out, example, edge);
	if (json_array_size(out))
		return out;
	json_decref(out);
	return NULL;
}
