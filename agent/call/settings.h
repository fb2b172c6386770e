/* SPDX-License-Identifier: MIT */
/* agent/call/settings.h - what a client may say about a call, checked by one
 * table: POST /v1/calls and POST /v1/inbound/{number}. */
#pragma once
#include <jansson.h>

struct settings_problem {
	int status; /* HTTP: 400, 403, 404 */
	char error[40]; /* "VALIDATION_ERROR" */
	char message[200]; /* exact strings of the published API */
	char field[80];
};

/* Checked copy with E.164 numbers, real booleans and numbers; unknown fields
 * are kept. NULL and *problem on the first fault. */
json_t *settings_check_call(const json_t *body,
			    struct settings_problem *problem);
/* The same for an inbound number; null or "" clears a field. */
json_t *settings_check_inbound(const json_t *body,
			       struct settings_problem *problem);
