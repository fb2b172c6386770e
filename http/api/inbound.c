/* SPDX-License-Identifier: MIT */
/* /v1/inbound: what a number does when it rings. */
#include <errno.h>
#include "agent/call/phone.h"
#include "agent/call/settings.h"
#include "agent/service.h"
#include "core/json.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/time.h"
#include "http/api/links.h"
#include "http/api/sets.h"
#include "http/problem.h"
#include "store/numbers.h"
#include "store/trunks.h"

/* Fields that an answer always has; the others come as they were set. */
static const char *const shown[] = {
	"prompt",	   "pathway_id",
	"pathway_version", "voice",
	"first_sentence",  "webhook",
	"webhook_events",  "record",
	"max_duration",	   "transfer_phone_number",
	"transfer_list",   "interruption_threshold",
	"request_data",	   "metadata",
	"language",	   "timezone",
	"summary_prompt",  "dynamic_data",
	"tools",	   "keywords",
	"fallback_number",
};

/* The inbound number of the path, in the request's arena, with its trunk; NULL
 * after a 404. */
static const char *take_number(struct request *request, struct trunk_row *trunk)
{
	const struct request_view *view = request_view(request);
	struct trunk_row key = { .org_id = view->org_id,
				 .direction = TRUNK_INBOUND };
	char number[PHONE_SIZE];

	key.number = number;
	if (!phone_parse(number, slice_of(view->params[0])) &&
	    !trunks_get(view->service->store, view->arena, &key, trunk))
		return trunk->number;
	problem_missing(request, "Inbound number not found");
	return NULL;
}

/* Settings as stored, {} when there are none; NULL after a failure. */
static json_t *load(const struct request_view *view, const char *number,
		    struct number_row *row)
{
	int err = numbers_get(view->service->store, view->arena, view->org_id,
			      number, row);
	json_t *settings;

	if (err == -ENOENT) {
		*row = (struct number_row){ .number = number,
					    .org_id = view->org_id };
		return json_object();
	}
	settings = err ? NULL : json_parse(slice_of(row->settings), NULL);
	return settings;
}

/* ---- reading ---- */

static void put_time(json_t *object, const char *key, int64_t wall_ms)
{
	char at[TIME_TEXT_SIZE];

	json_put_str(object, key, wall_ms ? time_write(at, wall_ms) : NULL);
}

/* Flat: the number, its settings and times. */
static json_t *number_json(const struct request_view *view,
			   const struct trunk_row *trunk)
{
	struct number_row row;
	json_t *settings = load(view, trunk->number, &row);
	json_t *out = json_object();

	json_put_str(out, "phone_number", trunk->number);
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++)
		json_put(out, shown[i], json_null());
	json_object_update(out, settings);
	put_time(out, "created_at", trunk->created_ms);
	put_time(out, "updated_at", row.updated_ms);
	json_decref(settings);
	return out;
}

static void get(struct request *request)
{
	struct trunk_row trunk;

	if (take_number(request, &trunk))
		request_reply(request, 200,
			      number_json(request_view(request), &trunk));
}

static void list(struct request *request)
{
	const struct request_view *view = request_view(request);
	struct trunk_row *rows = NULL;
	size_t n = 0;
	int err = trunks_list(view->service->store, view->arena, view->org_id,
			      &rows, &n);
	json_t *numbers, *body;

	if (err) {
		request_fail_internal(request, err);
		return;
	}
	numbers = json_array();
	for (size_t i = 0; i < n; i++) {
		if (rows[i].direction == TRUNK_INBOUND)
			json_array_append_new(numbers,
					      number_json(view, &rows[i]));
	}
	body = json_object();
	json_put(body, "inbound_numbers", numbers);
	request_reply(request, 200, body);
}

/* ---- configuring ---- */

/* What was changed; in the request's arena, updates owned. */
struct configured {
	struct request *request;
	const char *number;
	json_t *updates;
};

