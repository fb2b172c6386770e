/* SPDX-License-Identifier: MIT */
#include "store/schema.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include "store/query.h"

/* "Parl": tells our file from another program's. */
enum { APPLICATION_ID = 1348563564 };

/* Rows of calls are kept short, their JSON lies in call_texts: lists filter
 * over many calls and read the texts of a few. The partial indexes hold open
 * calls and open webhooks alone, so that starting and dispatching cost the
 * same however many calls are stored. */
static const char *const migrations[] = {
	"CREATE TABLE orgs("
	" id TEXT NOT NULL PRIMARY KEY, name TEXT, plan TEXT, timezone TEXT,"
	" default_from TEXT, webhook_url TEXT, webhook_secret BLOB NOT NULL,"
	" previous_secret BLOB NOT NULL, previous_until_ms INTEGER NOT NULL,"
	" concurrency INTEGER NOT NULL, max_minutes REAL NOT NULL,"
	" countries TEXT, sip INTEGER NOT NULL, created_ms INTEGER NOT NULL"
	") STRICT, WITHOUT ROWID;"

	"CREATE TABLE keys("
	" id TEXT NOT NULL PRIMARY KEY,"
	" org_id TEXT NOT NULL REFERENCES orgs(id), name TEXT, hint TEXT,"
	" hash BLOB NOT NULL UNIQUE, created_ms INTEGER NOT NULL,"
	" revoked_ms INTEGER NOT NULL"
	") STRICT, WITHOUT ROWID;"
	"CREATE INDEX keys_org ON keys(org_id);"

	"CREATE TABLE trunks("
	" id TEXT NOT NULL, org_id TEXT NOT NULL, number TEXT NOT NULL,"
	" direction INTEGER NOT NULL, sip_endpoint TEXT, host TEXT,"
	" port INTEGER NOT NULL, username TEXT, password BLOB NOT NULL,"
	" headers TEXT, options TEXT, created_ms INTEGER NOT NULL,"
	" updated_ms INTEGER NOT NULL, inbound_id INTEGER NOT NULL,"
	" PRIMARY KEY(number, direction)"
	") STRICT, WITHOUT ROWID;"
	"CREATE INDEX trunks_org ON trunks(org_id, direction, created_ms);"

	"CREATE TABLE numbers("
	" org_id TEXT NOT NULL, number TEXT NOT NULL, settings TEXT,"
	" created_ms INTEGER NOT NULL, updated_ms INTEGER NOT NULL,"
	" PRIMARY KEY(org_id, number)"
	") STRICT, WITHOUT ROWID;"

	"CREATE TABLE pathways("
	" id TEXT NOT NULL PRIMARY KEY, org_id TEXT NOT NULL, name TEXT,"
	" description TEXT, created_ms INTEGER NOT NULL,"
	" updated_ms INTEGER NOT NULL, production INTEGER NOT NULL"
	") STRICT, WITHOUT ROWID;"
	"CREATE INDEX pathways_org ON pathways(org_id, created_ms);"
	"CREATE TABLE pathway_versions("
	" pathway_id TEXT NOT NULL REFERENCES pathways(id) ON DELETE CASCADE,"
	" version INTEGER NOT NULL, name TEXT, created_ms INTEGER NOT NULL,"
	" nodes TEXT, edges TEXT, UNIQUE(pathway_id, version)"
	") STRICT;"

	"CREATE TABLE calls("
	" number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
	" org_id TEXT NOT NULL, \"to\" TEXT, \"from\" TEXT,"
	" inbound INTEGER NOT NULL, completed INTEGER NOT NULL,"
	" queue_status TEXT NOT NULL, status TEXT, answered_by TEXT,"
	" created_ms INTEGER NOT NULL, start_at_ms INTEGER NOT NULL,"
	" started_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL,"
	" answered_ms INTEGER NOT NULL, recording TEXT"
	") STRICT;"
	"CREATE INDEX calls_org ON calls(org_id);"
	"CREATE INDEX calls_to ON calls(org_id, \"to\");"
	"CREATE INDEX calls_from ON calls(org_id, \"from\");"
	"CREATE INDEX calls_created ON calls(org_id, created_ms);"
	"CREATE INDEX calls_open"
	" ON calls(org_id, number, queue_status, start_at_ms)"
	" WHERE completed = 0;"
	"CREATE INDEX calls_due ON calls(start_at_ms)"
	" WHERE completed = 0 AND queue_status = 'queued';"
	"CREATE TABLE call_texts("
	" number INTEGER PRIMARY KEY, brief TEXT, request TEXT, body TEXT"
	") STRICT;"
	"CREATE TABLE call_counts("
	" org_id TEXT NOT NULL PRIMARY KEY, calls INTEGER NOT NULL"
	") STRICT, WITHOUT ROWID;"

	"CREATE TABLE events("
	" call_id TEXT NOT NULL, sequence INTEGER NOT NULL,"
	" type TEXT NOT NULL, node_id TEXT, operation_id INTEGER NOT NULL,"
	" payload TEXT, created_ms INTEGER NOT NULL,"
	" PRIMARY KEY(call_id, sequence)"
	") STRICT, WITHOUT ROWID;"

	/* state: open (may be tried), behind (an earlier one of the call is
	 * open), closed. */
	"CREATE TABLE outbox("
	" number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
	" org_id TEXT NOT NULL, call_id TEXT, url TEXT NOT NULL,"
	" send_type TEXT, state TEXT NOT NULL, attempts INTEGER NOT NULL,"
	" next_ms INTEGER NOT NULL, created_ms INTEGER NOT NULL, body TEXT"
	") STRICT;"
	"CREATE INDEX outbox_call ON outbox(call_id);"
	"CREATE INDEX outbox_due ON outbox(next_ms, number)"
	" WHERE state = 'open';"
	"CREATE INDEX outbox_org ON outbox(org_id, next_ms, number)"
	" WHERE state = 'open';"
	"CREATE TABLE outbox_attempts("
	" outbox INTEGER NOT NULL REFERENCES outbox(number) ON DELETE CASCADE,"
	" attempt INTEGER NOT NULL, sent_ms INTEGER NOT NULL,"
	" response_code INTEGER NOT NULL, duration_ms INTEGER NOT NULL,"
	" error TEXT, next_ms INTEGER NOT NULL, delivered INTEGER NOT NULL,"
	" PRIMARY KEY(outbox, attempt)"
	") STRICT, WITHOUT ROWID;"

	"CREATE TABLE recordings("
	" call_id TEXT NOT NULL PRIMARY KEY, org_id TEXT NOT NULL,"
	" file TEXT NOT NULL, bytes INTEGER NOT NULL,"
	" duration_ms INTEGER NOT NULL, complete INTEGER NOT NULL,"
	" created_ms INTEGER NOT NULL"
	") STRICT, WITHOUT ROWID;"

	"PRAGMA application_id = 1348563564",

	"CREATE INDEX trunks_target ON trunks(host, port);"
	"CREATE INDEX trunks_number ON trunks(org_id, number);",

	/* A row per call and second or so; lines as store/traces.c packs them. */
	"CREATE TABLE sip_traces("
	" number INTEGER PRIMARY KEY, call_id TEXT NOT NULL,"
	" written_ms INTEGER NOT NULL, messages INTEGER NOT NULL,"
	" dropped INTEGER NOT NULL, is_over INTEGER NOT NULL, lines TEXT"
	") STRICT;"
	"CREATE INDEX sip_traces_call ON sip_traces(call_id);",
};

