/* SPDX-License-Identifier: MIT */
/* GET /v1/calls/{call_id}/sip: the SIP messages of a call, all its legs', in
 * order, without secrets. While the signalling goes on it lags by a second at
 * most; complete says that it is over and nothing is missing. A call that is
 * queued, or whose messages are not kept any more, has none. */
#include <errno.h>
#include "agent/service.h"
#include "core/json.h"
#include "core/time.h"
#include "http/api/call_load.h"
#include "http/api/sets.h"
#include "sip/redact.h"
#include "store/traces.h"

static void put_slice(json_t *object, const char *key, struct slice text)
{
	json_put(object, key, json_stringn(text.len ? text.ptr : "", text.len));
}

static json_t *message_json(const struct trace_line *line)
{
	json_t *message = json_object();
	struct slice text = slice_of(line->text);
	struct sip_glance glance;
	char at[TIME_TEXT_SIZE];

	sip_glance(&glance, text);
	json_put_str(message, "at", time_write(at, line->at_ms));
	json_put_str(message, "direction", line->is_out ? "out" : "in");
	json_put_str(message, "peer", line->peer);
	json_put_int(message, "leg", line->leg);
	put_slice(message, "sip_call_id", glance.call_id);
	put_slice(message, "start_line", glance.start_line);
	put_slice(message, "method", glance.method);
	json_put(message, "status",
		 glance.status ? json_integer(glance.status) : json_null());
	put_slice(message, "cseq", glance.cseq);
	put_slice(message, "text", text);
	return message;
}

static json_t *trace_json(const char *call_id, const struct trace *trace)
{
	json_t *data = json_object();
	json_t *messages = json_array();

	for (size_t i = 0; i < trace->n; i++)
		json_array_append_new(messages, message_json(&trace->lines[i]));
	json_put_str(data, "call_id", call_id);
	json_put_bool(data, "complete", trace->is_complete);
	json_put_int(data, "dropped", trace->dropped);
	json_put(data, "messages", messages);
	return data;
}

static void get(struct request *request)
{
	const struct request_view *view = request_view(request);
	struct store *store = view->service->store;
	struct call_row row;
	struct trace trace;
	int err;

	if (call_load(request, &row))
		return;
	err = traces_get(store, view->arena, row.id, &trace);
	if (err && err != -ENOENT)
		request_fail_internal(request, err);
	else
		request_reply_data(request, 200, trace_json(row.id, &trace));
}

static const struct route routes[] = {
	{ "GET", "/v1/calls/{call_id}/sip", get, 0,
	  "The SIP messages of a call, in order, without secrets." },
};

const struct route_set api_sip_trace = { routes,
					 sizeof(routes) / sizeof(*routes) };
