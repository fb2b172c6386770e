/* SPDX-License-Identifier: MIT */
/* GET /v1/me: the organisation that a key belongs to. */
#include "agent/service.h"
#include "core/json.h"
#include "http/api/sets.h"
#include "store/calls.h"

static void get(struct request *request)
{
	const struct request_view *view = request_view(request);
	json_t *body = json_object();
	json_t *billing = json_object();

	json_put_int(billing, "current_balance", 0);
	json_put(billing, "refill_to", json_null());
	json_put_str(body, "status", "active");
	json_put(body, "billing", billing);
	json_put_int(body, "total_calls",
		     calls_count(view->service->store, view->org_id));
	request_reply(request, 200, body);
}

static const struct route routes[] = {
	{ "GET", "/v1/me", get, 0, "The organisation's account." },
};

const struct route_set api_account = { routes,
				       sizeof(routes) / sizeof(*routes) };
