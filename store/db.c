/* SPDX-License-Identifier: MIT */
#include "store/db.h"
#include <errno.h>
#include <string.h>
#include "core/mem.h"
#include "core/secret.h"
#include "store/db_priv.h"

/* WAL with FULL: a commit is on the disk before it is answered. */
#define WRITE_SETUP                                                            \
	"PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"                    \
	"PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY;"                    \
	"PRAGMA wal_autocheckpoint=4000; PRAGMA cache_size=-16384"
/* Readers keep a larger cache: they walk the whole database. */
#define READ_SETUP                                                             \
	"PRAGMA query_only=ON; PRAGMA temp_store=MEMORY;"                      \
	"PRAGMA cache_size=-32768"

static const char *const setup[] = {
	[DB_WRITE] = WRITE_SETUP,
	[DB_READ] = READ_SETUP,
	[DB_COPY] = "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF",
};

static int error_of(int code)
{
	switch (code & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_TOOBIG:
		return -EMSGSIZE;
	case SQLITE_CONSTRAINT:
		break;
	default:
		return -EIO;
	}
	switch (code) {
	case SQLITE_CONSTRAINT_PRIMARYKEY:
	case SQLITE_CONSTRAINT_UNIQUE:
	case SQLITE_CONSTRAINT_ROWID:
		return -EEXIST;
	case SQLITE_CONSTRAINT_FOREIGNKEY:
		return -ENOENT;
	default:
		return -EINVAL;
	}
}

int db_error(const struct db *db)
{
	int err = error_of(sqlite3_extended_errcode(db->handle));

	/* SQLite knows ENOSPC as FULL, but not a quota. */
	if (err == -EIO && sqlite3_system_errno(db->handle) == EDQUOT)
		return -ENOSPC;
	return err;
}

int db_exec(struct db *db, const char *sql)
{
	int code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);

	return code == SQLITE_OK ? 0 : db_error(db);
}

int db_open(struct db **out, const char *file, enum db_mode mode,
	    struct buffer *why)
{
	struct db *db = mem_new(sizeof(*db));
	int flags = SQLITE_OPEN_NOMUTEX;
	int err = -EIO;

	flags |= mode == DB_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	if (sqlite3_open_v2(file, &db->handle, flags, NULL) == SQLITE_OK) {
		sqlite3_extended_result_codes(db->handle, 1);
		sqlite3_busy_timeout(db->handle, DB_BUSY_MS);
		err = db_exec(db, setup[mode]);
	}
	if (err) {
		buffer_printf(why, "%s: %s", file, sqlite3_errmsg(db->handle));
		db_close(&db);
		return err;
	}
	*out = db;
	return 0;
}

void db_close(struct db **db)
{
	size_t i;

	if (!*db)
		return;
	for (i = 0; i < (*db)->n; i++)
		sqlite3_finalize((*db)->cached[i].stmt);
	sqlite3_close((*db)->handle);
	mem_free((*db)->cached);
	mem_free(*db);
	*db = NULL;
}

struct sqlite3 *db_handle(const struct db *db)
{
	return db->handle;
}

sqlite3_stmt *db_statement(struct db *db, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	size_t i;

	for (i = 0; i < db->n; i++)
		if (db->cached[i].sql == sql)
			return db->cached[i].stmt;
	sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT,
			   &stmt, NULL);
	if (!stmt)
		return NULL;
	db->cached =
		mem_resize(db->cached, (db->n + 1) * sizeof(db->cached[0]));
	db->cached[db->n++] = (struct db_cached){ sql, stmt };
	return stmt;
}
