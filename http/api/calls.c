/* SPDX-License-Identifier: MIT */
/* POST /v1/calls, GET /v1/calls/{call_id} and stop. */
#include <errno.h>
#include "agent/call/dispatch.h"
#include "agent/call/plan.h"
#include "agent/call/record.h"
#include "agent/call/settings.h"
#include "agent/service.h"
#include "core/id.h"
#include "core/json.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/time.h"
#include "http/api/call_load.h"
#include "http/api/calls_list.h"
#include "http/api/links.h"
#include "http/api/sets.h"
#include "http/problem.h"
#include "store/orgs.h"
#include "store/trunks.h"

/* ---- dispatching a call ---- */

/* What the answer to a stored call needs; in the request's arena. */
struct created {
	struct request *request;
	const char *call_id;
};

static int refuse_from(struct request *request)
{
	problem_invalid(request, "from", "Invalid from phone number.");
	return -EINVAL;
}

/* The number given, the organisation's own, or its first: it must be attached
 * for outbound calls. */
static int choose_from(struct request *request, json_t *settings,
		       const struct org_row *org)
{
	const struct request_view *view = request_view(request);
	struct store *store = view->service->store;
	struct trunk_row key = { .org_id = org->id,
				 .number = json_str(settings, "from"),
				 .direction = TRUNK_OUTBOUND };
	struct trunk_row trunk;

	if (!key.number)
		key.number = org->default_from;
	if (!key.number)
		key.number = trunks_first_outbound(store, view->arena, org->id);
	if (!key.number || trunks_get(store, view->arena, &key, &trunk))
		return refuse_from(request);
	json_put_str(settings, "from", trunk.number);
	return 0;
}

static int check_plan(struct request *request, const json_t *settings,
		      const struct org_row *org)
{
	static const struct request_error blocked = {
		403, "CALL_PLAN_DESTINATION_BLOCKED",
		"Your plan does not allow calls to this destination.",
		"phone_number"
	};

	if (plan_allows(org->plan_limits.countries,
			json_str(settings, "phone_number")))
		return 0;
	request_fail(request, &blocked);
	return -EACCES;
}

static void fill_from_org(json_t *settings, const struct org_row *org)
{
	if (!json_str(settings, "webhook") && org->webhook_url)
		json_put_str(settings, "webhook", org->webhook_url);
	if (!json_str(settings, "timezone") && org->timezone)
		json_put_str(settings, "timezone", org->timezone);
}

static int complete(struct request *request, json_t *settings)
{
	const struct request_view *view = request_view(request);
	struct org_row org;
	int err =
		orgs_get(view->service->store, view->arena, view->org_id, &org);

	if (err) {
		request_fail_internal(request, err);
		return err;
	}
	err = choose_from(request, settings, &org);
	if (!err)
		err = links_check_webhook(request, settings);
	if (!err)
		err = check_plan(request, settings, &org);
	if (!err)
		err = links_check_pathway(request, settings, true);
	if (!err)
		fill_from_org(settings, &org);
	return err;
}

static void on_created(void *owner, int err)
{
	const struct created *created = owner;
	struct request *request = created->request;
	struct service *service = request_view(request)->service;
	json_t *body;

	if (err) {
		request_fail_internal(request, err);
		return;
	}
	body = json_object();
	json_put_str(body, "status", "success");
	json_put_str(body, "message", "Call successfully queued.");
	json_put_str(body, "call_id", created->call_id);
	json_put(body, "batch_id", json_null());
	request_reply(request, 200, body);
	dispatch_wake(service->dispatch);
}

static void insert(struct request *request, const json_t *settings)
{
	const struct request_view *view = request_view(request);
	struct service *service = view->service;
	struct created *created = arena_new(view->arena, sizeof(*created));
	const char *start = json_str(settings, "start_time");
	char *id = arena_new(view->arena, ID_UUID_SIZE);
	char *text = json_text(settings);
	struct call_row row = { .id = id,
				.org_id = view->org_id,
				.to = json_str(settings, "phone_number"),
				.from = json_str(settings, "from"),
				.queue_status = "queued",
				.request = text };
	struct record_input input = { .row = &row,
				      .base_url = service->base_url };

	id_uuid(id);
	*created = (struct created){ request, id };
	row.times.created_ms = loop_wall_ms(service->loop);
	if (start)
		time_parse(&row.times.start_at_ms, slice_of(start));
	record_render(&row, view->arena, &input);
	calls_insert(service->store, &row,
		     (struct store_reply){ on_created, created });
	mem_free(text);
}

static void create(struct request *request)
{
	struct settings_problem problem;
	json_t *settings =
		settings_check_call(request_view(request)->body, &problem);

	if (!settings) {
		problem_settings(request, &problem);
		return;
	}
	if (!complete(request, settings))
		insert(request, settings);
	json_decref(settings);
}

/* ---- reading one ---- */

/* As far as it has come: derived from the timeline. */
static json_t *progress(struct service *service, struct arena *arena,
			const struct call_row *row)
{
	struct event_list events = { 0 };
	struct record_outcome outcome = {
		.variables = dispatch_variables(service->dispatch, row->id),
	};
	struct record_input input = { .row = row,
				      .events = &events,
				      .outcome = outcome.variables ? &outcome
								   : NULL,
				      .base_url = service->base_url };

	if (events_list(service->store, arena, row->id, 0, &events))
		return NULL;
	return record_json(&input);
}

static void get(struct request *request)
{
	const struct request_view *view = request_view(request);
	struct call_row row;
	json_t *body;

	if (call_load(request, &row))
		return;
	if (row.completed) {
		request_reply_text(request, 200, slice_of(row.body));
		return;
	}
	body = progress(view->service, view->arena, &row);
	if (body)
		request_reply(request, 200, body);
	else
		request_fail_internal(request, -EIO);
}

/* ---- stopping one ---- */

static void on_stopped(void *owner, int err)
{
	static const struct request_error busy = {
		429, "TOO_MANY_REQUESTS", "The call is being stopped already.",
		NULL
	};
	struct request *request = owner;
	json_t *body;

	if (err == -ENOENT) {
		problem_no_call(request);
	} else if (err == -EBUSY) {
		request_fail(request, &busy);
	} else if (err) {
		request_fail_internal(request, err);
	} else {
		body = json_object();
		json_put_str(body, "status", "success");
		json_put_str(body, "message", "Call ended successfully.");
		request_reply(request, 200, body);
	}
}

static void stop(struct request *request)
{
	const struct request_view *view = request_view(request);

	if (id_is_uuid(slice_of(view->params[0])))
		dispatch_stop(view->service->dispatch, view->org_id,
			      view->params[0],
			      (struct store_reply){ on_stopped, request });
	else
		problem_no_call(request);
}

static const struct route routes[] = {
	{ "POST", "/v1/calls", create, 0, "Dispatches a call." },
	{ "GET", "/v1/calls", calls_list_reply, 0,
	  "Lists calls, newest first, without transcripts." },
	{ "GET", "/v1/calls/{call_id}", get, 0,
	  "A call as it is now; its outcome once completed is true." },
	{ "POST", "/v1/calls/{call_id}/stop", stop, 0,
	  "Ends a call, also one that is still queued." },
};

const struct route_set api_calls = { routes, sizeof(routes) / sizeof(*routes) };
