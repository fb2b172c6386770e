/* SPDX-License-Identifier: MIT */
#include "agent/call/record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "core/time.h"

enum { BODY_MAX_BYTES = 64 * 1024 * 1024 };

static const char hidden[] = "********";

static void put_time(json_t *object, const char *key, int64_t wall_ms)
{
	char text[TIME_TEXT_SIZE];

	json_put_str(object, key, wall_ms ? time_write(text, wall_ms) : NULL);
}

/* A copy of a member of the settings, or null. */
static void put_setting(json_t *record, const json_t *settings, const char *key)
{
	json_t *value = json_object_get(settings, key);

	json_put(record, key, value ? json_deep_copy(value) : json_null());
}

/* ---- from the timeline ---- */

/* One turn of the conversation as an event tells it; text NULL: none. */
struct turn_view {
	const char *role; /* "user", "assistant", "agent-action" */
	const char *text;
	char buffer[64];
};

static void view_turn(struct turn_view *view, const char *type,
		      const json_t *payload)
{
	view->role = view->text = NULL;
	if (!strcmp(type, "transcript.user")) {
		view->role = "user";
		view->text = json_str(payload, "text");
	} else if (!strcmp(type, "transcript.assistant")) {
		view->role = "assistant";
		view->text = json_str(payload, "text");
	} else if (!strcmp(type, "button.press")) {
		const char *button = json_str(payload, "button");

		view->role = "user";
		snprintf(view->buffer, sizeof(view->buffer),
			 "Button pressed: %s", button ? button : "");
		view->text = view->buffer;
	}
	if (view->text && !view->text[0])
		view->text = NULL;
}

static void add_turn(json_t *record, const char *call_id,
		     const struct event_row *row, const struct turn_view *view)
{
	json_t *turns = json_object_get(record, "transcripts");
	json_t *turn = json_object();
	char id[64];

	snprintf(id, sizeof(id), "%s-%lld", call_id, (long long)row->sequence);
	json_put_int(turn, "id", row->sequence);
	put_time(turn, "created_at", row->created_ms);
	json_put_str(turn, "text", view->text);
	json_put_str(turn, "user", view->role);
	json_put_str(turn, "c_id", call_id);
	json_put_str(turn, "status", NULL);
	json_put_str(turn, "transcript_id", id);
	json_array_append_new(turns, turn);
}

static void add_log(json_t *logs, const struct event_row *row, const char *role,
		    const char *text)
{
	json_t *log = json_object();

	json_put_str(log, "role", role);
	json_put_str(log, "text", text);
	json_put_str(log, "node_id", row->node_id);
	put_time(log, "created_at", row->created_ms);
	json_array_append_new(logs, log);
}

/* Variables as the events left them, for a call whose end nobody saw. */
static void apply_changes(json_t *variables, const char *type,
			  const json_t *payload)
{
	const json_t *changes = json_object_get(payload, "variable_changes");
	const char *const parts[] = { "added", "modified" };
	size_t i;
	json_t *name;

	if (!strcmp(type, "conversation.init"))
		json_object_update(
			variables,
			json_object_get(payload, "initial_variables"));
	for (i = 0; i < 2; i++)
		json_object_update(variables,
				   json_object_get(changes, parts[i]));
	json_array_foreach(json_object_get(changes, "removed"), i, name)
		json_object_del(variables, json_string_value(name));
}

/* The last transfer that came about. */
struct transfer_view {
	json_t *asked; /* owned: of the latest transfer_call.invoke */
	json_t *done; /* owned: of the last that succeeded */
	int64_t at_ms;
};

static void view_transfer(struct transfer_view *view,
			  const struct event_row *row, json_t *payload)
{
	if (!strcmp(row->type, "transfer_call.invoke")) {
		json_decref(view->asked);
		view->asked = json_incref(payload);
	} else if (!strcmp(row->type, "transfer_call.result") &&
		   json_is_true(json_object_get(payload, "success"))) {
		json_decref(view->done);
		view->done = json_incref(view->asked);
		view->at_ms = row->created_ms;
	}
}

