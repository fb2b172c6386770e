/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "agent/pathway/condition.h"
#include "agent/pathway/graph_priv.h"
#include "core/json.h"
#include "core/slice.h"

struct check {
	const struct graph *graph;
	const struct graph_node *node;
	struct graph_problem *problem;
	char label[96]; /* nodes[3] 'Greeting' */
	size_t place;
};

typedef int check_fn(const struct check *check);

int graph_refuse(struct graph_problem *problem, const char *field,
		 const char *fmt, ...)
{
	va_list args;

	snprintf(problem->field, sizeof(problem->field), "%s",
		 field ? field : "nodes");
	va_start(args, fmt);
	vsnprintf(problem->message, sizeof(problem->message), fmt, args);
	va_end(args);
	return -EINVAL;
}

bool graph_is_set(const json_t *data, const char *key)
{
	const json_t *value = json_object_get(data, key);
	bool is_set = false;

	return value && json_to_bool(&is_set, value) == 0 && is_set;
}

void graph_node_label(char out[96], const struct graph *graph, size_t index)
{
	const struct graph_node *node = &graph->nodes[index];

	snprintf(out, 96, "nodes[%zu] '%.60s'", graph->places[index],
		 node->name[0] ? node->name : node->id);
}

static const char *field(char out[160], const struct check *check,
			 const char *key)
{
	snprintf(out, 160, "nodes[%zu].data.%s", check->place, key);
	return out;
}

static bool has_text(const json_t *data, const char *key)
{
	const char *text = json_str(data, key);

	return text && slice_trim(slice_of(text)).len > 0;
}

static int check_words(const struct check *check)
{
	char where[160];

	if (has_text(check->node->data, "text") ||
	    has_text(check->node->data, "prompt"))
		return 0;
	return graph_refuse(check->problem, field(where, check, "prompt"),
			    "%s says nothing: a %s node needs text or prompt",
			    check->label, check->node->type_name);
}

static int check_url(const struct check *check)
{
	const char *url = json_str(check->node->data, "url");
	struct slice s = slice_trim(slice_of(url));
	char where[160];

	if (!s.len)
		return graph_refuse(check->problem, field(where, check, "url"),
				    "%s has no url: a Webhook node needs one",
				    check->label);
	if (slice_has_prefix(s, SLICE("https://")) ||
	    slice_has_prefix(s, SLICE("http://")) ||
	    slice_has_prefix(s, SLICE("{{")))
		return 0;
	return graph_refuse(check->problem, field(where, check, "url"),
			    "%s has the url '%.80s': it must start with "
			    "https:// or http://",
			    check->label, url);
}

static int check_method(const struct check *check)
{
	static const char *const known[] = { "GET",   "POST",	"PUT",
					     "PATCH", "DELETE", "HEAD" };
	const json_t *method = json_object_get(check->node->data, "method");
	char where[160];
	size_t i;

	if (!method || json_is_null(method))
		return 0;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (slice_eq_nocase(slice_of(json_string_value(method)),
				    slice_of(known[i])))
			return 0;
	return graph_refuse(check->problem, field(where, check, "method"),
			    "%s has the method '%.20s': use GET, POST, PUT, "
			    "PATCH, DELETE or HEAD",
			    check->label,
			    json_is_string(method) ? json_string_value(method)
						   : "(not text)");
}

/* One [variable, operator, compared, {id, name}]. */
static int check_route(const struct check *check, const json_t *route, size_t i)
{
	const char *variable = json_string_value(json_array_get(route, 0));
	const char *op = json_string_value(json_array_get(route, 1));
	const char *id = json_str(json_array_get(route, 3), "id");
	char where[160], key[48];
	enum condition_op parsed;

	snprintf(key, sizeof(key), "responsePathways[%zu]", i);
	field(where, check, key);
	if (!variable || !variable[0] || !id)
		return graph_refuse(check->problem, where,
				    "%s: %s must be [variable, operator, "
				    "value, {id, name}]",
				    check->label, key);
	if (strcmp(variable, GRAPH_COMPLETION) != 0 &&
	    (!op || condition_parse(&parsed, op)))
		return graph_refuse(check->problem, where,
				    "%s: %s has the unknown operator '%.20s': "
				    "use one of %s",
				    check->label, key, op ? op : "",
				    condition_list());
	if (!graph_find(check->graph, id))
		return graph_refuse(check->problem, where,
				    "%s: %s leads to '%.60s', but no node has "
				    "that id",
				    check->label, key, id);
	return 0;
}

