/* SPDX-License-Identifier: MIT */
#include "store/recordings.h"
#include "store/store_priv.h"

static const struct field fields[] = {
	FIELD(struct recording_row, FIELD_TEXT, call_id),
	FIELD(struct recording_row, FIELD_TEXT, org_id),
	FIELD(struct recording_row, FIELD_TEXT, file),
	FIELD(struct recording_row, FIELD_INT64, bytes),
	FIELD(struct recording_row, FIELD_INT64, duration_ms),
	FIELD(struct recording_row, FIELD_BOOL, complete),
	FIELD(struct recording_row, FIELD_INT64, created_ms),
};
static const struct record record = RECORD(struct recording_row, fields);

static int run_put(struct db *db, const void *data)
{
	struct query query = query_open(
		db, "INSERT INTO recordings VALUES(:call_id, :org_id, :file,"
		    " :bytes, :duration_ms, :complete, :created_ms)"
		    " ON CONFLICT(call_id) DO UPDATE SET file = :file,"
		    " bytes = :bytes, duration_ms = :duration_ms,"
		    " complete = :complete WHERE org_id = :org_id");

	query_bind(&query, &record, data);
	return query_run(&query);
}

void recordings_put(struct store *store, const struct recording_row *row,
		    struct store_reply reply)
{
	store_write_row(store, run_put, &record, row, reply);
}

int recordings_get(struct store *store, struct arena *arena, const char *org_id,
		   const char *call_id, struct recording_row *out)
{
	struct query query =
		query_open(store->reader,
			   "SELECT * FROM recordings WHERE call_id = :call_id"
			   " AND (:org_id IS NULL OR org_id = :org_id)");

	query_bind_text(&query, ":call_id", call_id);
	query_bind_text(&query, ":org_id", org_id);
	return query_one(&query, &record, arena, out);
}
