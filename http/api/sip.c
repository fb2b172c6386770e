/* SPDX-License-Identifier: MIT */
/* /v1/sip: which numbers are routed over the customer's own SIP side. */
#include <errno.h>
#include "agent/call/phone.h"
#include "core/id.h"
#include "core/json.h"
#include "core/loop.h"
#include "http/api/sets.h"
#include "http/api/sip_body.h"
#include "http/api/sip_trunk.h"
#include "http/problem.h"

/* ---- attach ---- */

struct attach;

/* One number on its way into the store. */
struct attaching {
	struct attach *attach;
	const char *number;
	int err; /* the first of its directions' */
};

/* In the request's arena; answered when pending reaches 0. */
struct attach {
	struct request *request;
	struct sip_body body;
	struct attaching *numbers;
	size_t pending;
};

static json_t *in_use_json(const char *number)
{
	json_t *out = json_object();

	json_put_str(out, "phone_number", number);
	json_put_str(out, "error", "NUMBER_IN_USE");
	json_put_str(out, "message",
		     "This number is attached by another organization");
	return out;
}

static void reply_attached(struct attach *attach)
{
	json_t *configured = json_array();
	json_t *failed = json_array();
	json_t *data = json_object();
	int err = 0;

	for (size_t i = 0; i < attach->body.n_numbers; i++) {
		const struct attaching *one = &attach->numbers[i];

		if (!one->err)
			json_array_append_new(configured,
					      json_string(one->number));
		else if (one->err == -EEXIST)
			json_array_append_new(failed, in_use_json(one->number));
		else
			err = one->err;
	}
	json_put(data, "configured", configured);
	json_put(data, "failed", failed);
	if (err) {
		json_decref(data);
		request_fail_internal(attach->request, err);
		return;
	}
	request_reply_data(attach->request, 200, data);
}

static void on_attached(void *owner, int err)
{
	struct attaching *one = owner;
	struct attach *attach = one->attach;

	if (!one->err)
		one->err = err;
	if (!--attach->pending)
		reply_attached(attach);
}

static void put(struct attaching *one, const struct sip_direction *direction)
{
	const struct request_view *view = request_view(one->attach->request);
	struct service *service = view->service;
	int64_t now_ms = loop_wall_ms(service->loop);
	struct trunk_row key = { .org_id = view->org_id,
				 .number = one->number,
				 .direction = direction->type };
	struct trunk_row old = { 0 };
	struct trunk_row row = key;
	char id[ID_UUID_SIZE];

	id_uuid(id);
	if (!trunks_get(service->store, view->arena, &key, &old))
		row.password = old.password; /* for one that is masked */
	row.id = id;
	row.created_ms = row.updated_ms = now_ms;
	sip_trunk_apply(&row, view->arena, service, direction, false);
	trunks_put(service->store, &row,
		   (struct store_reply){ on_attached, one });
}

static void attach_numbers(struct request *request)
{
	const struct request_view *view = request_view(request);
	struct attach *attach = arena_new(view->arena, sizeof(*attach));
	struct sip_fault fault;
	struct sip_body *body = &attach->body;

	attach->request = request;
	if (sip_body_attach(body, view->body, view->arena, &fault)) {
		problem_invalid(request, fault.field, fault.message);
		return;
	}
	attach->pending = body->n_numbers * body->n_directions;
	attach->numbers = arena_new(view->arena,
				    body->n_numbers * sizeof(struct attaching));
	for (size_t i = 0; i < body->n_numbers; i++) {
		struct attaching *one = &attach->numbers[i];

		*one = (struct attaching){ attach, body->numbers[i], 0 };
		for (size_t k = 0; k < body->n_directions; k++)
			put(one, &body->directions[k]);
	}
}

/* ---- update ---- */

static void problem_not_attached(struct request *request, const char *number,
				 const char *direction)
{
	problem_missing(request,
			arena_printf(request_view(request)->arena,
				     "No %sSIP configuration is attached to %s",
				     direction, number));
}

struct update {
	struct request *request;
	struct trunk_row row;
};

static void on_updated(void *owner, int err)
{
	const struct update *update = owner;

	if (err)
		request_fail_internal(update->request, err);
	else
		request_reply_data(update->request, 200,
				   sip_trunk_json(&update->row));
}

