/* SPDX-License-Identifier: MIT */
/* agent/pathway/webhook_request.h - what a Webhook node asks for: its data with
 * the variables filled in. */
#pragma once
#include <jansson.h>
#include <stdint.h>
#include "agent/pathway/variables.h"

struct webhook_request {
	char *method; /* owned, upper case */
	char *url; /* owned */
	char *body; /* owned; NULL: none */
	json_t *headers; /* owned object of strings */
	uint32_t timeout_ms;
	unsigned max_retries;
};

/* method: POST with a body, else GET, when it is absent. timeoutValue below
 * 1000 is in seconds, else in ms; 10 s when absent, at most 60 s. */
void webhook_request_init(struct webhook_request *request, const json_t *data,
			  const struct variables *variables);
void webhook_request_reset(struct webhook_request *request);
/* The payload of webhook.invoke; secrets are redacted by the timeline. */
json_t *webhook_request_json(const struct webhook_request *request,
			     const json_t *data);
