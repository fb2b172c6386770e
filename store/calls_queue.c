/* SPDX-License-Identifier: MIT */
/* What waits or was up: all of it over the partial indexes of open calls, so
 * the cost does not grow with the calls that are over. */
#include <errno.h>
#include "store/calls_priv.h"
#include "store/store_priv.h"

int calls_next_queued(struct store *store, struct arena *arena,
		      const struct call_row *key, int64_t now_ms,
		      struct call_row *out)
{
	struct query query = query_open(
		store->reader,
		"SELECT " CALL_COLUMNS ", brief, request, body"
		" FROM calls c INDEXED BY calls_open"
		" JOIN call_texts t ON t.number = c.number"
		" WHERE completed = 0 AND queue_status = 'queued'"
		" AND org_id = :org_id AND c.number > :number"
		" AND start_at_ms <= :now ORDER BY c.number LIMIT 1");

	query_bind(&query, &call_record, key);
	query_bind_int(&query, ":now", now_ms);
	return query_one(&query, &call_record, arena, out);
}

/* Walks from one organisation to the next, not over their calls. */
static const char queued_orgs[] =
	"WITH RECURSIVE o(id) AS ("
	" SELECT min(org_id) FROM calls WHERE completed = 0"
	" UNION ALL SELECT (SELECT min(org_id) FROM calls"
	"  WHERE completed = 0 AND org_id > o.id)"
	" FROM o WHERE o.id IS NOT NULL)"
	" SELECT id FROM o WHERE id IS NOT NULL AND EXISTS("
	"  SELECT 1 FROM calls INDEXED BY calls_open"
	"  WHERE completed = 0 AND queue_status = 'queued'"
	"  AND org_id = o.id AND start_at_ms <= :now)";

int calls_queued_orgs(struct store *store, struct arena *arena, int64_t now_ms,
		      const char ***org_ids, size_t *n)
{
	struct query query = query_open(store->reader, queued_orgs);
	struct call_row *rows;
	size_t i;

	query_bind_int(&query, ":now", now_ms);
	rows = query_all(&query, &call_record, arena, n);
	*org_ids = arena_new(arena, (*n + 1) * sizeof(**org_ids));
	for (i = 0; i < *n; i++)
		(*org_ids)[i] = rows[i].id;
	return query.err;
}

int64_t calls_next_due(struct store *store, int64_t now_ms)
{
	struct query query = query_open(
		store->reader, "SELECT min(start_at_ms) FROM calls"
			       " INDEXED BY calls_due WHERE completed = 0"
			       " AND queue_status = 'queued'"
			       " AND start_at_ms > :now");
	int64_t at_ms;

	query_bind_int(&query, ":now", now_ms);
	query_int(&query, &at_ms);
	return at_ms;
}

int calls_interrupted(struct store *store, struct arena *arena,
		      struct call_list *out)
{
	struct query query =
		query_open(store->reader,
			   "SELECT " CALL_COLUMNS ", brief, request, body"
			   " FROM calls c INDEXED BY calls_open"
			   " JOIN call_texts t ON t.number = c.number"
			   " WHERE completed = 0 AND queue_status <> 'queued'"
			   " ORDER BY c.number");

	out->rows = query_all(&query, &call_record, arena, &out->n);
	out->total = (int64_t)out->n;
	return query.err;
}
