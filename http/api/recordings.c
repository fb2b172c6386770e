/* SPDX-License-Identifier: MIT */
/* GET /v1/recordings/{call_id}: the audio of a call that was recorded. */
#include <errno.h>
#include "agent/service.h"
#include "core/config.h"
#include "core/id.h"
#include "http/api/sets.h"
#include "store/calls.h"
#include "store/recordings.h"

/* A file that is being written has no length in its head yet. */
static bool is_closed(const struct request_view *view,
		      const struct recording_row *recording)
{
	struct call_row row;

	return recording->complete ||
	       (!calls_get(view->service->store, view->arena, view->org_id,
			   recording->call_id, &row) &&
		row.completed);
}

static int find(const struct request_view *view, struct recording_row *out)
{
	const char *id = view->params[0];
	int err;

	if (!id_is_uuid(slice_of(id)))
		return -ENOENT;
	err = recordings_get(view->service->store, view->arena, view->org_id,
			     id, out);
	return !err && !is_closed(view, out) ? -ENOENT : err;
}

static void get(struct request *request)
{
	static const struct request_error missing = {
		404, "CALL_RECORDING_NOT_FOUND", "Call recording not found",
		NULL
	};
	const struct request_view *view = request_view(request);
	const char *folder =
		config_text(view->service->config, "recordings.path");
	struct recording_row row;
	int err = find(view, &row);

	if (!err)
		err = request_reply_file(
			request,
			arena_printf(view->arena, "%s/%s", folder, row.file),
			"audio/wav");
	if (err == -ENOENT)
		request_fail(request, &missing);
	else if (err)
		request_fail_internal(request, err);
}

static const struct route routes[] = {
	{ "GET", "/v1/recordings/{call_id}", get, 0,
	  "The recording of a call; takes Range." },
	{ "GET", "/v1/recording/{call_id}", get, 0, "The same." },
};

const struct route_set api_recordings = { routes,
					  sizeof(routes) / sizeof(*routes) };
