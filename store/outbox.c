/* SPDX-License-Identifier: MIT */
/* A row is open (may be tried), behind (an earlier one of its call is open) or
 * closed. The state is kept at each write, so that finding what is due reads
 * the due rows alone. */
#include "store/outbox.h"
#include <errno.h>
#include "store/store_priv.h"

static const struct field row_fields[] = {
	FIELD(struct outbox_row, FIELD_INT64, number),
	FIELD(struct outbox_row, FIELD_TEXT, id),
	FIELD(struct outbox_row, FIELD_TEXT, org_id),
	FIELD(struct outbox_row, FIELD_TEXT, call_id),
	FIELD(struct outbox_row, FIELD_TEXT, url),
	FIELD(struct outbox_row, FIELD_TEXT, send_type),
	FIELD(struct outbox_row, FIELD_INT64, attempts),
	FIELD(struct outbox_row, FIELD_INT64, next_ms),
	FIELD(struct outbox_row, FIELD_INT64, created_ms),
	FIELD(struct outbox_row, FIELD_TEXT, body),
};
static const struct record row_record = RECORD(struct outbox_row, row_fields);

static const struct field attempt_fields[] = {
	FIELD(struct outbox_attempt, FIELD_TEXT, id),
	FIELD(struct outbox_attempt, FIELD_TEXT, send_type),
	FIELD(struct outbox_attempt, FIELD_INT64, sent_ms),
	FIELD(struct outbox_attempt, FIELD_INT, response_code),
	FIELD(struct outbox_attempt, FIELD_INT64, duration_ms),
	FIELD(struct outbox_attempt, FIELD_TEXT, error),
	FIELD(struct outbox_attempt, FIELD_INT64, next_ms),
	FIELD(struct outbox_attempt, FIELD_BOOL, delivered),
};
static const struct record attempt_record =
	RECORD(struct outbox_attempt, attempt_fields);

int outbox_write(struct db *db, const struct outbox_row *row)
{
	struct query query = query_open(
		db, "INSERT INTO outbox VALUES(NULL, :id, :org_id, :call_id,"
		    " :url, :send_type, CASE WHEN EXISTS(SELECT 1 FROM outbox"
		    "  WHERE call_id = :call_id AND state <> 'closed')"
		    " THEN 'behind' ELSE 'open' END,"
		    " :attempts, :next_ms, :created_ms, :body)");

	query_bind(&query, &row_record, row);
	return query_run(&query);
}

struct outbox_row *outbox_copy(struct arena *arena,
			       const struct outbox_row *row)
{
	return record_copy(&row_record, arena, row);
}

static int run_insert(struct db *db, const void *data)
{
	return outbox_write(db, data);
}

void outbox_insert(struct store *store, const struct outbox_row *row,
		   struct store_reply reply)
{
	store_write_row(store, run_insert, &row_record, row, reply);
}

static int change(struct db *db, const char *literal,
		  const struct outbox_attempt *what)
{
	struct query query = query_open(db, literal);

	query_bind(&query, &attempt_record, what);
	return query_change(&query);
}

/* The next row of the call, if there is one, may be tried now. */
static int open_next(struct db *db, const struct outbox_attempt *what)
{
	int err =
		change(db,
		       "UPDATE outbox SET state = 'open' WHERE number ="
		       " (SELECT min(number) FROM outbox WHERE state = 'behind'"
		       "  AND call_id ="
		       "  (SELECT call_id FROM outbox WHERE id = :id))",
		       what);

	return err == -ENOENT ? 0 : err;
}

static int run_attempted(struct db *db, const void *data)
{
	const struct outbox_attempt *what = data;
	bool is_over = what->delivered || !what->next_ms;
	int err = change(db,
			 "INSERT INTO outbox_attempts SELECT number,"
			 " attempts + 1, :sent_ms, :response_code,"
			 " :duration_ms, :error, :next_ms, :delivered"
			 " FROM outbox WHERE id = :id AND state <> 'closed'",
			 what);

	if (!err)
		err = change(db,
			     "UPDATE outbox SET attempts = attempts + 1,"
			     " next_ms = :next_ms,"
			     " state = CASE WHEN :delivered OR :next_ms = 0"
			     "  THEN 'closed' ELSE state END"
			     " WHERE id = :id",
			     what);
	return err || !is_over ? err : open_next(db, what);
}

void outbox_attempted(struct store *store, const struct outbox_attempt *what,
		      struct store_reply reply)
{
	store_write_row(store, run_attempted, &attempt_record, what, reply);
}

/* Walks from one organisation to the next and takes the first rows of each, so
 * that no one's backlog hides another's rows or has to be read. */
static const char due_rows[] =
	"WITH RECURSIVE o(id) AS ("
	" SELECT min(org_id) FROM outbox INDEXED BY outbox_org"
	" WHERE state = 'open'"
	" UNION ALL SELECT (SELECT min(org_id)"
	"  FROM outbox INDEXED BY outbox_org"
	"  WHERE state = 'open' AND org_id > o.id)"
	" FROM o WHERE o.id IS NOT NULL)"
	" SELECT * FROM outbox WHERE number IN ("
	"  SELECT r.number FROM o CROSS JOIN outbox r WHERE r.number IN ("
	"   SELECT number FROM outbox INDEXED BY outbox_org"
	"   WHERE state = 'open' AND org_id = o.id AND next_ms <= :now"
	"   ORDER BY next_ms, number LIMIT :org_max)"
	"  ORDER BY r.next_ms, r.number LIMIT :max)"
	" ORDER BY next_ms, number";

int outbox_due(struct store *store, struct arena *arena, int64_t now_ms,
	       size_t max, struct outbox_list *out)
{
	struct query query = query_open(store->reader, due_rows);

	query_bind_int(&query, ":now", now_ms);
	query_bind_int(&query, ":org_max", OUTBOX_ORG_MAX);
	query_bind_int(&query, ":max", (int64_t)max);
	out->rows = query_all(&query, &row_record, arena, &out->n);
	return query.err;
}

/* A row without a time of its own was due when it was made. */
int64_t outbox_next_due(struct store *store)
{
	struct query query =
		query_open(store->reader,
			   "SELECT CASE next_ms WHEN 0 THEN max(created_ms, 1)"
			   " ELSE next_ms END FROM outbox WHERE state = 'open'"
			   " ORDER BY next_ms, number LIMIT 1");
	int64_t at_ms;

	query_int(&query, &at_ms);
	return at_ms;
}

/* Events during the call are rows too; they have other send types. */
int outbox_history(struct store *store, struct arena *arena,
		   const char *call_id, struct outbox_history *out)
{
	struct query query = query_open(
		store->reader, "SELECT * FROM outbox WHERE call_id = :call_id"
			       " AND send_type IN ('spawn', 'create', 'resend')"
			       " ORDER BY number DESC LIMIT 1");
	int err;

	query_bind_text(&query, ":call_id", call_id);
	err = query_one(&query, &row_record, arena, &out->row);
	if (err)
		return err;
	query = query_open(
		store->reader,
		"SELECT o.id AS id, o.send_type AS send_type, sent_ms,"
		" response_code, duration_ms, error, a.next_ms AS next_ms,"
		" delivered FROM outbox o"
		" JOIN outbox_attempts a ON a.outbox = o.number"
		" WHERE o.call_id = :call_id"
		" AND send_type IN ('spawn', 'create', 'resend')"
		" ORDER BY a.outbox, a.attempt");
	query_bind_text(&query, ":call_id", call_id);
	out->attempts = query_all(&query, &attempt_record, arena, &out->n);
	return query.err;
}
