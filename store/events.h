/* SPDX-License-Identifier: MIT */
/* store/events.h - the timeline of each call: the one source from which
 * transcripts and logs are derived. */
#pragma once
#include "store/store.h"

struct event_row {
	int64_t sequence;
	const char *type; /* "node.transition" */
	const char *node_id; /* NULL before the first node */
	int64_t operation_id; /* 0: none */
	const char *payload; /* JSON object or NULL */
	int64_t created_ms;
};

void events_append(struct store *store, const char *call_id,
		   const struct event_row *row, struct store_reply reply);
struct event_list {
	struct event_row *rows;
	size_t n;
};
/* In order of sequence, those above after. */
int events_list(struct store *store, struct arena *arena, const char *call_id,
		int64_t after, struct event_list *out);
