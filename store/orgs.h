/* SPDX-License-Identifier: MIT */
/* store/orgs.h - organisations and their API keys (kept as hashes). */
#pragma once
#include "core/secret.h"
#include "store/store.h"

struct org_row {
	const char *id; /* uuid */
	const char *name;
	const char *plan; /* "enterprise", "agent_phone" */
	const char *timezone; /* IANA name; "UTC" */
	const char *default_from; /* E.164 or NULL */
	const char *webhook_url; /* default for calls, or NULL */
	struct slice webhook_secret; /* sealed */
	struct slice previous_secret; /* sealed; signs until below */
	int64_t previous_until_ms;
	struct {
		int64_t concurrency;
		double max_minutes; /* 0: no limit of the plan */
		const char *countries; /* "US,CA"; "": all */
		bool sip; /* entitlement */
	} plan_limits;
	int64_t created_ms;
};

struct key_row {
	const char *id; /* uuid */
	const char *org_id;
	const char *name;
	const char *hint; /* first 8 characters, to tell keys apart */
	uint8_t hash[SECRET_HASH_BYTES];
	int64_t created_ms;
	int64_t revoked_ms; /* 0: valid */
};

void orgs_put(struct store *store, const struct org_row *row,
	      struct store_reply reply); /* insert or replace by id */
int orgs_get(struct store *store, struct arena *arena, const char *id,
	     struct org_row *out); /* 0 or -ENOENT */
int orgs_list(struct store *store, struct arena *arena, struct org_row **rows,
	      size_t *n);

void keys_put(struct store *store, const struct key_row *row,
	      struct store_reply reply);
/* Valid keys only. 0 or -ENOENT. */
int keys_find(struct store *store, struct arena *arena,
	      const uint8_t hash[SECRET_HASH_BYTES], struct key_row *out);
int keys_list(struct store *store, struct arena *arena, const char *org_id,
	      struct key_row **rows, size_t *n);
/* -ENOENT when the organisation has no such key. */
void keys_revoke(struct store *store, const char *org_id, const char *id,
		 int64_t at_ms, struct store_reply reply);
