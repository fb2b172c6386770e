/* SPDX-License-Identifier: MIT */
/* http/api/sip_body.h - what requests of /v1/sip say: the bodies of attach,
 * update and detach, numbers and directions in the forms that clients send, and
 * the number of a query. */
#pragma once
#include "agent/call/phone.h"
#include "core/arena.h"
#include "http/api/sip_check.h"
#include "http/request.h"

struct sip_body {
	const char **numbers; /* E.164, in the arena, each once */
	size_t n_numbers; /* at least 1 */
	struct sip_direction directions[2]; /* borrow from the body */
	size_t n_directions; /* at least 1 */
};

/* Each 0, or -EINVAL and *fault. */
int sip_body_attach(struct sip_body *out, const json_t *body,
		    struct arena *arena, struct sip_fault *fault);
int sip_body_update(struct sip_body *out, const json_t *body,
		    struct arena *arena, struct sip_fault *fault);
int sip_body_detach(struct sip_body *out, const json_t *body,
		    struct arena *arena, struct sip_fault *fault);
/* phone_number of the query. 0, or -EINVAL after an answer. */
int sip_query_number(char out[PHONE_SIZE], struct request *request);
