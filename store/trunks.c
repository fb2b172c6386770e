/* SPDX-License-Identifier: MIT */
#include "store/trunks.h"
#include <errno.h>
#include "store/store_priv.h"

static const struct field fields[] = {
	FIELD(struct trunk_row, FIELD_TEXT, id),
	FIELD(struct trunk_row, FIELD_TEXT, org_id),
	FIELD(struct trunk_row, FIELD_TEXT, number),
	FIELD(struct trunk_row, FIELD_INT, direction),
	FIELD(struct trunk_row, FIELD_TEXT, sip_endpoint),
	FIELD(struct trunk_row, FIELD_TEXT, host),
	FIELD(struct trunk_row, FIELD_PORT, port),
	FIELD(struct trunk_row, FIELD_TEXT, username),
	FIELD(struct trunk_row, FIELD_BYTES, password),
	FIELD(struct trunk_row, FIELD_TEXT, headers),
	FIELD(struct trunk_row, FIELD_TEXT, options),
	FIELD(struct trunk_row, FIELD_INT64, created_ms),
	FIELD(struct trunk_row, FIELD_INT64, updated_ms),
	FIELD(struct trunk_row, FIELD_INT64, inbound_id),
};
static const struct record record = RECORD(struct trunk_row, fields);

/* Inside the transaction, so two organisations cannot both win a number. */
static int check_owner(struct db *db, const struct trunk_row *row)
{
	struct query query =
		query_open(db, "SELECT count(*) FROM trunks"
			       " WHERE number = :number AND org_id <> :org_id");
	int64_t n;
	int err;

	query_bind(&query, &record, row);
	err = query_int(&query, &n);
	if (err)
		return err;
	return n ? -EEXIST : 0;
}

static int run_put(struct db *db, const void *data)
{
	struct query query;
	int err = check_owner(db, data);

	if (err)
		return err;
	query = query_open(
		db,
		"INSERT INTO trunks VALUES(:id, :org_id, :number, :direction,"
		" :sip_endpoint, :host, :port, :username, :password, :headers,"
		" :options, :created_ms, :updated_ms, :inbound_id)"
		" ON CONFLICT(number, direction) DO UPDATE SET"
		" sip_endpoint = :sip_endpoint, host = :host, port = :port,"
		" username = :username, password = :password,"
		" headers = :headers, options = :options,"
		" updated_ms = :updated_ms, inbound_id = :inbound_id");
	query_bind(&query, &record, data);
	return query_run(&query);
}

void trunks_put(struct store *store, const struct trunk_row *row,
		struct store_reply reply)
{
	store_write_row(store, run_put, &record, row, reply);
}

static int run_delete(struct db *db, const void *data)
{
	struct query query = query_open(
		db, "DELETE FROM trunks WHERE number = :number"
		    " AND direction = :direction AND org_id = :org_id");

	query_bind(&query, &record, data);
	return query_change(&query);
}

void trunks_delete(struct store *store, const struct trunk_row *key,
		   struct store_reply reply)
{
	store_write_row(store, run_delete, &record, key, reply);
}

int trunks_get(struct store *store, struct arena *arena,
	       const struct trunk_row *key, struct trunk_row *out)
{
	struct query query = query_open(
		store->reader, "SELECT * FROM trunks WHERE number = :number"
			       " AND direction = :direction"
			       " AND (:org_id IS NULL OR org_id = :org_id)");

	query_bind(&query, &record, key);
	return query_one(&query, &record, arena, out);
}

int trunks_list(struct store *store, struct arena *arena, const char *org_id,
		struct trunk_row **rows, size_t *n)
{
	struct query query = query_open(
		store->reader, "SELECT * FROM trunks WHERE org_id = :org_id"
			       " ORDER BY number, direction");

	query_bind_text(&query, ":org_id", org_id);
	*rows = query_all(&query, &record, arena, n);
	return query.err;
}

const char *trunks_first_outbound(struct store *store, struct arena *arena,
				  const char *org_id)
{
	struct query query =
		query_open(store->reader,
			   "SELECT number FROM trunks WHERE org_id = :org_id"
			   " AND direction = :direction"
			   " ORDER BY created_ms, number LIMIT 1");

	query_bind_text(&query, ":org_id", org_id);
	query_bind_int(&query, ":direction", TRUNK_OUTBOUND);
	return query_text(&query, arena);
}

static const struct field target_fields[] = {
	FIELD(struct trunk_target, FIELD_TEXT, host),
	FIELD(struct trunk_target, FIELD_PORT, port),
};
static const struct record target_record =
	RECORD(struct trunk_target, target_fields);

/* One seek in the index for each, where DISTINCT would read them all. */
int trunks_targets(struct store *store, struct arena *arena,
		   const struct trunk_target *after, struct trunk_target *out,
		   size_t *n)
{
	size_t max = *n;

	for (*n = 0; *n < max; (*n)++) {
		struct query query = query_open(
			store->reader, "SELECT host, port FROM trunks"
				       " WHERE (host, port) > (:host, :port)"
				       " ORDER BY host, port LIMIT 1");
		int err;

		query_bind(&query, &target_record, *n ? &out[*n - 1] : after);
		err = query_one(&query, &target_record, arena, &out[*n]);
		if (err)
			return err == -ENOENT ? 0 : err;
	}
	return 0;
}

static const struct field number_fields[] = {
	FIELD(struct trunk_number, FIELD_TEXT, number),
	FIELD(struct trunk_number, FIELD_BOOL, is_inbound),
	FIELD(struct trunk_number, FIELD_BOOL, is_outbound),
	FIELD(struct trunk_number, FIELD_TEXT, sip_endpoint),
	FIELD(struct trunk_number, FIELD_TEXT, host),
	FIELD(struct trunk_number, FIELD_PORT, port),
};
static const struct record number_record =
	RECORD(struct trunk_number, number_fields);

/* Of a number's two rows only the outbound one has host and port. */
int trunks_numbers(struct store *store, struct arena *arena,
		   const struct trunk_page *page, struct trunk_number **rows,
		   size_t *n)
{
	struct query query = query_open(
		store->reader,
		"SELECT number, max(direction = 0) AS is_inbound,"
		" max(direction = 1) AS is_outbound,"
		" max(sip_endpoint) AS sip_endpoint, max(host) AS host,"
		" max(port) AS port FROM trunks"
		" WHERE org_id = :org_id AND number > :after"
		" GROUP BY number ORDER BY number LIMIT :max");

	query_bind_text(&query, ":org_id", page->org_id);
	query_bind_text(&query, ":after", page->after);
	query_bind_int(&query, ":max", page->max);
	*rows = query_all(&query, &number_record, arena, n);
	return query.err;
}
