/* SPDX-License-Identifier: MIT */
/* store/trunks.h - SIP configurations: one per number and direction. A number
 * belongs to one organisation. */
#pragma once
#include "store/store.h"

enum trunk_direction { TRUNK_INBOUND, TRUNK_OUTBOUND };

struct trunk_row {
	const char *id; /* uuid */
	const char *org_id;
	const char *number; /* E.164 with '+' */
	enum trunk_direction direction;
	const char *sip_endpoint; /* as given; NULL for inbound */
	const char *host; /* of the endpoint; NULL for inbound */
	uint16_t port; /* 0: RFC 3263 */
	const char *username; /* NULL: none */
	struct slice password; /* sealed; empty: none */
	const char *headers; /* JSON or NULL */
	const char *options; /* JSON without password, or NULL */
	int64_t created_ms;
	int64_t updated_ms;
	int64_t inbound_id; /* 0: none */
};

/* Inserts or replaces by (number, direction), id and created_ms kept on a
 * replace. -EEXIST: the number is another organisation's. */
void trunks_put(struct store *store, const struct trunk_row *row,
		struct store_reply reply);
/* -ENOENT: not attached. */
void trunks_delete(struct store *store, const struct trunk_row *key,
		   struct store_reply reply); /* org, number, direction */
/* org_id NULL: whosever it is (inbound routing). 0 or -ENOENT. */
int trunks_get(struct store *store, struct arena *arena,
	       const struct trunk_row *key, struct trunk_row *out);
int trunks_list(struct store *store, struct arena *arena, const char *org_id,
		struct trunk_row **rows, size_t *n);
/* First outbound-attached number of the organisation, or NULL. */
const char *trunks_first_outbound(struct store *store, struct arena *arena,
				  const char *org_id);

/* Where outbound configurations lead: each host and port once. */
struct trunk_target {
	const char *host;
	uint16_t port; /* 0: RFC 3263 */
};
/* The n targets at most that follow after in their order, {"", 0} to begin. The
 * cost is that of the targets, however many numbers share one. */
int trunks_targets(struct store *store, struct arena *arena,
		   const struct trunk_target *after, struct trunk_target *out,
		   size_t *n);

/* A number with what is attached to it. */
struct trunk_number {
	const char *number;
	bool is_inbound, is_outbound;
	const char *sip_endpoint; /* of outbound; else NULL */
	const char *host; /* likewise */
	uint16_t port;
};
struct trunk_page {
	const char *org_id;
	const char *after; /* a number; "" to begin */
	int max;
};
/* A page of the organisation's numbers in their order. */
int trunks_numbers(struct store *store, struct arena *arena,
		   const struct trunk_page *page, struct trunk_number **rows,
		   size_t *n);
