/* SPDX-License-Identifier: MIT */
#include "store/traces.h"
#include "store/store_priv.h"

static const struct field line_fields[] = {
	FIELD(struct trace_line, FIELD_INT64, number),
	FIELD(struct trace_line, FIELD_INT64, at_ms),
	FIELD(struct trace_line, FIELD_BOOL, is_out),
	FIELD(struct trace_line, FIELD_INT, leg),
	FIELD(struct trace_line, FIELD_TEXT, peer),
	FIELD(struct trace_line, FIELD_TEXT, text),
};
static const struct record line_record = RECORD(struct trace_line, line_fields);

static const struct field batch_fields[] = {
	FIELD(struct trace_batch, FIELD_TEXT, call_id),
	FIELD(struct trace_batch, FIELD_INT64, created_ms),
	FIELD(struct trace_batch, FIELD_INT64, messages),
	FIELD(struct trace_batch, FIELD_INT64, dropped),
	FIELD(struct trace_batch, FIELD_BOOL, is_over),
};
static const struct record batch_record =
	RECORD(struct trace_batch, batch_fields);

static int write_line(struct db *db, const char *call_id,
		      const struct trace_line *line)
{
	struct query query = query_open(
		db, "INSERT INTO sip_messages SELECT t.number, :number, :at_ms,"
		    " :is_out, :leg, :peer, :text FROM sip_traces t"
		    " WHERE t.call_id = :call_id");

	query_bind(&query, &line_record, line);
	query_bind_text(&query, ":call_id", call_id);
	return query_run(&query);
}

static int run_append(struct db *db, const void *data)
{
	const struct trace_batch *batch = data;
	struct query query = query_open(
		db, "INSERT INTO sip_traces VALUES(NULL, :call_id, :created_ms,"
		    " :messages, :dropped, :is_over)"
		    " ON CONFLICT(call_id) DO UPDATE SET messages = :messages,"
		    " dropped = :dropped, is_over = :is_over");
	int err;

	query_bind(&query, &batch_record, batch);
	err = query_run(&query);
	for (size_t i = 0; i < batch->n && !err; i++)
		err = write_line(db, batch->call_id, &batch->lines[i]);
	return err;
}

void traces_append(struct store *store, const struct trace_batch *batch,
		   struct store_reply reply)
{
	struct op *op = op_open(run_append, reply);
	struct trace_batch *copy = record_copy(&batch_record, op->arena, batch);
	struct trace_line *lines =
		arena_new(op->arena, (batch->n + 1) * sizeof(*lines));

	for (size_t i = 0; i < batch->n; i++) {
		const struct trace_line *line =
			record_copy(&line_record, op->arena, &batch->lines[i]);

		lines[i] = *line;
	}
	copy->lines = lines;
	op->data = copy;
	writer_add(store->writer, op);
}

int traces_get(struct store *store, struct arena *arena, const char *call_id,
	       struct trace *out)
{
	struct query query =
		query_open(store->reader,
			   "SELECT * FROM sip_traces WHERE call_id = :call_id");
	struct trace_batch head = { 0 };
	int err;

	*out = (struct trace){ 0 };
	query_bind_text(&query, ":call_id", call_id);
	err = query_one(&query, &batch_record, arena, &head);
	if (err)
		return err;
	query = query_open(store->reader,
			   "SELECT m.* FROM sip_traces t"
			   " JOIN sip_messages m ON m.trace = t.number"
			   " WHERE t.call_id = :call_id ORDER BY m.number");
	query_bind_text(&query, ":call_id", call_id);
	out->lines = query_all(&query, &line_record, arena, &out->n);
	out->dropped = head.dropped;
	out->is_complete = head.is_over && !head.dropped &&
			   (int64_t)out->n == head.messages;
	return query.err;
}

int64_t traces_oldest_ms(struct store *store)
{
	struct query query = query_open(
		store->reader, "SELECT min(created_ms) FROM sip_traces");
	int64_t oldest_ms;

	query_int(&query, &oldest_ms);
	return oldest_ms;
}

static int run_purge(struct db *db, const void *data)
{
	const int64_t *before_ms = data;
	struct query query =
		query_open(db, "DELETE FROM sip_traces WHERE number IN"
			       " (SELECT number FROM sip_traces"
			       "  WHERE created_ms < :before_ms"
			       "  ORDER BY created_ms LIMIT :max)");

	query_bind_int(&query, ":before_ms", *before_ms);
	query_bind_int(&query, ":max", TRACES_PURGE_MAX);
	return query_run(&query);
}

void traces_purge(struct store *store, int64_t before_ms,
		  struct store_reply reply)
{
	struct op *op = op_open(run_purge, reply);
	int64_t *data = arena_new(op->arena, sizeof(*data));

	*data = before_ms;
	op->data = data;
	writer_add(store->writer, op);
}
