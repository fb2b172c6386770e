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
/* Owner of a number in either direction; NULL when free. */
const char *trunks_owner(struct store *store, struct arena *arena,
			 const char *number);
/* First outbound-attached number of the organisation, or NULL. */
const char *trunks_first_outbound(struct store *store, struct arena *arena,
				  const char *org_id);
