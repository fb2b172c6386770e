/* SPDX-License-Identifier: MIT */
/* store/query.h - one use of a statement, from its parameters to its reset.
 * The first failure is remembered: only the end of a query is checked. */
#pragma once
#include <stdbool.h>
#include "store/db.h"

struct query {
	struct db *db; /* borrowed */
	sqlite3_stmt *stmt; /* borrowed from db's cache; NULL on error */
	int err;
	bool is_once; /* stmt is owned, not the cache's */
};

/* sql is a literal: its address is the key of the cache. */
struct query query_open(struct db *db, const char *sql);
/* For a text that is put together: prepared for this use alone. */
struct query query_open_once(struct db *db, const char *sql);
/* Text and bytes that are bound must live until the query ends. Parameters
 * that the statement does not have are passed over. */
void query_bind(struct query *query, const struct record *record,
		const void *row);
void query_bind_int(struct query *query, const char *name, int64_t value);
void query_bind_text(struct query *query, const char *name, const char *text);

/* Ends of a query; each resets the statement. */

/* Runs a statement that gives no rows. 0 or negative errno. */
int query_run(struct query *query);
/* As query_run(), and -ENOENT when it changed nothing. */
int query_change(struct query *query);
/* First row into *out, a struct of record. 0, -ENOENT or another errno. */
int query_one(struct query *query, const struct record *record,
	      struct arena *arena, void *out);
/* All rows as an array in the arena, NULL when there are none; query->err says
 * whether it ended well. */
void *query_all(struct query *query, const struct record *record,
		struct arena *arena, size_t *n);
/* First column of the first row: a number (0 without a row or when NULL), or a
 * text (NULL likewise). */
int query_int(struct query *query, int64_t *out);
const char *query_text(struct query *query, struct arena *arena);
