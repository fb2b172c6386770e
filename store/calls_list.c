/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include "store/calls_priv.h"
#include "store/store_priv.h"

static const struct field fields[] = {
	FIELD(struct calls_query, FIELD_TEXT, org_id),
	FIELD(struct calls_query, FIELD_TEXT, to),
	FIELD(struct calls_query, FIELD_TEXT, from),
	FIELD(struct calls_query, FIELD_TEXT, answered_by),
	FIELD(struct calls_query, FIELD_INT64, start_ms),
	FIELD(struct calls_query, FIELD_INT64, end_ms),
	FIELD(struct calls_query, FIELD_REAL, longer_s),
	FIELD(struct calls_query, FIELD_REAL, shorter_s),
};
static const struct record record = RECORD(struct calls_query, fields);

/* Seconds from the answer to the end; 0 for a call without either. */
#define DURATION                                                               \
	"CASE WHEN answered_ms > 0 AND end_ms > answered_ms"                   \
	" THEN (end_ms - answered_ms) / 1000.0 ELSE 0.0 END"

static void add_if(struct buffer *sql, bool is_wanted, const char *condition)
{
	if (is_wanted)
		buffer_add_str(sql, condition);
}

/* Values are bound; only which conditions there are is text. Open calls are
 * few: the planner, which cannot know that, is told their index. */
static void add_conditions(struct buffer *sql, const struct calls_query *query)
{
	buffer_add_str(sql, " FROM calls c");
	add_if(sql, query->completed == 0, " INDEXED BY calls_open");
	buffer_add_str(sql, " WHERE 1");
	add_if(sql, query->org_id, " AND org_id = :org_id");
	add_if(sql, query->to, " AND \"to\" = :to");
	add_if(sql, query->from, " AND \"from\" = :from");
	add_if(sql, query->completed == 0, " AND completed = 0");
	add_if(sql, query->completed > 0, " AND completed = 1");
	add_if(sql, query->inbound == 0, " AND inbound = 0");
	add_if(sql, query->inbound > 0, " AND inbound = 1");
	add_if(sql, query->answered_by, " AND answered_by = :answered_by");
	add_if(sql, query->start_ms, " AND created_ms >= :start_ms");
	add_if(sql, query->end_ms, " AND created_ms < :end_ms");
	add_if(sql, query->longer_s >= 0, " AND " DURATION " > :longer_s");
	add_if(sql, query->shorter_s >= 0, " AND " DURATION " < :shorter_s");
}

/* All calls of one organisation are counted as they are made, because counting
 * a million takes 50 ms; those that are over are all but the open ones. */
static bool is_plain(const struct calls_query *query)
{
	return query->org_id && !query->to && !query->from &&
	       query->completed != 0 && query->inbound < 0 &&
	       !query->answered_by && !query->start_ms && !query->end_ms &&
	       query->longer_s < 0 && query->shorter_s < 0;
}

static int count(struct db *db, const struct calls_query *query, int64_t *total)
{
	struct buffer sql;
	struct query use;
	int err;

	buffer_init(&sql, 4096);
	if (is_plain(query)) {
		buffer_add_str(&sql, "SELECT calls");
		add_if(&sql, query->completed > 0,
		       " - (SELECT count(*) FROM calls INDEXED BY calls_open"
		       " WHERE completed = 0 AND org_id = :org_id)");
		buffer_add_str(&sql,
			       " FROM call_counts WHERE org_id = :org_id");
	} else {
		buffer_add_str(&sql, "SELECT count(*)");
		add_conditions(&sql, query);
	}
	use = query_open_once(db, buffer_str(&sql));
	query_bind(&use, &record, query);
	err = query_int(&use, total);
	buffer_reset(&sql);
	return err;
}

static int read_rows(struct db *db, struct arena *arena,
		     const struct calls_query *query, struct call_list *out)
{
	struct buffer sql;
	struct query use;

	buffer_init(&sql, 4096);
	buffer_add_str(&sql, "SELECT " CALL_COLUMNS
			     ", (SELECT brief FROM call_texts t"
			     " WHERE t.number = c.number) AS brief");
	add_conditions(&sql, query);
	buffer_printf(&sql, " ORDER BY c.number%s LIMIT :limit OFFSET :offset",
		      query->descending ? " DESC" : "");
	use = query_open_once(db, buffer_str(&sql));
	query_bind(&use, &record, query);
	query_bind_int(&use, ":limit", (int64_t)query->limit);
	query_bind_int(&use, ":offset", (int64_t)query->offset);
	out->rows = query_all(&use, &call_record, arena, &out->n);
	buffer_reset(&sql);
	return use.err;
}

/* One transaction, so that total and rows are of the same moment. In memory
 * the writer's connection is used, between its batches. */
int calls_list(struct store *store, struct arena *arena,
	       const struct calls_query *query, struct call_list *out)
{
	int err;

	*out = (struct call_list){ 0 };
	pthread_mutex_lock(&store->list_mutex);
	err = db_exec(store->lister, "BEGIN");
	if (!err)
		err = count(store->lister, query, &out->total);
	if (!err && query->limit)
		err = read_rows(store->lister, arena, query, out);
	db_exec(store->lister, "COMMIT");
	pthread_mutex_unlock(&store->list_mutex);
	return err;
}
