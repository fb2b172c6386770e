/* SPDX-License-Identifier: MIT */
#include "store/calls.h"
#include <errno.h>
#include "store/calls_priv.h"
#include "store/store_priv.h"

static const struct field fields[] = {
	FIELD(struct call_row, FIELD_INT64, number),
	FIELD(struct call_row, FIELD_TEXT, id),
	FIELD(struct call_row, FIELD_TEXT, org_id),
	FIELD(struct call_row, FIELD_TEXT, to),
	FIELD(struct call_row, FIELD_TEXT, from),
	FIELD(struct call_row, FIELD_BOOL, inbound),
	FIELD(struct call_row, FIELD_BOOL, completed),
	FIELD(struct call_row, FIELD_TEXT, queue_status),
	FIELD(struct call_row, FIELD_TEXT, status),
	FIELD(struct call_row, FIELD_TEXT, answered_by),
	{ "created_ms", FIELD_INT64,
	  offsetof(struct call_row, times.created_ms) },
	{ "start_at_ms", FIELD_INT64,
	  offsetof(struct call_row, times.start_at_ms) },
	{ "started_ms", FIELD_INT64,
	  offsetof(struct call_row, times.started_ms) },
	{ "end_ms", FIELD_INT64, offsetof(struct call_row, times.end_ms) },
	{ "answered_ms", FIELD_INT64,
	  offsetof(struct call_row, times.answered_ms) },
	FIELD(struct call_row, FIELD_TEXT, recording),
	FIELD(struct call_row, FIELD_TEXT, brief),
	FIELD(struct call_row, FIELD_TEXT, request),
	FIELD(struct call_row, FIELD_TEXT, body),
};
const struct record call_record = RECORD(struct call_row, fields);

static int run_sql(struct db *db, const char *literal,
		   const struct call_row *row)
{
	struct query query = query_open(db, literal);

	query_bind(&query, &call_record, row);
	return query_run(&query);
}

static int run_insert(struct db *db, const void *data)
{
	struct call_row row = *(const struct call_row *)data;
	int err = run_sql(db,
			  "INSERT INTO calls VALUES(NULL, :id, :org_id, :to,"
			  " :from, :inbound, :completed, :queue_status,"
			  " :status, :answered_by, :created_ms, :start_at_ms,"
			  " :started_ms, :end_ms, :answered_ms, :recording)",
			  &row);

	if (err)
		return err;
	row.number = sqlite3_last_insert_rowid(db_handle(db));
	err = run_sql(db,
		      "INSERT INTO call_texts"
		      " VALUES(:number, :brief, :request, :body)",
		      &row);
	return err ? err
		   : run_sql(db,
			     "INSERT INTO call_counts VALUES(:org_id, 1)"
			     " ON CONFLICT(org_id)"
			     " DO UPDATE SET calls = calls + 1",
			     &row);
}

void calls_insert(struct store *store, const struct call_row *row,
		  struct store_reply reply)
{
	store_write_row(store, run_insert, &call_record, row, reply);
}

static int run_update(struct db *db, const void *data)
{
	struct query query = query_open(
		db, "UPDATE calls SET \"to\" = :to, \"from\" = :from,"
		    " inbound = :inbound, completed = :completed,"
		    " queue_status = :queue_status, status = :status,"
		    " answered_by = :answered_by, start_at_ms = :start_at_ms,"
		    " started_ms = :started_ms, end_ms = :end_ms,"
		    " answered_ms = :answered_ms, recording = :recording"
		    " WHERE id = :id");
	int err;

	query_bind(&query, &call_record, data);
	err = query_change(&query);
	return err ? err
		   : run_sql(db,
			     "UPDATE call_texts SET brief = :brief,"
			     " body = :body WHERE number ="
			     " (SELECT number FROM calls WHERE id = :id)",
			     data);
}

void calls_update(struct store *store, const struct call_row *row,
		  struct store_reply reply)
{
	store_write_row(store, run_update, &call_record, row, reply);
}

struct completion {
	struct call_row *row;
	struct event_row *events;
	size_t n_events;
	struct outbox_row *webhook; /* NULL: none */
};

/* 0: there and not completed yet. */
static int check_open(struct db *db, const char *id)
{
	struct query query = query_open(
		db, "SELECT 1 + completed FROM calls WHERE id = :id");
	int64_t state;
	int err;

	query_bind_text(&query, ":id", id);
	err = query_int(&query, &state);
	if (err || state == 1)
		return err;
	return state ? -EALREADY : -ENOENT;
}

static int run_complete(struct db *db, const void *data)
{
	const struct completion *end = data;
	int err = check_open(db, end->row->id);
	size_t i;

	if (!err)
		err = run_update(db, end->row);
	for (i = 0; i < end->n_events && !err; i++)
		err = events_write(db, end->row->id, &end->events[i]);
	if (!err && end->webhook)
		err = outbox_write(db, end->webhook);
	return err;
}

void calls_complete(struct store *store, const struct call_end *end,
		    struct store_reply reply)
{
	struct op *op = op_open(run_complete, reply);
	struct completion *copy = arena_new(op->arena, sizeof(*copy));

	copy->row = record_copy(&call_record, op->arena, &end->row);
	copy->row->completed = true;
	copy->events = events_copy(op->arena, end->events, end->n_events);
	copy->n_events = end->n_events;
	if (end->webhook.url)
		copy->webhook = outbox_copy(op->arena, &end->webhook);
	op->data = copy;
	writer_add(store->writer, op);
}

int calls_get(struct store *store, struct arena *arena, const char *org_id,
	      const char *id, struct call_row *out)
{
	struct query query = query_open(
		store->reader,
		"SELECT " CALL_COLUMNS ", brief, request, body FROM calls c"
		" JOIN call_texts t ON t.number = c.number WHERE id = :id"
		" AND (:org_id IS NULL OR org_id = :org_id)");

	query_bind_text(&query, ":org_id", org_id);
	query_bind_text(&query, ":id", id);
	return query_one(&query, &call_record, arena, out);
}

int64_t calls_count(struct store *store, const char *org_id)
{
	struct query query = query_open(
		store->reader,
		"SELECT calls FROM call_counts WHERE org_id = :org_id");
	int64_t n;

	query_bind_text(&query, ":org_id", org_id);
	query_int(&query, &n);
	return n;
}
