/* SPDX-License-Identifier: MIT */
#include "store/pathways.h"
#include <errno.h>
#include "core/loop.h"
#include "store/store_priv.h"

static const struct field fields[] = {
	FIELD(struct pathway_row, FIELD_TEXT, id),
	FIELD(struct pathway_row, FIELD_TEXT, org_id),
	FIELD(struct pathway_row, FIELD_TEXT, name),
	FIELD(struct pathway_row, FIELD_TEXT, description),
	FIELD(struct pathway_row, FIELD_INT64, version),
	FIELD(struct pathway_row, FIELD_TEXT, nodes),
	FIELD(struct pathway_row, FIELD_TEXT, edges),
	FIELD(struct pathway_row, FIELD_INT64, created_ms),
	FIELD(struct pathway_row, FIELD_INT64, updated_ms),
	FIELD(struct pathway_row, FIELD_INT64, production),
};
static const struct record record = RECORD(struct pathway_row, fields);

static int run_sql(struct db *db, const char *literal, const void *row)
{
	struct query query = query_open(db, literal);

	query_bind(&query, &record, row);
	return query_run(&query);
}

static int change(struct db *db, const char *literal, const void *row)
{
	struct query query = query_open(db, literal);

	query_bind(&query, &record, row);
	return query_change(&query);
}

static int run_insert(struct db *db, const void *data)
{
	int err = run_sql(db,
			  "INSERT INTO pathways VALUES(:id, :org_id, :name,"
			  " :description, :created_ms, :updated_ms, 0)",
			  data);

	return err ? err
		   : run_sql(db,
			     "INSERT INTO pathway_versions VALUES(:id, 0,"
			     " :name, :created_ms, :nodes, :edges)",
			     data);
}

void pathways_insert(struct store *store, const struct pathway_row *row,
		     struct store_reply reply)
{
	store_write_row(store, run_insert, &record, row, reply);
}

static int run_update(struct db *db, const void *data)
{
	int err = change(db,
			 "UPDATE pathways SET name = :name,"
			 " description = :description,"
			 " updated_ms = :updated_ms"
			 " WHERE id = :id AND org_id = :org_id",
			 data);

	return err ? err
		   : change(db,
			    "UPDATE pathway_versions SET name = :name,"
			    " nodes = :nodes, edges = :edges"
			    " WHERE pathway_id = :id AND version = 0",
			    data);
}

void pathways_update(struct store *store, const struct pathway_row *row,
		     struct store_reply reply)
{
	store_write_row(store, run_update, &record, row, reply);
}

static int run_delete(struct db *db, const void *data)
{
	return change(db,
		      "DELETE FROM pathways"
		      " WHERE id = :id AND org_id = :org_id",
		      data);
}

void pathways_delete(struct store *store, const char *org_id, const char *id,
		     struct store_reply reply)
{
	struct pathway_row key = { .id = id, .org_id = org_id };

	store_write_row(store, run_delete, &record, &key, reply);
}

int pathways_get(struct store *store, struct arena *arena,
		 const struct pathway_row *key, struct pathway_row *out)
{
	struct query query = query_open(
		store->reader,
		"SELECT p.id AS id, org_id, p.name AS name, description,"
		" version, nodes, edges, p.created_ms AS created_ms,"
		" updated_ms, production FROM pathways p"
		" JOIN pathway_versions v ON v.pathway_id = p.id"
		" AND v.version = CASE :version"
		" WHEN -1 THEN p.production ELSE :version END"
		" WHERE p.id = :id"
		" AND (:org_id IS NULL OR p.org_id = :org_id)");

	query_bind(&query, &record, key);
	return query_one(&query, &record, arena, out);
}

int pathways_list(struct store *store, struct arena *arena, const char *org_id,
		  struct pathway_row **rows, size_t *n)
{
	struct query query = query_open(
		store->reader,
		"SELECT p.id AS id, org_id, p.name AS name, description,"
		" version, nodes, edges, p.created_ms AS created_ms,"
		" updated_ms, production FROM pathways p"
		" JOIN pathway_versions v"
		" ON v.pathway_id = p.id AND v.version = 0"
		" WHERE p.org_id = :org_id ORDER BY p.created_ms, p.id");

	query_bind_text(&query, ":org_id", org_id);
	*rows = query_all(&query, &record, arena, n);
	return query.err;
}

/* name is that of the version, updated_ms the time of freezing. */
static int run_freeze(struct db *db, const void *data)
{
	return change(db,
		      "INSERT INTO pathway_versions SELECT :id,"
		      " (SELECT max(version) + 1 FROM pathway_versions"
		      "  WHERE pathway_id = :id),"
		      " :name, :updated_ms, nodes, edges FROM pathway_versions"
		      " WHERE pathway_id = :id AND version = 0"
		      " AND EXISTS(SELECT 1 FROM pathways"
		      "  WHERE id = :id AND org_id = :org_id)",
		      data);
}

void pathways_freeze(struct store *store, const struct pathway_row *key,
		     const char *name, struct store_reply reply)
{
	struct pathway_row row = { .id = key->id, .org_id = key->org_id };

	row.name = name;
	row.updated_ms = loop_wall_ms(store->loop);
	store_write_row(store, run_freeze, &record, &row, reply);
}

static int run_publish(struct db *db, const void *data)
{
	return change(db,
		      "UPDATE pathways SET production = :version"
		      " WHERE id = :id AND org_id = :org_id AND :version > 0"
		      " AND EXISTS(SELECT 1 FROM pathway_versions"
		      "  WHERE pathway_id = :id AND version = :version)",
		      data);
}

void pathways_publish(struct store *store, const struct pathway_row *key,
		      struct store_reply reply)
{
	store_write_row(store, run_publish, &record, key, reply);
}

int pathways_versions(struct store *store, struct arena *arena,
		      const struct pathway_row *key, struct pathway_row **rows,
		      size_t *n)
{
	struct query query =
		query_open(store->reader,
			   "SELECT p.id AS id, org_id, v.name AS name, version,"
			   " v.created_ms AS created_ms, production"
			   " FROM pathways p JOIN pathway_versions v"
			   " ON v.pathway_id = p.id"
			   " WHERE p.id = :id AND p.org_id = :org_id"
			   " ORDER BY version DESC");

	query_bind(&query, &record, key);
	*rows = query_all(&query, &record, arena, n);
	return query.err;
}