static void on_configured(void *owner, int err)
{
	const struct configured *done = owner;
	struct arena *arena = request_view(done->request)->arena;
	json_t *body;

	if (err) {
		json_decref(done->updates);
		request_fail_internal(done->request, err);
		return;
	}
	body = json_object();
	json_put_str(body, "status", "success");
	json_put_str(body, "message",
		     arena_printf(arena, "Successfully updated number %s.",
				  done->number));
	json_put(body, "updates", done->updates);
	request_reply(done->request, 200, body);
}

static bool is_cleared(const json_t *settings, const char *key)
{
	json_t *value = json_object_get(settings, key);

	return !value || json_is_null(value);
}

/* Null clears, and a pathway clears the prompt fields. */
static void merge(json_t *settings, const json_t *updates)
{
	const char *key;
	json_t *value;

	if (!is_cleared(updates, "pathway_id")) {
		json_object_del(settings, "prompt");
		json_object_del(settings, "task");
		json_object_del(settings, "first_sentence");
	}
	json_object_foreach((json_t *)updates, key, value) {
		if (json_is_null(value))
			json_object_del(settings, key);
		else
			json_object_set(settings, key, value);
	}
	if (is_cleared(settings, "pathway_id"))
		json_object_del(settings, "pathway_version");
}

static void put(struct request *request, const char *number, json_t *updates)
{
	const struct request_view *view = request_view(request);
	struct service *service = view->service;
	struct configured *done = arena_new(view->arena, sizeof(*done));
	int64_t now_ms = loop_wall_ms(service->loop);
	struct number_row row;
	json_t *settings = load(view, number, &row);
	char *text;

	if (!settings) {
		request_fail_internal(request, -EIO);
		return;
	}
	merge(settings, updates);
	text = json_text(settings);
	row.settings = text;
	row.updated_ms = now_ms;
	if (!row.created_ms)
		row.created_ms = now_ms;
	*done = (struct configured){ request, number, json_incref(updates) };
	numbers_put(service->store, &row,
		    (struct store_reply){ on_configured, done });
	json_decref(settings);
	mem_free(text);
}

static void configure(struct request *request)
{
	struct settings_problem problem;
	struct trunk_row trunk;
	const char *number = take_number(request, &trunk);
	json_t *updates;

	if (!number)
		return;
	updates = settings_check_inbound(request_view(request)->body, &problem);
	if (!updates) {
		problem_settings(request, &problem);
		return;
	}
	if (!links_check_webhook(request, updates) &&
	    !links_check_pathway(request, updates, false))
		put(request, number, updates);
	json_decref(updates);
}

/* ---- clearing ---- */

static void on_cleared(void *owner, int err)
{
	struct request *request = owner;
	const struct request_view *view = request_view(request);
	char number[PHONE_SIZE] = "";
	json_t *body;

	if (err && err != -ENOENT) {
		request_fail_internal(request, err);
		return;
	}
	phone_parse(number, slice_of(view->params[0]));
	body = json_object();
	json_put_str(body, "status", "success");
	json_put_str(body, "message",
		     arena_printf(view->arena,
				  "Successfully cleared number %s.", number));
	request_reply(request, 200, body);
}

static void clear(struct request *request)
{
	const struct request_view *view = request_view(request);
	struct trunk_row trunk;
	const char *number = take_number(request, &trunk);

	if (number)
		numbers_delete(view->service->store, view->org_id, number,
			       (struct store_reply){ on_cleared, request });
}

static const struct route routes[] = {
	{ "GET", "/v1/inbound", list, 0, "The inbound numbers." },
	{ "GET", "/v1/inbound/{number}", get, 0,
	  "What a number does when it rings." },
	{ "POST", "/v1/inbound/{number}", configure, 0,
	  "Changes it; null or an empty text clears a field." },
	{ "POST", "/v1/inbound/{number}/delete", clear, 0,
	  "Clears a number's configuration." },
	{ "DELETE", "/v1/inbound/{number}", clear, 0, "The same." },
};

const struct route_set api_inbound = { routes,
				       sizeof(routes) / sizeof(*routes) };
