/* SPDX-License-Identifier: MIT */
/* store/db.h - one SQLite connection with its prepared statements, and how a
 * row of C maps to columns: each record family has one table of fields from
 * which parameters are bound (":name"), columns are read and rows are copied.
 * A connection serves one thread at a time. */
#pragma once
#include <sqlite3.h>
#include "core/arena.h"
#include "core/buffer.h"

enum field_type {
	FIELD_TEXT, /* const char *, NULL is NULL */
	FIELD_INT64,
	FIELD_INT, /* int or enum */
	FIELD_PORT, /* uint16_t */
	FIELD_BOOL,
	FIELD_REAL,
	FIELD_BYTES, /* struct slice */
	FIELD_HASH, /* uint8_t[SECRET_HASH_BYTES] inside the struct */
};

struct field {
	const char *name; /* of column and parameter */
	enum field_type type;
	size_t offset;
};

struct record {
	const struct field *fields;
	size_t n;
	size_t size; /* of the struct */
};

/* Row and all it points to, in the arena. */
void *record_copy(const struct record *record, struct arena *arena,
		  const void *row);

enum db_mode { DB_WRITE, DB_READ, DB_COPY /* target of a backup */ };
enum { DB_BUSY_MS = 5000 }; /* waits for another process */

struct db;

/* file must exist already, or be ":memory:". why may be NULL. */
int db_open(struct db **out, const char *file, enum db_mode mode,
	    struct buffer *why);
void db_close(struct db **db);
struct sqlite3 *db_handle(const struct db *db);
/* Runs fixed statements. 0 or negative errno. */
int db_exec(struct db *db, const char *sql);
/* Negative errno of the connection's last failure: -ENOSPC, -EEXIST (a
 * uniqueness broken), -ENOENT (a row that must be there is not), -EIO. */
int db_error(const struct db *db);