static json_t *minutes(int64_t ms)
{
	return json_real(round((double)ms / 600.0) / 100.0);
}

static void put_transfer(json_t *record, const struct call_row *row,
			 const struct transfer_view *view)
{
	const char *to = json_str(view->done, "target_number");
	int64_t answered_ms = row->times.answered_ms;
	int64_t end_ms = row->times.end_ms;

	json_put_str(record, "transferred_to", to);
	put_time(record, "transferred_at", to ? view->at_ms : 0);
	json_put(record, "pre_transfer_duration",
		 to && answered_ms ? minutes(view->at_ms - answered_ms)
				   : json_null());
	json_put(record, "post_transfer_duration",
		 to && end_ms ? minutes(end_ms - view->at_ms) : json_null());
	json_put(record, "warm_transfer_call", json_null());
}

static void walk_events(json_t *record, const struct record_input *input,
			struct buffer *joined)
{
	struct transfer_view transfer = { 0 };

	json_t *logs = json_object_get(record, "pathway_logs");
	json_t *tags = json_object_get(record, "pathway_tags");
	json_t *variables = json_object_get(record, "variables");

	for (size_t i = 0; input->events && i < input->events->n; i++) {
		const struct event_row *row = &input->events->rows[i];
		json_t *payload = json_parse(slice_of(row->payload), NULL);
		struct turn_view view;

		view_turn(&view, row->type, payload);
		if (view.text) {
			add_turn(record, input->row->id, row, &view);
			add_log(logs, row, view.role, view.text);
			buffer_printf(joined, "%s%s: %s",
				      joined->len ? " \n " : "", view.role,
				      view.text);
		} else if (!strcmp(row->type, "conversation.init")) {
			add_log(logs, row, "user", "<Call Connected>");
		} else if (!strcmp(row->type, "node.tag")) {
			json_array_append(tags, payload);
		}
		apply_changes(variables, row->type, payload);
		view_transfer(&transfer, row, payload);
		json_decref(payload);
	}
	put_transfer(record, input->row, &transfer);
	json_decref(transfer.asked);
	json_decref(transfer.done);
}

/* ---- the object ---- */

static void put_head(json_t *record, const struct record_input *input)
{
	const struct call_row *row = input->row;

	json_put_str(record, "call_id", row->id);
	json_put_str(record, "c_id", row->id);
	json_put_str(record, "to", row->to);
	json_put_str(record, "from", row->from);
	json_put_bool(record, "inbound", row->inbound);
	json_put_str(record, "batch_id", NULL);
	put_time(record, "created_at", row->times.created_ms);
	put_time(record, "started_at", row->times.started_ms);
	put_time(record, "end_at", row->times.end_ms);
	json_put_bool(record, "completed", row->completed);
	json_put_str(record, "queue_status", row->queue_status);
	json_put_str(record, "status", row->status);
	json_put_str(record, "answered_by", row->answered_by);
}

static void put_duration(json_t *record, const struct call_row *row)
{
	int64_t ms = 0;
	char seconds[32];

	if (row->times.answered_ms && row->times.end_ms)
		ms = row->times.end_ms - row->times.answered_ms;
	if (!row->completed) {
		json_put(record, "call_length", json_null());
		json_put(record, "corrected_duration", json_null());
		return;
	}
	snprintf(seconds, sizeof(seconds), "%lld",
		 (long long)((ms + 500) / 1000));
	json_put(record, "call_length", minutes(ms));
	json_put_str(record, "corrected_duration", seconds);
}

static void put_recording(json_t *record, const struct record_input *input,
			  const json_t *settings)
{
	bool is_on = json_is_true(json_object_get(settings, "record"));
	char url[512];

	json_put_bool(record, "record", is_on);
	snprintf(url, sizeof(url), "%s/v1/recordings/%s",
		 input->base_url ? input->base_url : "", input->row->id);
	json_put_str(record, "recording_url",
		     is_on && input->row->recording ? url : NULL);
	json_put(record, "recording_expiration", json_null());
}

