/* SPDX-License-Identifier: MIT */
/* /v1/pathway: pathways and their working copies. */
#include <errno.h>
#include "agent/service.h"
#include "core/id.h"
#include "core/json.h"
#include "core/loop.h"
#include "http/api/pathway_body.h"
#include "http/api/pathway_version.h"
#include "http/api/sets.h"
#include "http/problem.h"

enum { TEXT_MAX_BYTES = 60 * 1024 * 1024 };

/* A pathway on its way into the store; in the request's arena. */
struct writing {
	struct request *request;
	struct pathway_row row;
};

/* ---- reading ---- */

static void reply_text(struct request *request, struct buffer *text)
{
	if (buffer_error(text))
		request_fail_internal(request, buffer_error(text));
	else
		request_reply_text(request, 200, buffer_slice(text));
	buffer_reset(text);
}

static void list(struct request *request)
{
	const struct request_view *view = request_view(request);
	struct pathway_row *rows = NULL;
	size_t n = 0;
	int err = pathways_list(view->service->store, view->arena, view->org_id,
				&rows, &n);
	struct buffer text;

	if (err) {
		request_fail_internal(request, err);
		return;
	}
	buffer_init(&text, TEXT_MAX_BYTES);
	buffer_add_char(&text, '[');
	for (size_t i = 0; i < n; i++) {
		if (i)
			buffer_add_char(&text, ',');
		pathway_write(&text, &rows[i]);
	}
	buffer_add_char(&text, ']');
	reply_text(request, &text);
}

static void get(struct request *request)
{
	struct pathway_row row;
	struct buffer text;

	if (pathway_load(request, 0, &row))
		return;
	buffer_init(&text, TEXT_MAX_BYTES);
	pathway_write(&text, &row);
	reply_text(request, &text);
}

/* ---- writing ---- */

static void on_created(void *owner, int err)
{
	const struct writing *writing = owner;
	json_t *body;

	if (err) {
		request_fail_internal(writing->request, err);
		return;
	}
	body = json_object();
	json_put_str(body, "status", "success");
	json_put_str(body, "pathway_id", writing->row.id);
	request_reply(writing->request, 200, body);
}

static void create(struct request *request)
{
	const struct request_view *view = request_view(request);
	struct writing *writing = arena_new(view->arena, sizeof(*writing));
	struct pathway_row *row = &writing->row;
	char *id = arena_new(view->arena, ID_UUID_SIZE);

	if (pathway_body_read(request, row))
		return;
	id_uuid(id);
	writing->request = request;
	row->id = id;
	row->org_id = view->org_id;
	row->created_ms = row->updated_ms = loop_wall_ms(view->service->loop);
	pathways_insert(view->service->store, row,
			(struct store_reply){ on_created, writing });
}

static void on_updated(void *owner, int err)
{
	const struct writing *writing = owner;
	struct buffer text;

	if (err == -ENOENT) {
		problem_no_pathway(writing->request, writing->row.id);
		return;
	}
	if (err) {
		request_fail_internal(writing->request, err);
		return;
	}
	buffer_init(&text, TEXT_MAX_BYTES);
	buffer_add_str(&text, "{\"status\":\"success\",\"message\":\"Pathway "
			      "updated successfully\",\"pathway_data\":");
	pathway_write(&text, &writing->row);
	buffer_add_char(&text, '}');
	reply_text(writing->request, &text);
}

static void update(struct request *request)
{
	const struct request_view *view = request_view(request);
	struct writing *writing = arena_new(view->arena, sizeof(*writing));

	writing->request = request;
	if (pathway_load(request, 0, &writing->row) ||
	    pathway_body_read(request, &writing->row))
		return;
	writing->row.updated_ms = loop_wall_ms(view->service->loop);
	pathways_update(view->service->store, &writing->row,
			(struct store_reply){ on_updated, writing });
}

static void on_deleted(void *owner, int err)
{
	struct request *request = owner;
	const char *id = request_view(request)->params[0];
	json_t *body;

	if (err == -ENOENT) {
		problem_no_pathway(request, id);
		return;
	}
	if (err) {
		request_fail_internal(request, err);
		return;
	}
	body = json_object();
	json_put_str(body, "status", "success");
	json_put_str(body, "message", "Pathway deleted successfully");
	json_put_str(body, "pathway_id", id);
	request_reply(request, 200, body);
}

static void delete (struct request *request)
{
	const struct request_view *view = request_view(request);

	pathways_delete(view->service->store, view->org_id, view->params[0],
			(struct store_reply){ on_deleted, request });
}

static const struct route routes[] = {
	{ "GET", "/v1/pathway", list, 0, "The pathways." },
	{ "POST", "/v1/pathway", create, ROUTE_BIG_BODY,
	  "Makes a pathway; nodes and edges may follow later." },
	{ "POST", "/v1/pathway/create", create, ROUTE_BIG_BODY, "The same." },
	{ "GET", "/v1/pathway/{pathway_id}", get, 0,
	  "The working copy of a pathway." },
	{ "POST", "/v1/pathway/{pathway_id}", update, ROUTE_BIG_BODY,
	  "Changes the working copy; what is left out stays." },
	{ "DELETE", "/v1/pathway/{pathway_id}", delete, 0,
	  "Deletes a pathway with its versions." },
	{ "GET", "/v1/pathway/{pathway_id}/versions", pathway_versions, 0,
	  "The versions, newest first; 0 is the working copy." },
	{ "POST", "/v1/pathway/{pathway_id}/version", pathway_version_create, 0,
	  "Freezes the working copy as a new version." },
	{ "GET", "/v1/pathway/{pathway_id}/version/{number}",
	  pathway_version_get, 0, "One version." },
	{ "POST", "/v1/pathway/{pathway_id}/publish", pathway_publish, 0,
	  "Makes a version the one that calls run." },
};

const struct route_set api_pathways = { routes,
					sizeof(routes) / sizeof(*routes) };
