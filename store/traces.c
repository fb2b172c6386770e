/* SPDX-License-Identifier: MIT */
/* The lines of a batch are one text: "TIME >|< LEG PEER\n", the message, and
 * the record separator, which no message has in it. */
#include "store/traces.h"
#include <errno.h>
#include "store/store_priv.h"

enum { SEPARATOR = 0x1e, LINES_MAX_BYTES = 64 * 1024 * 1024 };

struct row {
	const char *call_id;
	int64_t written_ms;
	int64_t messages;
	int64_t dropped;
	bool is_over;
	const char *lines;
};

static const struct field fields[] = {
	FIELD(struct row, FIELD_TEXT, call_id),
	FIELD(struct row, FIELD_INT64, written_ms),
	FIELD(struct row, FIELD_INT64, messages),
	FIELD(struct row, FIELD_INT64, dropped),
	FIELD(struct row, FIELD_BOOL, is_over),
	FIELD(struct row, FIELD_TEXT, lines),
};
static const struct record record = RECORD(struct row, fields);

/* ---- writing ---- */

static void pack(struct buffer *out, const struct trace_line *line)
{
	buffer_printf(out, "%lld %c %d %s\n", (long long)line->at_ms,
		      line->is_out ? '>' : '<', line->leg, line->peer);
	buffer_add_str(out, line->text);
	buffer_add_char(out, SEPARATOR);
}

static int run_append(struct db *db, const void *data)
{
	struct query query = query_open(
		db, "INSERT INTO sip_traces VALUES(NULL, :call_id, :written_ms,"
		    " :messages, :dropped, :is_over, :lines)");

	query_bind(&query, &record, data);
	return query_run(&query);
}

void traces_append(struct store *store, const struct trace_batch *batch,
		   struct store_reply reply)
{
	struct row row = { .call_id = batch->call_id,
			   .written_ms = batch->written_ms,
			   .messages = batch->messages,
			   .dropped = batch->dropped,
			   .is_over = batch->is_over };
	struct buffer lines;

	buffer_init(&lines, LINES_MAX_BYTES);
	for (size_t i = 0; i < batch->n; i++)
		pack(&lines, &batch->lines[i]);
	row.lines = buffer_error(&lines) ? "" : buffer_str(&lines);
	store_write_row(store, run_append, &record, &row, reply);
	buffer_reset(&lines);
}

/* ---- reading ---- */

/* One line; false: it is none of ours. */
static bool unpack(struct trace_line *out, struct arena *arena,
		   struct slice text)
{
	struct slice head = slice_cut(&text, '\n');
	struct slice at = slice_cut(&head, ' ');
	struct slice direction = slice_cut(&head, ' ');
	struct slice leg = slice_cut(&head, ' ');
	uint64_t at_ms, number;

	if (slice_to_u64(&at_ms, at, INT64_MAX) ||
	    slice_to_u64(&number, leg, INT32_MAX) || !text.ptr)
		return false;
	*out = (struct trace_line){ .at_ms = (int64_t)at_ms,
				    .is_out = slice_eq(direction, SLICE(">")),
				    .leg = (int)number,
				    .peer = arena_dup(arena, head),
				    .text = arena_dup(arena, text) };
	return true;
}

static size_t count(const struct row *row)
{
	size_t n = 0;

	for (const char *c = row->lines ? row->lines : ""; *c; c++)
		n += *c == SEPARATOR;
	return n;
}

static void unpack_all(struct trace *out, struct arena *arena,
		       const struct row *row)
{
	struct slice rest = slice_of(row->lines);

	while (rest.len)
		if (unpack(&out->lines[out->n], arena,
			   slice_cut(&rest, SEPARATOR)))
			out->n++;
}

int traces_get(struct store *store, struct arena *arena, const char *call_id,
	       struct trace *out)
{
	struct query query =
		query_open(store->reader,
			   "SELECT * FROM sip_traces WHERE call_id = :call_id"
			   " ORDER BY number");
	const struct row *rows, *last;
	size_t n, lines = 0;

	*out = (struct trace){ 0 };
	query_bind_text(&query, ":call_id", call_id);
	rows = query_all(&query, &record, arena, &n);
	if (query.err || !n)
		return query.err ? query.err : -ENOENT;
	for (size_t i = 0; i < n; i++)
		lines += count(&rows[i]);
	out->lines = arena_new(arena, (lines + 1) * sizeof(*out->lines));
	for (size_t i = 0; i < n; i++)
		unpack_all(out, arena, &rows[i]);
	last = &rows[n - 1];
	out->dropped = last->dropped;
	out->is_complete = last->is_over && !last->dropped &&
			   (int64_t)out->n == last->messages;
	return 0;
}

/* ---- age ---- */

int64_t traces_first_ms(struct store *store)
{
	struct query query =
		query_open(store->reader, "SELECT written_ms FROM sip_traces"
					  " ORDER BY number LIMIT 1");
	int64_t first_ms;

	query_int(&query, &first_ms);
	return first_ms;
}

struct purge {
	int64_t before_ms, after_ms;
};

static int run_purge(struct db *db, const void *data)
{
	const struct purge *purge = data;
	struct query query = query_open(
		db, "DELETE FROM sip_traces WHERE number IN"
		    " (SELECT number FROM sip_traces ORDER BY number"
		    "  LIMIT :max)"
		    " AND (written_ms < :before_ms OR written_ms > :after_ms)");

	query_bind_int(&query, ":max", TRACES_PURGE_MAX);
	query_bind_int(&query, ":before_ms", purge->before_ms);
	query_bind_int(&query, ":after_ms", purge->after_ms);
	return query_run(&query);
}

void traces_purge(struct store *store, int64_t before_ms, int64_t after_ms,
		  struct store_reply reply)
{
	struct op *op = op_open(run_purge, reply);
	struct purge *purge = arena_new(op->arena, sizeof(*purge));

	*purge = (struct purge){ before_ms, after_ms };
	op->data = purge;
	writer_add(store->writer, op);
}
