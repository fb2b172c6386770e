/* SPDX-License-Identifier: MIT */
#include "agent/pathway/variables.h"
#include <string.h>
#include <time.h>
#include "agent/pathway/zone.h"
#include "core/json.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/time.h"

struct variables {
	struct loop *loop; /* borrowed: outlives us */
	json_t *own; /* owned object */
	json_t *before; /* owned: as of the last variables_changes() */
	struct zone *zone; /* owned */
	char *zone_name; /* owned */
	char *call_id; /* owned; may be NULL */
	char *user_message; /* owned; may be NULL */
	char *node_prompt; /* owned; may be NULL */
};

typedef json_t *builtin_fn(const struct variables *variables);

struct variables *variables_open(const struct variables_options *options)
{
	struct variables *v = mem_new(sizeof(*v));
	const char *name = options->timezone;

	v->loop = options->loop;
	v->own = options->initial ? json_deep_copy(options->initial)
				  : json_object();
	v->before = json_copy(v->own);
	if (zone_open(&v->zone, name)) {
		name = NULL;
		zone_open(&v->zone, NULL);
	}
	v->zone_name = mem_dup_str(name && name[0] ? name : "UTC");
	v->call_id = mem_dup_str(options->call_id);
	return v;
}

void variables_close(struct variables **variables)
{
	struct variables *v = *variables;

	if (!v)
		return;
	json_decref(v->own);
	json_decref(v->before);
	zone_close(&v->zone);
	mem_free(v->zone_name);
	mem_free(v->call_id);
	mem_free(v->user_message);
	mem_free(v->node_prompt);
	mem_free(v);
	*variables = NULL;
}

/* The key of object that is name but for case, or NULL. */
static const char *key_of(const json_t *object, struct slice name)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
		if (slice_eq(slice_of(key), name))
			return key;
	json_object_foreach((json_t *)object, key, value)
		if (slice_eq_nocase(slice_of(key), name))
			return key;
	return NULL;
}

void variables_set(struct variables *variables, const char *name, json_t *value)
{
	const char *key = key_of(variables->own, slice_of(name));
	char *copy = mem_dup_str(key ? key : name);

	json_put(variables->own, copy, value);
	mem_free(copy);
}

void variables_remember(struct variables *variables, const char *user_message)
{
	char *copy = mem_dup_str(user_message);

	mem_free(variables->user_message);
	variables->user_message = copy;
}

void variables_leave_node(struct variables *variables, const char *prompt)
{
	char *copy = mem_dup_str(prompt);

	mem_free(variables->node_prompt);
	variables->node_prompt = copy;
}

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : NULL;
}

/* "Friday, September 12, 2025 1:39 PM" and its date alone. */
static json_t *date_text(const struct variables *v, const struct zone *zone,
			 const char *format)
{
	time_t at = (time_t)(loop_wall_ms(v->loop) / 1000);
	struct tm tm;
	char text[80];

	if (zone)
		at += zone_offset(zone, at);
	gmtime_r(&at, &tm);
	strftime(text, sizeof(text), format, &tm);
	return json_string(text);
}

static const char now_format[] = "%A, %B %-d, %Y %-I:%M %p";

static json_t *get_now(const struct variables *v)
{
	return date_text(v, v->zone, now_format);
}

static json_t *get_now_utc(const struct variables *v)
{
	return date_text(v, NULL, now_format);
}

static json_t *get_today(const struct variables *v)
{
	return date_text(v, v->zone, "%A, %B %-d, %Y");
}

static json_t *get_timestamp(const struct variables *v)
{
	char text[TIME_TEXT_SIZE];

	return json_string(time_write(text, loop_wall_ms(v->loop)));
}

static json_t *get_timezone(const struct variables *v)
{
	return json_string(v->zone_name);
}

static json_t *get_call_id(const struct variables *v)
{
	return text_or_null(v->call_id);
}

static json_t *get_last_user_message(const struct variables *v)
{
	return json_string(v->user_message ? v->user_message : "");
}

static json_t *get_prev_node_prompt(const struct variables *v)
{
	return json_string(v->node_prompt ? v->node_prompt : "");
}

