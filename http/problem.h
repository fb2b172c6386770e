/* SPDX-License-Identifier: MIT */
/* http/problem.h - the refusals that several resources give. Each answers the
 * request. */
#pragma once
#include "agent/call/settings.h"
#include "http/request.h"

/* 400 VALIDATION_ERROR that names the field. */
void problem_invalid(struct request *request, const char *field,
		     const char *message);
void problem_settings(struct request *request,
		      const struct settings_problem *problem);
/* 404 NOT_FOUND. */
void problem_missing(struct request *request, const char *message);
void problem_no_call(struct request *request); /* 404 CALL_NOT_FOUND */
void problem_no_pathway(struct request *request, const char *id);
