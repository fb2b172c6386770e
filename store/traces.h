/* SPDX-License-Identifier: MIT */
/* store/traces.h - the SIP messages of each call, kept for a set time: one row
 * for what was heard of a call within a second or so, because most calls leave
 * a dozen messages and each row costs more than they do. */
#pragma once
#include "store/store.h"

struct trace_line {
	int64_t at_ms; /* Unix time */
	bool is_out;
	int leg; /* from 1 */
	const char *peer; /* "192.0.2.1:5061" */
	const char *text; /* of sip_redact(): without control characters but
			   * CR, LF and TAB */
};

struct trace_batch {
	const char *call_id;
	int64_t written_ms; /* counts for its age */
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

/* written_ms of the first batch that is kept; 0: there is none. */
int64_t traces_first_ms(struct store *store);
enum { TRACES_PURGE_MAX = 256 };
/* Of the first batches, at most so many at a time because the writer has others
 * to serve, deletes those written before before_ms; also those after after_ms,
 * when the clock was wrong. */
void traces_purge(struct store *store, int64_t before_ms, int64_t after_ms,
		  struct store_reply reply);
