/* SPDX-License-Identifier: MIT */
/* GET /v1/postcall/webhooks/{call_id}: what was sent when a call ended, and how
 * each attempt went. */
#include <errno.h>
#include "agent/service.h"
#include "core/json.h"
#include "core/time.h"
#include "http/api/call_load.h"
#include "http/api/sets.h"
#include "http/problem.h"
#include "store/outbox.h"

static json_t *attempt_json(const struct outbox_attempt *attempt,
			    struct arena *arena)
{
	json_t *out = json_object();
	char at[TIME_TEXT_SIZE];

	json_put_str(out, "sent_at", time_write(at, attempt->sent_ms));
	json_put(out, "response_code",
		 attempt->response_code ? json_integer(attempt->response_code)
					: json_null());
	json_put_str(
		out, "response_time",
		arena_printf(arena, "%lldms", (long long)attempt->duration_ms));
	json_put_str(out, "send_type", attempt->send_type);
	return out;
}

static json_t *history_json(const struct outbox_history *history,
			    struct arena *arena)
{
	json_t *out = json_object();
	json_t *attempts = json_array();
	json_t *payload = json_parse(slice_of(history->row.body), NULL);
	char at[TIME_TEXT_SIZE];

	for (size_t i = 0; i < history->n; i++)
		json_array_append_new(
			attempts, attempt_json(&history->attempts[i], arena));
	json_put(out, "payload", payload ? payload : json_null());
	json_put_str(out, "url", history->row.url);
	json_put_str(out, "created_at",
		     time_write(at, history->row.created_ms));
	json_put_str(out, "call_id", history->row.call_id);
	json_put_str(out, "user_id", history->row.org_id);
	json_put(out, "metadata", attempts);
	return out;
}

static void get(struct request *request)
{
	const struct request_view *view = request_view(request);
	struct store *store = view->service->store;
	struct outbox_history history;
	struct call_row row;
	int err;

	if (call_load(request, &row))
		return;
	err = outbox_history(store, view->arena, row.id, &history);
	if (!err)
		request_reply_data(request, 200,
				   history_json(&history, view->arena));
	else if (err == -ENOENT)
		problem_missing(request, "No webhook was sent for this call");
	else
		request_fail_internal(request, err);
}

static const struct route routes[] = {
	{ "GET", "/v1/postcall/webhooks/{call_id}", get, 0,
	  "The post-call webhook of a call with its attempts." },
};

const struct route_set api_postcall = { routes,
					sizeof(routes) / sizeof(*routes) };
