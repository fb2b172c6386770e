/* SPDX-License-Identifier: MIT */
/* store/calls.h - call records. body is the whole answer of GET /v1/calls/{id}
 * once the call is completed, brief the same for lists: both are rendered by
 * the service and served as they stand. */
#pragma once
#include "store/events.h"
#include "store/outbox.h"
#include "store/store.h"

struct call_row {
	const char *id; /* uuid */
	const char *org_id;
	int64_t number; /* rising in order of insertion; 0 on insert */
	const char *to; /* E.164 */
	const char *from;
	bool inbound;
	bool completed;
	const char *queue_status; /* "queued", "started", ... */
	const char *status; /* NULL before the end */
	const char *answered_by; /* or NULL */
	struct {
		int64_t created_ms, start_at_ms, started_ms, end_ms;
		int64_t answered_ms;
	} times; /* 0: not yet */
	const char *request; /* JSON: checked call settings */
	const char *body; /* JSON */
	const char *brief; /* JSON */
	const char *recording; /* file name in the folder, or NULL */
};

void calls_insert(struct store *store, const struct call_row *row,
		  struct store_reply reply);
/* Writes all but id, org_id, number, created_ms, request. -ENOENT. */
void calls_update(struct store *store, const struct call_row *row,
		  struct store_reply reply);

/* The end of a call: row, last events and the webhook to deliver (url NULL:
 * none) become visible in one commit. -EALREADY: was completed before. */
struct call_end {
	struct call_row row;
	const struct event_row *events;
	size_t n_events;
	struct outbox_row webhook;
};
void calls_complete(struct store *store, const struct call_end *end,
		    struct store_reply reply);

/* org_id NULL: any. 0 or -ENOENT. */
int calls_get(struct store *store, struct arena *arena, const char *org_id,
	      const char *id, struct call_row *out);

struct calls_query {
	const char *org_id;
	const char *to, *from; /* exact; NULL: any */
	int completed, inbound; /* -1: any */
	const char *answered_by;
	int64_t start_ms, end_ms; /* created in [start, end); 0: open */
	double longer_s, shorter_s; /* duration; < 0: any */
	size_t offset, limit;
	bool descending;
};
struct call_list {
	struct call_row *rows; /* id, brief, times and states */
	size_t n;
	int64_t total; /* all that match */
};
/* Has a connection of its own: may also be called on a pool thread, where lists
 * that filter a million calls (0.4 s) belong. limit 0 gives the total alone. */
int calls_list(struct store *store, struct arena *arena,
	       const struct calls_query *query, struct call_list *out);
/* Calls of the organisation, ever. */
int64_t calls_count(struct store *store, const char *org_id);

/* Next call of the organisation to dial: queued, due at now_ms, number above
 * after, lowest first. 0 or -ENOENT. */
int calls_next_queued(struct store *store, struct arena *arena,
		      const struct call_row *key, /* org_id, number: after */
		      int64_t now_ms, struct call_row *out);
/* Organisations with queued calls, and when the next one is due (0: none). */
int calls_queued_orgs(struct store *store, struct arena *arena, int64_t now_ms,
		      const char ***org_ids, size_t *n);
int64_t calls_next_due(struct store *store, int64_t now_ms);
/* Calls that were up when the service ended: not completed, not queued. */
int calls_interrupted(struct store *store, struct arena *arena,
		      struct call_list *out);
