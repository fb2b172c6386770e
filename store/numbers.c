/* SPDX-License-Identifier: MIT */
#include "store/numbers.h"
#include "store/store_priv.h"

static const struct field fields[] = {
	FIELD(struct number_row, FIELD_TEXT, org_id),
	FIELD(struct number_row, FIELD_TEXT, number),
	FIELD(struct number_row, FIELD_TEXT, settings),
	FIELD(struct number_row, FIELD_INT64, created_ms),
	FIELD(struct number_row, FIELD_INT64, updated_ms),
};
static const struct record record = RECORD(struct number_row, fields);

static int run_put(struct db *db, const void *data)
{
	struct query query = query_open(
		db, "INSERT INTO numbers VALUES(:org_id, :number, :settings,"
		    " :created_ms, :updated_ms)"
		    " ON CONFLICT(org_id, number) DO UPDATE SET"
		    " settings = :settings, updated_ms = :updated_ms");

	query_bind(&query, &record, data);
	return query_run(&query);
}

void numbers_put(struct store *store, const struct number_row *row,
		 struct store_reply reply)
{
	store_write_row(store, run_put, &record, row, reply);
}

static int run_delete(struct db *db, const void *data)
{
	struct query query =
		query_open(db, "DELETE FROM numbers"
			       " WHERE org_id = :org_id AND number = :number");

	query_bind(&query, &record, data);
	return query_change(&query);
}

void numbers_delete(struct store *store, const char *org_id, const char *number,
		    struct store_reply reply)
{
	struct number_row key = { .org_id = org_id, .number = number };

	store_write_row(store, run_delete, &record, &key, reply);
}

int numbers_get(struct store *store, struct arena *arena, const char *org_id,
		const char *number, struct number_row *out)
{
	struct query query = query_open(
		store->reader, "SELECT * FROM numbers"
			       " WHERE org_id = :org_id AND number = :number");

	query_bind_text(&query, ":org_id", org_id);
	query_bind_text(&query, ":number", number);
	return query_one(&query, &record, arena, out);
}
