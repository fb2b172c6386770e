/* SPDX-License-Identifier: MIT */
/* core/fetch.h - outgoing HTTP by libcurl multi on the loop. One fetch per
 * egress policy, because a pooled connection is not checked again. No
 * redirects, no proxy for tenants' addresses, http and https only. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/egress.h"
#include "core/slice.h"

struct fetch;
struct fetch_call;
struct loop;

struct fetch_header {
	const char *name;
	const char *value; /* CR, LF and NUL are refused: -EINVAL */
};

struct fetch_request {
	const char *method;
	const char *url;
	const struct fetch_header *headers; /* copied */
	size_t n_headers;
	struct slice body; /* copied */
	uint32_t timeout_ms; /* for all of it; 0: 30 s */
	size_t max_body_bytes; /* of the answer; 0: 1 MiB */
	/* NULL: the body is gathered. Else each piece as it comes. */
	void (*on_body)(void *owner, struct slice piece);
};

struct fetch_result {
	/* 0; -EACCES (egress), -ETIMEDOUT, -ECONNREFUSED, -EHOSTUNREACH (no
	 * such name), -ECONNRESET, -EKEYREJECTED (certificate), -EMSGSIZE (too
	 * large), -EPROTO, -EIO. Any status is 0. */
	int error;
	const char *reason; /* of error, for people; never NULL */
	int status; /* 0 without an answer */
	struct slice body; /* valid during the callback */
	struct slice retry_after; /* header of that name, or empty */
	uint32_t duration_ms;
};

typedef void fetch_done_fn(void *owner, const struct fetch_result *result);

/* A simulated loop has no sockets: answer stands in for the network, called
 * on the next turn with the request. Its result.body is copied; on_done comes
 * duration_ms of fake time later, or says -ETIMEDOUT when that is too long.
 * NULL on a real loop; on a simulated one: every host is unreachable. */
typedef void fetch_answer_fn(void *arg, const struct fetch_request *request,
			     struct fetch_result *result);
struct fetch_options {
	struct loop *loop; /* borrowed: outlives us */
	struct egress egress;
	const char *ca_file; /* trusted beside the system's; may be NULL */
	fetch_answer_fn *answer;
	void *answer_arg;
};

int fetch_open(struct fetch **out, const struct fetch_options *options);
void fetch_close(struct fetch **fetch); /* cancels what is under way */
/* Starts one request; on_done follows exactly once unless cancelled, never
 * inside this call. -EINVAL: bad URL, scheme, method or header (the length and
 * transfer encoding of the body are ours to say). *out may be NULL when the
 * caller never cancels; else out lives as long as the request, because it is
 * cleared (*out = NULL) before on_done runs. */
int fetch_start(struct fetch_call **out, struct fetch *fetch,
		const struct fetch_request *request, fetch_done_fn *on_done,
		void *owner);
void fetch_cancel(struct fetch_call **call); /* no callback after */
