/* SPDX-License-Identifier: MIT */
#include "agent/pathway/webhook_map.h"
#include "agent/pathway/preview.h"
#include "core/json.h"
#include "core/mem.h"

enum { PREVIEW_BYTES = 200 };

static void put_preview(json_t *mapping, const json_t *value)
{
	char *text = json_is_string(value)
			     ? mem_dup_str(json_string_value(value))
			     : json_text(value);

	json_put(mapping, "value_preview", preview_text(text, PREVIEW_BYTES));
	mem_free(text);
}

static void put_outcome(json_t *mapping, const char *outcome,
			const char *detail)
{
	json_put_str(mapping, "outcome", outcome);
	if (detail)
		json_put_str(mapping, "detail", detail);
}

static void put_found(json_t *mapping, const json_t *value, int err)
{
	if (err) {
		put_outcome(mapping, "error", "This is not a JSON path.");
	} else if (!value) {
		put_outcome(mapping, "empty", "The path matched nothing.");
	} else if (json_is_null(value)) {
		put_outcome(mapping, "empty", "The value is null.");
	} else {
		put_outcome(mapping, "set", NULL);
		put_preview(mapping, value);
	}
}

static json_t *map_one(const json_t *entry, const json_t *root,
		       const char *failure, struct variables *variables)
{
	const char *name = json_str(entry, "name");
	const char *path = json_str(entry, "data");
	json_t *mapping = json_object();
	json_t *value = NULL;
	int err = 0;

	json_put_str(mapping, "name", name);
	json_put_str(mapping, "path", path);
	if (!name || !name[0]) {
		put_outcome(mapping, "skipped_invalid",
			    "The mapping has no name.");
		return mapping;
	}
	if (!path || !path[0]) {
		put_outcome(mapping, "skipped_invalid",
			    "The mapping has no path.");
		return mapping;
	}
	if (failure) {
		put_outcome(mapping, "error", failure);
	} else {
		value = json_path(root, slice_of(path), &err);
		put_found(mapping, value, err);
	}
	variables_set(variables, name,
		      value && !err ? json_incref(value) : json_null());
	return mapping;
}

json_t *webhook_map(const json_t *list, struct slice body, const char *failure,
		    struct variables *variables)
{
	json_t *mappings = json_array();
	json_t *root = failure ? NULL : json_parse(body, NULL);
	const json_t *entry;
	size_t i;

	if (!failure && !root)
		failure = "The answer is not JSON.";
	json_array_foreach(list, i, entry)
		json_array_append_new(mappings,
				      map_one(entry, root, failure, variables));
	json_decref(root);
	return mappings;
}