/* +15551234567 is 5551234567; numbers of other countries stay whole. */
static json_t *short_number(const struct variables *v, const char *name)
{
	const char *number = json_string_value(json_object_get(v->own, name));

	if (!number)
		return NULL;
	if (strncmp(number, "+1", 2) == 0 && strlen(number) == 12)
		number += 2;
	return json_string(number);
}

static json_t *get_short_from(const struct variables *v)
{
	return short_number(v, "from");
}

static json_t *get_short_to(const struct variables *v)
{
	return short_number(v, "to");
}

static const struct {
	const char *name;
	builtin_fn *get;
} builtins[] = {
	{ "now", get_now },
	{ "now_utc", get_now_utc },
	{ "today", get_today },
	{ "timestamp", get_timestamp },
	{ "timezone", get_timezone },
	{ "call_id", get_call_id },
	{ "lastUserMessage", get_last_user_message },
	{ "prevNodePrompt", get_prev_node_prompt },
	{ "short_from", get_short_from },
	{ "short_to", get_short_to },
};

static json_t *find_builtin(const struct variables *v, struct slice name)
{
	size_t i;

	for (i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++)
		if (slice_eq_nocase(name, slice_of(builtins[i].name)))
			return builtins[i].get(v);
	return NULL;
}

/* The next name or [index] of a path; *rest moves behind it. */
static struct slice take_step(struct slice *rest)
{
	struct slice step = *rest;
	size_t i;

	if (step.ptr[0] == '[') {
		step = slice_make(step.ptr + 1, step.len - 1);
		step = slice_cut(&step, ']');
		i = step.len + 2;
	} else {
		for (i = 0; i < step.len; i++)
			if (step.ptr[i] == '.' || step.ptr[i] == '[')
				break;
		step.len = i;
	}
	i = i > rest->len ? rest->len : i;
	*rest = slice_make(rest->ptr + i, rest->len - i);
	if (rest->len && rest->ptr[0] == '.')
		*rest = slice_make(rest->ptr + 1, rest->len - 1);
	return step;
}

static json_t *descend(const json_t *from, struct slice step)
{
	const char *key;
	uint64_t index;

	if (json_is_array(from)) {
		if (slice_to_u64(&index, step, UINT32_MAX))
			return NULL;
		return json_array_get(from, (size_t)index);
	}
	key = json_is_object(from) ? key_of(from, step) : NULL;
	return key ? json_object_get(from, key) : NULL;
}

json_t *variables_find(const struct variables *variables, struct slice path)
{
	const char *key = key_of(variables->own, path);
	json_t *value =
		key ? json_object_get(variables->own, key) : variables->own;

	if (key)
		return json_incref(value);
	if (!path.len)
		return NULL;
	if (slice_find(path, '.') < 0 && slice_find(path, '[') < 0)
		return find_builtin(variables, path);
	while (value && path.len)
		value = descend(value, take_step(&path));
	return value ? json_incref(value) : NULL;
}

const json_t *variables_json(const struct variables *variables)
{
	return variables->own;
}

static void put_if_any(json_t *object, const char *key, json_t *value)
{
	if (json_object_size(value) || json_array_size(value))
		json_put(object, key, value);
	else
		json_decref(value);
}

json_t *variables_changes(struct variables *variables)
{
	json_t *changes = json_object(), *modified = json_object();
	json_t *added = json_object(), *removed = json_array();
	const char *key;
	json_t *value;

	json_object_foreach(variables->own, key, value) {
		json_t *old = json_object_get(variables->before, key);

		if (!old)
			json_object_set(added, key, value);
		else if (!json_equal(old, value))
			json_object_set(modified, key, value);
	}
	json_object_foreach(variables->before, key, value)
		if (!json_object_get(variables->own, key))
			json_array_append_new(removed, json_string(key));
	put_if_any(changes, "modified", modified);
	put_if_any(changes, "added", added);
	put_if_any(changes, "removed", removed);
	/* Values are replaced, never changed in place: a shallow copy does. */
	json_decref(variables->before);
	variables->before = json_copy(variables->own);
	if (json_object_size(changes))
		return changes;
	json_decref(changes);
	return NULL;
}
