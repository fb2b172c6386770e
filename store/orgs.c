/* SPDX-License-Identifier: MIT */
#include "store/orgs.h"
#include "store/store_priv.h"

static const struct field org_fields[] = {
	FIELD(struct org_row, FIELD_TEXT, id),
	FIELD(struct org_row, FIELD_TEXT, name),
	FIELD(struct org_row, FIELD_TEXT, plan),
	FIELD(struct org_row, FIELD_TEXT, timezone),
	FIELD(struct org_row, FIELD_TEXT, default_from),
	FIELD(struct org_row, FIELD_TEXT, webhook_url),
	FIELD(struct org_row, FIELD_BYTES, webhook_secret),
	FIELD(struct org_row, FIELD_BYTES, previous_secret),
	FIELD(struct org_row, FIELD_INT64, previous_until_ms),
	{ "concurrency", FIELD_INT64,
	  offsetof(struct org_row, plan_limits.concurrency) },
	{ "max_minutes", FIELD_REAL,
	  offsetof(struct org_row, plan_limits.max_minutes) },
	{ "countries", FIELD_TEXT,
	  offsetof(struct org_row, plan_limits.countries) },
	{ "sip", FIELD_BOOL, offsetof(struct org_row, plan_limits.sip) },
	FIELD(struct org_row, FIELD_INT64, created_ms),
};
static const struct record org_record = RECORD(struct org_row, org_fields);

static const struct field key_fields[] = {
	FIELD(struct key_row, FIELD_TEXT, id),
	FIELD(struct key_row, FIELD_TEXT, org_id),
	FIELD(struct key_row, FIELD_TEXT, name),
	FIELD(struct key_row, FIELD_TEXT, hint),
	FIELD(struct key_row, FIELD_HASH, hash),
	FIELD(struct key_row, FIELD_INT64, created_ms),
	FIELD(struct key_row, FIELD_INT64, revoked_ms),
};
static const struct record key_record = RECORD(struct key_row, key_fields);

static int run_put_org(struct db *db, const void *data)
{
	struct query query = query_open(
		db, "INSERT INTO orgs VALUES(:id, :name, :plan, :timezone,"
		    " :default_from, :webhook_url, :webhook_secret,"
		    " :previous_secret, :previous_until_ms, :concurrency,"
		    " :max_minutes, :countries, :sip, :created_ms)"
		    " ON CONFLICT(id) DO UPDATE SET name = :name, plan = :plan,"
		    " timezone = :timezone, default_from = :default_from,"
		    " webhook_url = :webhook_url,"
		    " webhook_secret = :webhook_secret,"
		    " previous_secret = :previous_secret,"
		    " previous_until_ms = :previous_until_ms,"
		    " concurrency = :concurrency, max_minutes = :max_minutes,"
		    " countries = :countries, sip = :sip,"
		    " created_ms = :created_ms");

	query_bind(&query, &org_record, data);
	return query_run(&query);
}

void orgs_put(struct store *store, const struct org_row *row,
	      struct store_reply reply)
{
	store_write_row(store, run_put_org, &org_record, row, reply);
}

int orgs_get(struct store *store, struct arena *arena, const char *id,
	     struct org_row *out)
{
	struct query query =
		query_open(store->reader, "SELECT * FROM orgs WHERE id = :id");

	query_bind_text(&query, ":id", id);
	return query_one(&query, &org_record, arena, out);
}

int orgs_list(struct store *store, struct arena *arena, struct org_row **rows,
	      size_t *n)
{
	struct query query = query_open(
		store->reader, "SELECT * FROM orgs ORDER BY created_ms, id");

	*rows = query_all(&query, &org_record, arena, n);
	return query.err;
}

static int run_put_key(struct db *db, const void *data)
{
	struct query query = query_open(
		db, "INSERT INTO keys VALUES(:id, :org_id, :name, :hint, :hash,"
		    " :created_ms, :revoked_ms)"
		    " ON CONFLICT(id) DO UPDATE SET org_id = :org_id,"
		    " name = :name, hint = :hint, hash = :hash,"
		    " created_ms = :created_ms, revoked_ms = :revoked_ms");

	query_bind(&query, &key_record, data);
	return query_run(&query);
}

void keys_put(struct store *store, const struct key_row *row,
	      struct store_reply reply)
{
	store_write_row(store, run_put_key, &key_record, row, reply);
}

int keys_find(struct store *store, struct arena *arena,
	      const uint8_t hash[SECRET_HASH_BYTES], struct key_row *out)
{
	struct query query = query_open(
		store->reader,
		"SELECT * FROM keys WHERE hash = :hash AND revoked_ms = 0");
	struct key_row key;

	memcpy(key.hash, hash, SECRET_HASH_BYTES);
	query_bind(&query, &key_record, &key);
	return query_one(&query, &key_record, arena, out);
}

int keys_list(struct store *store, struct arena *arena, const char *org_id,
	      struct key_row **rows, size_t *n)
{
	struct query query = query_open(
		store->reader, "SELECT * FROM keys WHERE org_id = :org_id"
			       " ORDER BY created_ms, id");

	query_bind_text(&query, ":org_id", org_id);
	*rows = query_all(&query, &key_record, arena, n);
	return query.err;
}

/* A second revocation keeps the time of the first. */
static int run_revoke_key(struct db *db, const void *data)
{
	struct query query =
		query_open(db, "UPDATE keys SET revoked_ms = CASE revoked_ms"
			       " WHEN 0 THEN :revoked_ms ELSE revoked_ms END"
			       " WHERE id = :id AND org_id = :org_id");

	query_bind(&query, &key_record, data);
	return query_change(&query);
}

void keys_revoke(struct store *store, const char *org_id, const char *id,
		 int64_t at_ms, struct store_reply reply)
{
	struct key_row key = { .id = id, .org_id = org_id };

	key.revoked_ms = at_ms;
	store_write_row(store, run_revoke_key, &key_record, &key, reply);
}