enum { CURRENT = sizeof(migrations) / sizeof(migrations[0]) };

static int read_int(struct db *db, const char *sql, int64_t *out)
{
	struct query query = query_open_once(db, sql);

	return query_int(&query, out);
}

static int fail(struct db *db, const char *file, int err, struct buffer *why)
{
	buffer_printf(why, "%s: %s", file, sqlite3_errmsg(db_handle(db)));
	if (err == -ENOSPC)
		buffer_add_str(why, "; free space on that disk");
	return err;
}

int schema_check(struct db *db, const char *file, struct buffer *why)
{
	int64_t version, application, tables;
	int err = read_int(db, "PRAGMA user_version", &version);

	if (!err)
		err = read_int(db, "PRAGMA application_id", &application);
	if (!err)
		err = read_int(db, "SELECT count(*) FROM sqlite_schema",
			       &tables);
	if (err)
		return fail(db, file, err, why);
	if (tables > 0 && application != APPLICATION_ID) {
		buffer_printf(why,
			      "%s is another program's database: move it away "
			      "or set store.path to another folder",
			      file);
		return -EPROTO;
	}
	if (version <= CURRENT)
		return version < CURRENT;
	buffer_printf(why,
		      "%s has schema version %" PRId64
		      ", this parley knows versions up to %d: install the "
		      "newer parley that wrote it",
		      file, version, (int)CURRENT);
	return -EPROTO;
}

/* The version is read again inside the transaction: another process may have
 * been here first. */
static int migrate_one(struct db *db)
{
	char bump[48];
	int64_t version;
	int err = db_exec(db, "BEGIN IMMEDIATE");

	if (!err)
		err = read_int(db, "PRAGMA user_version", &version);
	if (!err && version < CURRENT) {
		snprintf(bump, sizeof(bump), "PRAGMA user_version = %d",
			 (int)version + 1);
		err = db_exec(db, migrations[version]);
		if (!err)
			err = db_exec(db, bump);
	}
	return err ? err : db_exec(db, "COMMIT");
}

int schema_migrate(struct db *db, const char *file, struct buffer *why)
{
	int err = 0;
	size_t i;

	for (i = 0; i < CURRENT && !err; i++)
		err = migrate_one(db);
	if (!err)
		return 0;
	fail(db, file, err, why);
	db_exec(db, "ROLLBACK");
	return err;
}
