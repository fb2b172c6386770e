/* SPDX-License-Identifier: MIT */
/* store/db_priv.h - inside of a connection, for db, record and query. */
#pragma once
#include "store/db.h"

struct db_cached {
	const char *sql; /* borrowed literal, compared by address */
	sqlite3_stmt *stmt; /* owned */
};

struct db {
	sqlite3 *handle; /* owned */
	struct db_cached *cached; /* owned */
	size_t n;
};

/* Prepared once and kept; NULL on failure. */
sqlite3_stmt *db_statement(struct db *db, const char *sql);

/* Binds one field of row to parameter i. */
void record_bind(const struct field *field, sqlite3_stmt *stmt, int i,
		 const void *row);
/* Reads the current row; columns that no field names are passed over. */
void record_read(const struct record *record, sqlite3_stmt *stmt,
		 struct arena *arena, void *row);
/* Field of that name, searched from *hint on and around; NULL if none. Names
 * mostly come in the order of the table, so one comparison is enough. */
const struct field *record_find(const struct record *record, const char *name,
				size_t *hint);
