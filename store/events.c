/* SPDX-License-Identifier: MIT */
#include "store/events.h"
#include "store/store_priv.h"

static const struct field fields[] = {
	FIELD(struct event_row, FIELD_INT64, sequence),
	FIELD(struct event_row, FIELD_TEXT, type),
	FIELD(struct event_row, FIELD_TEXT, node_id),
	FIELD(struct event_row, FIELD_INT64, operation_id),
	FIELD(struct event_row, FIELD_TEXT, payload),
	FIELD(struct event_row, FIELD_INT64, created_ms),
};
static const struct record record = RECORD(struct event_row, fields);

struct append {
	const char *call_id;
	struct event_row *row;
};

int events_write(struct db *db, const char *call_id,
		 const struct event_row *row)
{
	struct query query = query_open(
		db, "INSERT INTO events VALUES(:call_id, :sequence, :type,"
		    " :node_id, :operation_id, :payload, :created_ms)");

	query_bind(&query, &record, row);
	query_bind_text(&query, ":call_id", call_id);
	return query_run(&query);
}

struct event_row *events_copy(struct arena *arena, const struct event_row *rows,
			      size_t n)
{
	struct event_row *copies = arena_new(arena, n * sizeof(*copies));
	const struct event_row *copy;
	size_t i;

	for (i = 0; i < n; i++) {
		copy = record_copy(&record, arena, &rows[i]);
		copies[i] = *copy;
	}
	return copies;
}

static int run_append(struct db *db, const void *data)
{
	const struct append *append = data;

	return events_write(db, append->call_id, append->row);
}

void events_append(struct store *store, const char *call_id,
		   const struct event_row *row, struct store_reply reply)
{
	struct op *op = op_open(run_append, reply);
	struct append *append = arena_new(op->arena, sizeof(*append));

	append->call_id = arena_dup_str(op->arena, call_id);
	append->row = events_copy(op->arena, row, 1);
	op->data = append;
	writer_add(store->writer, op);
}

int events_list(struct store *store, struct arena *arena, const char *call_id,
		int64_t after, struct event_list *out)
{
	struct query query = query_open(
		store->reader, "SELECT * FROM events WHERE call_id = :call_id"
			       " AND sequence > :after ORDER BY sequence");

	query_bind_text(&query, ":call_id", call_id);
	query_bind_int(&query, ":after", after);
	out->rows = query_all(&query, &record, arena, &out->n);
	return query.err;
}
