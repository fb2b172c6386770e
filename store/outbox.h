/* SPDX-License-Identifier: MIT */
/* store/outbox.h - webhooks to deliver, kept until they are, with each attempt.
 * In order per call: a row is due only when the call has no earlier open
 * one. */
#pragma once
#include "store/store.h"

struct outbox_row {
	const char *id; /* uuid; X-Webhook-Id */
	const char *org_id;
	const char *call_id;
	const char *url;
	const char *body; /* exact bytes to send and sign */
	const char *send_type; /* "spawn", "create", "resend" */
	int64_t number; /* order; 0 on insert */
	int64_t attempts;
	int64_t next_ms; /* when to try; 0: now */
	int64_t created_ms;
};

struct outbox_attempt {
	const char *id; /* of the row */
	int64_t sent_ms;
	int response_code; /* 0: none */
	int64_t duration_ms;
	const char *error; /* NULL: none */
	int64_t next_ms; /* of the next try; 0: none follows */
	bool delivered;
	const char *send_type; /* of the row, when read; not written */
};

void outbox_insert(struct store *store, const struct outbox_row *row,
		   struct store_reply reply);
/* Records one attempt; the row closes when delivered or none follows. */
void outbox_attempted(struct store *store, const struct outbox_attempt *what,
		      struct store_reply reply);
struct outbox_list {
	struct outbox_row *rows;
	size_t n;
};
enum { OUTBOX_ORG_MAX = 8 }; /* rows of an organisation at a time */
/* Rows due at now_ms, at most max and OUTBOX_ORG_MAX of each organisation,
 * skipping calls with an earlier open row. */
int outbox_due(struct store *store, struct arena *arena, int64_t now_ms,
	       size_t max, struct outbox_list *out);
/* When the next one is due; 0: none is open. */
int64_t outbox_next_due(struct store *store);
/* Attempts of a call's post-call webhook, oldest first, with its row. */
struct outbox_history {
	struct outbox_row row;
	struct outbox_attempt *attempts;
	size_t n;
};
int outbox_history(struct store *store, struct arena *arena,
		   const char *call_id, struct outbox_history *out);