static int check_routes(const struct check *check)
{
	const json_t *routes =
		json_object_get(check->node->data, "responsePathways");
	const json_t *route;
	char where[160];
	size_t i;

	if (!routes || json_is_null(routes))
		return 0;
	if (!json_is_array(routes))
		return graph_refuse(
			check->problem, field(where, check, "responsePathways"),
			"%s: responsePathways must be an array", check->label);
	json_array_foreach((json_t *)routes, i, route) {
		int err = check_route(check, route, i);

		if (err)
			return err;
	}
	return 0;
}

static int check_mappings(const struct check *check)
{
	const json_t *list = json_object_get(check->node->data, "responseData");
	char where[160];

	if (!list || json_is_null(list) || json_is_array(list))
		return 0;
	return graph_refuse(check->problem, field(where, check, "responseData"),
			    "%s: responseData must be an array", check->label);
}

static int check_extract(const struct check *check)
{
	const json_t *list = json_object_get(check->node->data, "extractVars");
	const json_t *entry;
	char where[160], key[48];
	size_t i;

	if (!list || json_is_null(list))
		return 0;
	if (!json_is_array(list))
		return graph_refuse(
			check->problem, field(where, check, "extractVars"),
			"%s: extractVars must be an array", check->label);
	json_array_foreach((json_t *)list, i, entry) {
		if (json_str(entry, "name") ||
		    json_is_string(json_array_get(entry, 0)))
			continue;
		snprintf(key, sizeof(key), "extractVars[%zu]", i);
		return graph_refuse(check->problem, field(where, check, key),
				    "%s: %s must be [name, type, description]",
				    check->label, key);
	}
	return 0;
}

/* A name of the call's transfer_list, or a number; absent: its default. */
static int check_transfer(const struct check *check)
{
	const json_t *number =
		json_object_get(check->node->data, "transferNumber");
	char where[160];

	if (!number || json_is_null(number) || json_is_string(number))
		return 0;
	return graph_refuse(check->problem,
			    field(where, check, "transferNumber"),
			    "%s: transferNumber must be a text", check->label);
}

static int check_global(const struct check *check)
{
	const json_t *data = check->node->data;
	char where[160];

	if (!graph_is_set(data, "isGlobal") || has_text(data, "globalLabel") ||
	    has_text(data, "globalDescription"))
		return 0;
	return graph_refuse(check->problem, field(where, check, "globalLabel"),
			    "%s is global but has no globalLabel that says "
			    "when to use it",
			    check->label);
}

/* The node types, and what the data of each must hold beside what all may. */
static const struct {
	const char *name;
	enum node_type type;
	check_fn *needs[5];
} types[] = {
	{ "Default", NODE_DEFAULT, { check_words } },
	{ "End Call", NODE_END_CALL, { NULL } },
	{ "Webhook",
	  NODE_WEBHOOK,
	  { check_url, check_method, check_routes, check_mappings } },
	{ "Transfer Node", NODE_TRANSFER, { check_transfer } },
	{ "Transfer Call", NODE_TRANSFER, { check_transfer } },
	{ "Transfer Number", NODE_TRANSFER, { check_transfer } },
};

static check_fn *const common[] = { check_extract, check_global };

/* A warm transfer needs both far ends at once, which is another thing. */
static bool is_warm(const json_t *data)
{
	return graph_is_set(json_object_get(data, "warmTransferFields"),
			    "isEnabled");
}

enum node_type graph_type(const char *name, const json_t *data)
{
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i].name, name) == 0 &&
		    (types[i].type != NODE_TRANSFER || !is_warm(data)))
			return types[i].type;
	return NODE_OTHER;
}

int graph_check_node(const struct graph *graph, size_t index,
		     struct graph_problem *problem)
{
	struct check check = { .graph = graph,
			       .node = &graph->nodes[index],
			       .problem = problem,
			       .place = graph->places[index] };
	int err = 0;
	size_t i, k;

	graph_node_label(check.label, graph, index);
	for (i = 0; i < sizeof(common) / sizeof(common[0]) && !err; i++)
		err = common[i](&check);
	for (i = 0; i < sizeof(types) / sizeof(types[0]) && !err; i++) {
		if (types[i].type != check.node->type ||
		    strcmp(types[i].name, check.node->type_name) != 0)
			continue;
		for (k = 0; types[i].needs[k] && !err; k++)
			err = types[i].needs[k](&check);
	}
	return err;
}
