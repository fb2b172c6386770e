/* SPDX-License-Identifier: MIT */
/* GET /v1/pathway_calls/{call_id}: the timeline of a call. */
#include <string.h>
#include "agent/call/record.h"
#include "agent/service.h"
#include "core/json.h"
#include "core/time.h"
#include "http/api/call_load.h"
#include "http/api/sets.h"
#include "http/problem.h"

enum { TEXT_MAX_BYTES = 48 * 1024 * 1024 };

static void add_text(struct buffer *out, const char *text)
{
	json_t *value = text ? json_string(text) : json_null();

	json_write(out, value);
	json_decref(value);
}

/* Payloads are stored as JSON: they go out as they stand. */
static void add_event(struct buffer *out, const char *call_id,
		      const struct event_row *row)
{
	char at[TIME_TEXT_SIZE];

	buffer_printf(out, "{\"conversation_id\":\"%s\",\"sequence\":%lld,",
		      call_id, (long long)row->sequence);
	buffer_add_str(out, "\"event_type\":");
	add_text(out, row->type);
	buffer_add_str(out, ",\"node_id\":");
	add_text(out, row->node_id);
	if (row->operation_id)
		buffer_printf(out, ",\"operation_id\":%lld",
			      (long long)row->operation_id);
	else
		buffer_add_str(out, ",\"operation_id\":null");
	buffer_printf(out, ",\"payload\":");
	buffer_add_str(out, row->payload ? row->payload : "null");
	buffer_printf(out, ",\"created_at\":\"%s\"}",
		      time_write(at, row->created_ms));
}

static void reply_events(struct request *request, const char *call_id,
			 const struct event_list *events)
{
	struct buffer text;

	buffer_init(&text, TEXT_MAX_BYTES);
	buffer_add_char(&text, '[');
	for (size_t i = 0; i < events->n; i++) {
		if (i)
			buffer_add_char(&text, ',');
		add_event(&text, call_id, &events->rows[i]);
	}
	buffer_add_char(&text, ']');
	if (buffer_error(&text))
		request_fail_internal(request, buffer_error(&text));
	else
		request_reply_text(request, 200, buffer_slice(&text));
	buffer_reset(&text);
}

static void reply_logs(struct request *request, const struct call_row *row,
		       const struct event_list *events)
{
	struct record_input input = { .row = row, .events = events };
	json_t *record = record_json(&input);
	json_t *logs = json_object_get(record, "pathway_logs");

	request_reply(request, 200, json_incref(logs));
	json_decref(record);
}

static void get(struct request *request)
{
	const struct request_view *view = request_view(request);
	struct store *store = view->service->store;
	const char *version = request_query(request, "v");
	struct event_list events = { 0 };
	struct call_row row;
	int err;

	if (version && strcmp(version, "2") != 0) {
		problem_invalid(request, "v", "v must be 2.");
		return;
	}
	if (call_load(request, &row))
		return;
	err = events_list(store, view->arena, row.id, 0, &events);
	if (err)
		request_fail_internal(request, err);
	else if (version)
		reply_events(request, row.id, &events);
	else
		reply_logs(request, &row, &events);
}

static const struct route routes[] = {
	{ "GET", "/v1/pathway_calls/{call_id}", get, 0,
	  "With v=2 the call's timeline by rising sequence, else its "
	  "pathway_logs." },
};

const struct route_set api_events = { routes,
				      sizeof(routes) / sizeof(*routes) };
