/* SPDX-License-Identifier: MIT */
/* store/store_priv.h - inside of the store, for the record families. */
#pragma once
#include <pthread.h>
#include "store/events.h"
#include "store/outbox.h"
#include "store/query.h"
#include "store/store.h"
#include "store/writer.h"

struct store {
	struct loop *loop; /* borrowed: outlives us */
	char *folder; /* owned */
	char *file; /* owned; "FOLDER/parley.db" or ":memory:" */
	int lock_fd; /* -1: none */
	struct db *main; /* owned; the writer's */
	struct db *reader; /* owned; in memory it is main */
	struct db *lister; /* owned; likewise; under list_mutex */
	struct writer *writer; /* owned */
	pthread_mutex_t list_mutex; /* long lists may come from the pool */
};

#define FIELD(type, kind, member)                                              \
	{                                                                      \
#member, kind, offsetof(type, member)                          \
	}
#define RECORD(type, table)                                                    \
	{                                                                      \
		table, sizeof(table) / sizeof((table)[0]), sizeof(type)        \
	}

/* Queues a write of one row: run gets a copy of it. */
void store_write_row(struct store *store, op_fn *run,
		     const struct record *record, const void *row,
		     struct store_reply reply);

/* Inside a transaction of the caller. */
int events_write(struct db *db, const char *call_id,
		 const struct event_row *row);
int outbox_write(struct db *db, const struct outbox_row *row);
/* Copies of what a write needs, in its arena. */
struct event_row *events_copy(struct arena *arena, const struct event_row *rows,
			      size_t n);
struct outbox_row *outbox_copy(struct arena *arena,
			       const struct outbox_row *row);
