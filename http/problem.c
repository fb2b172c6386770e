/* SPDX-License-Identifier: MIT */
#include "http/problem.h"

#include "core/arena.h"

void problem_invalid(struct request *request, const char *field,
		     const char *message)
{
	struct request_error what = { 400, "VALIDATION_ERROR", message, field };

	request_fail(request, &what);
}

void problem_settings(struct request *request,
		      const struct settings_problem *problem)
{
	struct request_error what = { problem->status, problem->error,
				      problem->message, problem->field };

	request_fail(request, &what);
}

void problem_missing(struct request *request, const char *message)
{
	struct request_error what = { 404, "NOT_FOUND", message, NULL };

	request_fail(request, &what);
}

void problem_no_call(struct request *request)
{
	struct request_error what = { 404, "CALL_NOT_FOUND", "Call not found",
				      NULL };

	request_fail(request, &what);
}

void problem_no_pathway(struct request *request, const char *id)
{
	struct arena *arena = request_view(request)->arena;

	problem_missing(
		request,
		arena_printf(arena, "Pathway with ID \"%s\" not found", id));
}
