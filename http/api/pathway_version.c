/* SPDX-License-Identifier: MIT */
#include "http/api/pathway_version.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include "agent/service.h"
#include "core/id.h"
#include "core/json.h"
#include "core/time.h"
#include "http/problem.h"

enum { VERSION_MAX = 1000 * 1000 * 1000 };

int pathway_load(struct request *request, int64_t version,
		 struct pathway_row *out)
{
	const struct request_view *view = request_view(request);
	struct pathway_row key = { .org_id = view->org_id,
				   .id = view->params[0],
				   .version = version };
	int err = -ENOENT;

	if (id_is_uuid(slice_of(key.id)))
		err = pathways_get(view->service->store, view->arena, &key,
				   out);
	if (err == -ENOENT)
		problem_no_pathway(request, key.id);
	else if (err)
		request_fail_internal(request, err);
	return err;
}

/* A version's own id: the pathway's with the number behind it. */
static const char *version_id(struct arena *arena, const char *id,
			      int64_t version)
{
	return arena_printf(arena, "%s:%lld", id, (long long)version);
}

static void put_time(json_t *object, const char *key, int64_t wall_ms)
{
	char at[TIME_TEXT_SIZE];

	json_put_str(object, key, time_write(at, wall_ms));
}

/* ---- listing ---- */

static json_t *version_json(const struct pathway_row *row, struct arena *arena,
			    bool is_latest)
{
	json_t *out = json_object();
	bool is_live = row->version && row->version == row->production;

	json_put_str(out, "id", version_id(arena, row->id, row->version));
	json_put_int(out, "version_number", row->version);
	put_time(out, "created_at", row->created_ms);
	json_put_str(out, "name", row->name);
	json_put_bool(out, "is_latest", is_latest);
	json_put_bool(out, "is_prev_published", is_live);
	json_put_bool(out, "is_staging", false);
	return out;
}

void pathway_versions(struct request *request)
{
	const struct request_view *view = request_view(request);
	struct pathway_row key = { .org_id = view->org_id };
	struct pathway_row *rows = NULL;
	struct pathway_row row;
	size_t n = 0;
	json_t *body;
	int err;

	if (pathway_load(request, 0, &row))
		return;
	key.id = row.id;
	err = pathways_versions(view->service->store, view->arena, &key, &rows,
				&n);
	if (err) {
		request_fail_internal(request, err);
		return;
	}
	body = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(body,
				      version_json(&rows[i], view->arena, !i));
	request_reply(request, 200, body);
}

void pathway_version_get(struct request *request)
{
	const struct request_view *view = request_view(request);
	struct pathway_row row;
	uint64_t number;
	json_t *body;

	if (slice_to_u64(&number, slice_of(view->params[1]), VERSION_MAX)) {
		problem_missing(request, "Version not found");
		return;
	}
	if (pathway_load(request, (int64_t)number, &row))
		return;
	body = version_json(&row, view->arena, false);
	json_object_del(body, "is_latest");
	json_put_str(body, "pathway_id", row.id);
	json_put(body, "nodes", json_parse(slice_of(row.nodes), NULL));
	json_put(body, "edges", json_parse(slice_of(row.edges), NULL));
	request_reply(request, 200, body);
}

/* ---- freezing ---- */

static void on_frozen(void *owner, int err)
{
	struct request *request = owner;
	const struct request_view *view = request_view(request);
	struct pathway_row key = { .org_id = view->org_id,
				   .id = view->params[0] };
	struct pathway_row *rows = NULL;
	size_t n = 0;
	json_t *body, *data;

	if (!err)
		err = pathways_versions(view->service->store, view->arena, &key,
					&rows, &n);
	if (err == -ENOENT || (!err && !n)) {
		problem_no_pathway(request, key.id);
		return;
	}
	if (err) {
		request_fail_internal(request, err);
		return;
	}
	data = json_object();
	json_put_str(data, "id",
		     version_id(view->arena, key.id, rows[0].version));
	json_put_int(data, "version_number", rows[0].version);
	json_put_str(data, "name", rows[0].name);
	put_time(data, "created_at", rows[0].created_ms);
	body = json_object();
	json_put_str(body, "status", "success");
	json_put_str(body, "message", "Version created successfully");
	json_put(body, "data", data);
	request_reply(request, 200, body);
}

void pathway_version_create(struct request *request)
{
	const struct request_view *view = request_view(request);
	const json_t *name = json_object_get(view->body, "name");
	struct pathway_row row;

	if (name && !json_is_null(name) && !json_is_string(name)) {
		problem_invalid(request, "name", "name must be a string.");
		return;
	}
	if (json_object_get(view->body, "nodes") ||
	    json_object_get(view->body, "edges")) {
		problem_invalid(request, "nodes",
				"A version is made from the working copy: "
				"update the pathway first.");
		return;
	}
	if (pathway_load(request, 0, &row))
		return;
	pathways_freeze(view->service->store, &row,
			json_is_string(name) ? json_string_value(name)
					     : row.name,
			(struct store_reply){ on_frozen, request });
}

/* ---- publishing ---- */

/* A number, or a version's id of this pathway. 0 or -EINVAL. */
static int take_version(int64_t *out, const json_t *value, const char *id)
{
	const char *text = json_string_value(value);
	size_t len = strlen(id);
	uint64_t number;
	double real;

	if (text && !strncmp(text, id, len) && text[len] == ':') {
		if (slice_to_u64(&number, slice_of(text + len + 1),
				 VERSION_MAX))
			return -EINVAL;
		*out = (int64_t)number;
		return 0;
	}
	if (json_to_real(&real, value) || real != floor(real) || real < 0 ||
	    real > VERSION_MAX)
		return -EINVAL;
	*out = (int64_t)real;
	return 0;
}

static void on_published(void *owner, int err)
{
	struct request *request = owner;
	json_t *body;

	if (err == -ENOENT) {
		problem_missing(request, "Version not found");
		return;
	}
	if (err) {
		request_fail_internal(request, err);
		return;
	}
	body = json_object();
	json_put_str(body, "status", "success");
	json_put_str(body, "message", "Pathway published successfully");
	request_reply(request, 200, body);
}

void pathway_publish(struct request *request)
{
	const struct request_view *view = request_view(request);
	const json_t *place = json_object_get(view->body, "environment");
	struct pathway_row row;

	if (pathway_load(request, 0, &row))
		return;
	if (place && !json_is_null(place) &&
	    !slice_eq(slice_of(json_string_value(place)),
		      SLICE("production"))) {
		problem_invalid(request, "environment",
				"environment must be production.");
		return;
	}
	if (take_version(&row.version,
			 json_object_get(view->body, "version_id"), row.id)) {
		problem_invalid(request, "version_id",
				"version_id must name a version.");
		return;
	}
	pathways_publish(view->service->store, &row,
			 (struct store_reply){ on_published, request });
}