static void update(struct request *request)
{
	const struct request_view *view = request_view(request);
	struct service *service = view->service;
	struct update *update = arena_new(view->arena, sizeof(*update));
	struct trunk_row key = { .org_id = view->org_id };
	struct sip_body body;
	struct sip_fault fault;
	int err;

	if (sip_body_update(&body, view->body, view->arena, &fault)) {
		problem_invalid(request, fault.field, fault.message);
		return;
	}
	key.number = body.numbers[0];
	key.direction = body.directions[0].type;
	err = trunks_get(service->store, view->arena, &key, &update->row);
	if (err == -ENOENT) {
		problem_not_attached(request, key.number,
				     key.direction == TRUNK_INBOUND
					     ? "inbound "
					     : "outbound ");
		return;
	}
	if (err) {
		request_fail_internal(request, err);
		return;
	}
	update->request = request;
	update->row.updated_ms = loop_wall_ms(service->loop);
	sip_trunk_apply(&update->row, view->arena, service, &body.directions[0],
			true);
	trunks_put(service->store, &update->row,
		   (struct store_reply){ on_updated, update });
}

/* ---- detach ---- */

struct detach;

struct detaching {
	struct detach *detach;
	enum trunk_direction type;
	int err;
};

struct detach {
	struct request *request;
	const char *number;
	struct detaching parts[2];
	size_t n, pending;
};

static void reply_detached(const struct detach *detach)
{
	json_t *names = json_array();
	json_t *data = json_object();
	int err = 0;

	for (size_t i = 0; i < detach->n; i++) {
		const struct detaching *part = &detach->parts[i];

		if (!part->err)
			json_array_append_new(
				names,
				json_string(sip_direction_name(part->type)));
		else if (part->err != -ENOENT)
			err = part->err;
	}
	json_put(data, "detached", names);
	if (!err && json_array_size(names)) {
		request_reply_data(detach->request, 200, data);
		return;
	}
	json_decref(data);
	if (err)
		request_fail_internal(detach->request, err);
	else
		problem_not_attached(detach->request, detach->number, "");
}

static void on_detached(void *owner, int err)
{
	struct detaching *part = owner;
	struct detach *detach = part->detach;

	part->err = err;
	if (!--detach->pending)
		reply_detached(detach);
}

static void detach(struct request *request)
{
	const struct request_view *view = request_view(request);
	struct detach *detach = arena_new(view->arena, sizeof(*detach));
	struct sip_body body;
	struct sip_fault fault;

	if (sip_body_detach(&body, view->body, view->arena, &fault)) {
		problem_invalid(request, fault.field, fault.message);
		return;
	}
	detach->request = request;
	detach->number = body.numbers[0];
	detach->n = detach->pending = body.n_directions;
	for (size_t i = 0; i < detach->n; i++) {
		struct trunk_row key = { .org_id = view->org_id,
					 .number = detach->number,
					 .direction = body.directions[i].type };

		detach->parts[i] =
			(struct detaching){ detach, key.direction, 0 };
		trunks_delete(
			view->service->store, &key,
			(struct store_reply){ on_detached, &detach->parts[i] });
	}
}

/* ---- reading ---- */

static int read_one(const struct request_view *view, const char *number,
		    enum trunk_direction type, json_t **out)
{
	struct trunk_row key = { .org_id = view->org_id,
				 .number = number,
				 .direction = type };
	struct trunk_row row;
	int err = trunks_get(view->service->store, view->arena, &key, &row);

	*out = sip_trunk_json(err ? NULL : &row);
	return err == -ENOENT ? 0 : err;
}

static void get(struct request *request)
{
	const struct request_view *view = request_view(request);
	char number[PHONE_SIZE];
	json_t *data, *inbound, *outbound;
	int err;

	if (sip_query_number(number, request))
		return;
	err = read_one(view, number, TRUNK_INBOUND, &inbound);
	if (!err)
		err = read_one(view, number, TRUNK_OUTBOUND, &outbound);
	else
		outbound = json_null();
	data = json_object();
	json_put(data, "inbound", inbound);
	json_put(data, "outbound", outbound);
	if (!err) {
		request_reply_data(request, 200, data);
		return;
	}
	json_decref(data);
	request_fail_internal(request, err);
}

static const struct route routes[] = {
	{ "POST", "/v1/sip/attach", attach_numbers, ROUTE_SIP,
	  "Attaches numbers, replacing what was attached." },
	{ "POST", "/v1/sip/update", update, ROUTE_SIP,
	  "Changes one direction of an attached number." },
	{ "POST", "/v1/sip/detach", detach, ROUTE_SIP,
	  "Detaches directions of a number, without any both." },
	{ "GET", "/v1/sip", get, ROUTE_SIP,
	  "Both directions of a number; null where nothing is attached." },
};

const struct route_set api_sip = { routes, sizeof(routes) / sizeof(*routes) };
