/* SPDX-License-Identifier: MIT */
#include "agent/pathway/timeline.h"
#include <stdbool.h>
#include <string.h>
#include "agent/pathway/preview.h"
#include "core/json.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/slice.h"
#include "core/time.h"

enum { VALUE_MAX = 64 * 1024 };

struct timeline {
	struct loop *loop; /* borrowed: outlives us */
	timeline_sink_fn *sink;
	void *owner;
	char *conversation_id; /* owned; NULL until it is set */
	char *node_id; /* owned; NULL before the first node */
	json_t *events; /* owned array */
	int64_t last; /* sequence given out last */
};

struct timeline *timeline_open(struct loop *loop, timeline_sink_fn *sink,
			       void *owner)
{
	struct timeline *timeline = mem_new(sizeof(*timeline));

	timeline->loop = loop;
	timeline->sink = sink;
	timeline->owner = owner;
	timeline->events = json_array();
	return timeline;
}

void timeline_close(struct timeline **timeline)
{
	if (!*timeline)
		return;
	json_decref((*timeline)->events);
	mem_free((*timeline)->conversation_id);
	mem_free((*timeline)->node_id);
	mem_free(*timeline);
	*timeline = NULL;
}

void timeline_set_conversation(struct timeline *timeline,
			       const char *conversation_id)
{
	char *copy = mem_dup_str(conversation_id);
	json_t *event;
	size_t i;

	mem_free(timeline->conversation_id);
	timeline->conversation_id = copy;
	json_array_foreach(timeline->events, i, event)
		json_put_str(event, "conversation_id", copy);
}

void timeline_enter_node(struct timeline *timeline, const char *node_id)
{
	char *copy = mem_dup_str(node_id);

	mem_free(timeline->node_id);
	timeline->node_id = copy;
}

/* A member that is too long as text, or a whole object or array that is. */
static json_t *bounded(json_t *value)
{
	json_t *short_form = NULL;
	char *text;

	if (json_is_string(value))
		return json_string_length(value) > VALUE_MAX
			       ? preview_text(json_string_value(value),
					      VALUE_MAX)
			       : NULL;
	if (!json_is_object(value) && !json_is_array(value))
		return NULL;
	text = json_text(value);
	if (text && strlen(text) > VALUE_MAX)
		short_form = preview_text(text, VALUE_MAX);
	mem_free(text);
	return short_form;
}

static bool is_secret(const char *name)
{
	static const char *const parts[] = { "authorization", "cookie", "key",
					     "token", "secret" };
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcasestr(name, parts[i]))
			return true;
	return false;
}

static void redact(json_t *headers)
{
	const char *name;
	json_t *value;

	/* Setting a key that is there is allowed while iterating. */
	json_object_foreach(headers, name, value)
		if (is_secret(name))
			json_put_str(headers, name, "[redacted]");
}

/* What may be shown: a changed copy, because payload may share its members
 * with the conversation's variables. */
static json_t *cleaned(json_t *payload)
{
	json_t *out = json_copy(payload);
	json_t *headers = json_object_get(payload, "headers");
	const char *key;
	json_t *value;

	if (json_is_object(headers)) {
		headers = json_copy(headers);
		redact(headers);
		json_put(out, "headers", headers);
	}
	json_object_foreach(out, key, value) {
		json_t *short_form = bounded(value);

		if (short_form)
			json_put(out, key, short_form);
	}
	json_decref(payload);
	return out;
}

/* As GET /v1/pathway_calls?v=2 shows it. */
static json_t *event_json(const struct timeline_event *event,
			  const char *conversation_id)
{
	json_t *out = json_object();
	char time[TIME_TEXT_SIZE];

	json_put_str(out, "conversation_id", conversation_id);
	json_put_int(out, "sequence", event->sequence);
	json_put_str(out, "event_type", event->type);
	json_put_str(out, "node_id", event->node_id);
	json_put(out, "operation_id",
		 event->operation_id ? json_integer(event->operation_id)
				     : json_null());
	json_put(out, "payload",
		 event->payload ? json_incref((json_t *)event->payload)
				: json_null());
	json_put_str(out, "created_at", time_write(time, event->created_ms));
	return out;
}

int64_t timeline_add(struct timeline *timeline, const char *type,
		     int64_t operation_id, json_t *payload)
{
	json_t *clean = payload ? cleaned(payload) : NULL;
	struct timeline_event event = {
		.sequence = ++timeline->last,
		.type = type,
		.node_id = timeline->node_id,
		.operation_id = operation_id,
		.payload = clean,
		.created_ms = loop_wall_ms(timeline->loop),
	};
	json_t *kept = event_json(&event, timeline->conversation_id);
	int64_t sequence = event.sequence;

	json_array_append_new(timeline->events, kept);
	if (timeline->sink)
		timeline->sink(timeline->owner, &event);
	json_decref(clean);
	return sequence;
}

const json_t *timeline_json(const struct timeline *timeline)
{
	return timeline->events;
}
