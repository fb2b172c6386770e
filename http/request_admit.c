/* SPDX-License-Identifier: MIT */
/* Admission of a request: route, method, key, entitlement, then its body. */
#include "http/request_priv.h"

#include <stdio.h>
#include "agent/service.h"
#include "core/json.h"
#include "http/auth.h"
#include "http/percent.h"

enum { BODY_MAX_BYTES = 1024 * 1024, BIG_BODY_MAX_BYTES = 8 * 1024 * 1024 };

static void fail_plain(struct request *request, int status, const char *error,
		       const char *message)
{
	struct request_error what = { status, error, message, NULL };

	request_fail(request, &what);
}

static bool has_key(struct request *request)
{
	struct request_view *view = &request->view;

	return !auth_check(view->arena, view->service,
			   request_header(request, "Authorization"),
			   &view->org_id, &view->key_id);
}

static bool refuse_unrouted(struct request *request,
			    const struct route_match *match)
{
	char header[80];
	struct request_error what = { 405, "METHOD_NOT_ALLOWED",
				      "This path does not take this method; "
				      "see Allow.",
				      NULL };

	if (!match->allow[0]) {
		fail_plain(request, 404, "NOT_FOUND", "Not found");
		return false;
	}
	snprintf(header, sizeof(header), "Allow: %s\r\n", match->allow);
	request_fail_with(request, &what, header);
	return false;
}

static bool decode_params(struct request *request,
			  const struct route_match *match)
{
	for (size_t i = 0; i < match->n_params; i++) {
		request->view.params[i] = percent_decode(
			request->view.arena, match->params[i], false);
		if (!request->view.params[i])
			return false;
	}
	return true;
}

/* False and an answer when the route, the key or the path is no good. */
static bool judge(struct request *request)
{
	struct request_view *view = &request->view;
	struct route_match match;
	bool is_open;

	route_find(&match, request->head.method, view->path);
	request->route = match.route;
	is_open = match.route && match.route->flags & ROUTE_OPEN;
	if (!is_open && !has_key(request)) {
		fail_plain(request, 401, "AUTH_FAILURE", "Unauthorized");
		return false;
	}
	if (!match.route)
		return refuse_unrouted(request, &match);
	if (!decode_params(request, &match)) {
		fail_plain(request, 404, "NOT_FOUND", "Not found");
		return false;
	}
	if (match.route->flags & ROUTE_SIP &&
	    !auth_has_sip(view->service, view->arena, view->org_id)) {
		fail_plain(request, 403, "FORBIDDEN",
			   "SIP is not enabled for your organization");
		return false;
	}
	return true;
}

bool request_admit(struct request *request, bool may_go_on)
{
	struct request_view *view = &request->view;
	bool keeps_alive = request->head.keeps_alive;

	view->method = arena_dup(view->arena, request->head.method);
	view->path = request->head.path;
	request->head.keeps_alive = keeps_alive && may_go_on;
	if (!judge(request))
		return false;
	request->head.keeps_alive = keeps_alive;
	return true;
}

size_t request_body_max(const struct request *request)
{
	return request->route && request->route->flags & ROUTE_BIG_BODY
		       ? BIG_BODY_MAX_BYTES
		       : BODY_MAX_BYTES;
}

static bool is_binary(struct slice type)
{
	static const char *const prefixes[] = { "multipart/", "image/",
						"audio/", "video/",
						"application/octet-stream" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		struct slice prefix = slice_of(prefixes[i]);

		if (type.len >= prefix.len &&
		    slice_eq_nocase(slice_make(type.ptr, prefix.len), prefix))
			return true;
	}
	return false;
}

/* False: it was answered. */
static bool read_body(struct request *request, struct slice body)
{
	struct json_problem problem;
	struct request_error what = { .status = 400, .error = "INVALID_JSON" };
	char message[240];

	if (!slice_trim(body).len)
		return true;
	if (is_binary(request_header(request, "Content-Type"))) {
		fail_plain(request, 415, "UNSUPPORTED_MEDIA_TYPE",
			   "Send the body as JSON.");
		return false;
	}
	request->view.body = json_parse(body, &problem);
	if (request->view.body)
		return true;
	snprintf(message, sizeof(message),
		 "The body is not valid JSON: line %d, column %d: %s",
		 problem.line, problem.column, problem.text);
	what.message = message;
	request_fail(request, &what);
	return false;
}

void request_dispatch(struct request *request, struct slice body)
{
	if (read_body(request, body))
		request->route->handle(request);
}
