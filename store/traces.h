/* SPDX-License-Identifier: MIT */
/* store/traces.h - the SIP messages of each call, kept for a set time. Their
 * text is UTF-8 without secrets (sip/redact.h); a call's messages are written
 * in batches. */
#pragma once
#include "store/store.h"

struct trace_line {
	int64_t number; /* within the call, from 1 without gaps */
	int64_t at_ms; /* Unix time */
	bool is_out;
	int leg; /* from 1 */
	const char *peer; /* "192.0.2.1:5061" */
	const char *text;
};

struct trace_batch {
	const char *call_id;
	int64_t created_ms; /* of the trace: counts for its age */
	int64_t messages; /* kept so far, with these */
	int64_t dropped; /* beyond the limits, so far */
	bool is_over; /* no more will come */
	const struct trace_line *lines; /* n of them may be 0 */
	size_t n;
};
void traces_append(struct store *store, const struct trace_batch *batch,
		   struct store_reply reply);

struct trace {
	struct trace_line *lines; /* in order */
	size_t n;
	int64_t dropped;
	bool is_complete; /* over, and none is missing */
};
/* 0 or -ENOENT. */
int traces_get(struct store *store, struct arena *arena, const char *call_id,
	       struct trace *out);

/* created_ms of the oldest trace; 0: there is none. */
int64_t traces_oldest_ms(struct store *store);
enum { TRACES_PURGE_MAX = 32 };
/* Deletes the oldest of those made before then, at most so many at a time: the
 * writer has others to serve. */
void traces_purge(struct store *store, int64_t before_ms,
		  struct store_reply reply);
