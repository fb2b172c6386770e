/* SPDX-License-Identifier: MIT */
#include "store/query.h"
#include <errno.h>
#include <string.h>
#include "store/db_priv.h"

struct query query_open(struct db *db, const char *sql)
{
	struct query query = { .db = db, .stmt = db_statement(db, sql) };

	if (!query.stmt)
		query.err = db_error(db);
	return query;
}

struct query query_open_once(struct db *db, const char *sql)
{
	struct query query = { .db = db, .is_once = true };

	if (sqlite3_prepare_v2(db->handle, sql, -1, &query.stmt, NULL))
		query.err = db_error(db);
	return query;
}

void query_bind(struct query *query, const struct record *record,
		const void *row)
{
	const struct field *field;
	size_t hint = 0;
	int i, n;

	n = query->stmt ? sqlite3_bind_parameter_count(query->stmt) : 0;
	for (i = 1; i <= n; i++) {
		const char *name = sqlite3_bind_parameter_name(query->stmt, i);

		field = record_find(record, name + 1, &hint);
		if (field)
			record_bind(field, query->stmt, i, row);
	}
}

static int parameter(const struct query *query, const char *name)
{
	if (!query->stmt)
		return 0;
	return sqlite3_bind_parameter_index(query->stmt, name);
}

void query_bind_int(struct query *query, const char *name, int64_t value)
{
	int i = parameter(query, name);

	if (i)
		sqlite3_bind_int64(query->stmt, i, value);
}

void query_bind_text(struct query *query, const char *name, const char *text)
{
	int i = parameter(query, name);

	if (i)
		sqlite3_bind_text(query->stmt, i, text, -1, SQLITE_STATIC);
}

/* True: there is a row. */
static bool step(struct query *query)
{
	int code;

	if (query->err)
		return false;
	code = sqlite3_step(query->stmt);
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		query->err = db_error(query->db);
	return code == SQLITE_ROW;
}

/* A statement left open would freeze its view of the database. */
static int end(struct query *query)
{
	if (query->is_once) {
		sqlite3_finalize(query->stmt);
	} else if (query->stmt) {
		sqlite3_reset(query->stmt);
		sqlite3_clear_bindings(query->stmt);
	}
	query->stmt = NULL;
	return query->err;
}

int query_run(struct query *query)
{
	while (step(query))
		;
	return end(query);
}

int query_change(struct query *query)
{
	int err = query_run(query);

	if (!err && sqlite3_changes(query->db->handle) == 0)
		err = -ENOENT;
	return err;
}

int query_one(struct query *query, const struct record *record,
	      struct arena *arena, void *out)
{
	if (step(query))
		record_read(record, query->stmt, arena, out);
	else if (!query->err)
		query->err = -ENOENT;
	return end(query);
}

/* Room for one row more: doubles at 8, 16, 32 ... */
static char *grow(struct arena *arena, char *rows, size_t n, size_t size)
{
	char *larger;

	if (n && (n < 8 || (n & (n - 1))))
		return rows;
	larger = arena_new(arena, (n ? 2 * n : 8) * size);
	if (n)
		memcpy(larger, rows, n * size);
	return larger;
}

void *query_all(struct query *query, const struct record *record,
		struct arena *arena, size_t *n)
{
	char *at = NULL;

	*n = 0;
	while (step(query)) {
		at = grow(arena, at, *n, record->size);
		record_read(record, query->stmt, arena, at + *n * record->size);
		(*n)++;
	}
	end(query);
	return at;
}

int query_int(struct query *query, int64_t *out)
{
	*out = 0;
	if (step(query))
		*out = sqlite3_column_int64(query->stmt, 0);
	return end(query);
}

const char *query_text(struct query *query, struct arena *arena)
{
	const char *copy = NULL;

	if (step(query))
		copy = arena_dup_str(arena, (const char *)sqlite3_column_text(
						    query->stmt, 0));
	end(query);
	return copy;
}