static void put_outcome(json_t *record, const struct record_input *input)
{
	static const struct record_outcome none;
	const struct record_outcome *outcome =
		input->outcome ? input->outcome : &none;

	json_put_str(record, "error_message", outcome->error_message);
	json_put_str(record, "call_ended_by", outcome->ended_by);
	json_put_str(record, "summary", outcome->summary);
	json_put_str(record, "disposition_tag", outcome->disposition);
	json_put(record, "price",
		 input->row->completed ? json_integer(0) : json_null());
	json_put(record, "latency",
		 outcome->latency ? json_deep_copy(outcome->latency)
				  : json_null());
	json_put(record, "media",
		 outcome->media ? json_deep_copy(outcome->media) : json_null());
	if (outcome->variables)
		json_put(record, "variables",
			 json_deep_copy(outcome->variables));
}

/* A name of something that must not be shown: "Authorization", "auth_token",
 * "sip_password", "api_key". */
static bool is_secret(const char *name)
{
	size_t len = strlen(name);

	return strcasestr(name, "authorization") ||
	       strcasestr(name, "cookie") || strcasestr(name, "token") ||
	       strcasestr(name, "secret") || strcasestr(name, "password") ||
	       (len > 3 && !strcasecmp(name + len - 3, "key"));
}

/* Also in lists of {key, value}, as headers may be given. */
static void redact(json_t *value)
{
	const char *listed = json_str(value, "key");
	const char *key;
	json_t *member;
	size_t i;

	if (listed && is_secret(listed) && json_object_get(value, "value"))
		json_put_str(value, "value", hidden);
	json_object_foreach(value, key, member) {
		if (is_secret(key) && json_is_string(member))
			json_put_str(value, key, hidden);
		else
			redact(member);
	}
	json_array_foreach(value, i, member)
		redact(member);
}

/* request_data is the request as it came, without its secrets. */
static void put_settings(json_t *record, const json_t *settings)
{
	static const char *const copied[] = { "max_duration", "metadata",
					      "pathway_id", "pathway_version" };
	json_t *request = settings ? json_deep_copy(settings) : json_null();

	for (size_t i = 0; i < sizeof(copied) / sizeof(*copied); i++)
		put_setting(record, settings, copied[i]);
	redact(request);
	json_put(record, "request_data", request);
	json_put_str(record, "voice_id", json_str(settings, "voice"));
	json_put(record, "analysis", json_null());
}

json_t *record_json(const struct record_input *input)
{
	json_t *settings = json_parse(slice_of(input->row->request), NULL);
	json_t *record = json_object();
	struct buffer joined;

	buffer_init(&joined, BODY_MAX_BYTES);
	put_head(record, input);
	put_duration(record, input->row);
	put_settings(record, settings);
	json_put(record, "transcripts", json_array());
	json_put(record, "pathway_logs", json_array());
	json_put(record, "pathway_tags", json_array());
	json_put(record, "variables", json_object());
	walk_events(record, input, &joined);
	json_put_str(record, "concatenated_transcript", buffer_str(&joined));
	put_recording(record, input, settings);
	put_outcome(record, input);
	buffer_reset(&joined);
	json_decref(settings);
	return record;
}

/* Turns it into what lists show: without transcripts and logs. */
static void make_brief(json_t *record)
{
	static const char *const dropped[] = { "transcripts", "pathway_logs",
					       "concatenated_transcript",
					       "latency", "media" };

	for (size_t i = 0; i < sizeof(dropped) / sizeof(*dropped); i++)
		json_object_del(record, dropped[i]);
}

void record_render(struct call_row *row, struct arena *arena,
		   const struct record_input *input)
{
	json_t *record = record_json(input);
	struct buffer text;

	buffer_init(&text, BODY_MAX_BYTES);
	json_write(&text, record);
	row->body = arena_dup(arena, buffer_slice(&text));
	make_brief(record);
	buffer_clear(&text);
	json_write(&text, record);
	row->brief = arena_dup(arena, buffer_slice(&text));
	buffer_reset(&text);
	json_decref(record);
}
