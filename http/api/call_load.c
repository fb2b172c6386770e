/* SPDX-License-Identifier: MIT */
#include "http/api/call_load.h"

#include <errno.h>
#include "agent/service.h"
#include "core/id.h"
#include "http/problem.h"

int call_load(struct request *request, struct call_row *out)
{
	const struct request_view *view = request_view(request);
	const char *id = view->params[0];
	int err = -ENOENT;

	if (id_is_uuid(slice_of(id)))
		err = calls_get(view->service->store, view->arena, view->org_id,
				id, out);
	if (err == -ENOENT)
		problem_no_call(request);
	else if (err)
		request_fail_internal(request, err);
	return err;
}
