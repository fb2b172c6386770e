/* SPDX-License-Identifier: MIT */
/* store/writer.h - group commit: operations queue up on the loop, one thread
 * takes all that wait, runs each in a savepoint of one transaction, commits,
 * and only then their replies run on the loop, in the order of queueing. An
 * operation that fails is undone alone; when the disk fails, everything of the
 * batch is, and the next batch is tried afresh. On a simulated loop there is
 * no thread: a batch of one runs inside writer_add(), its reply on the next
 * turn. */
#pragma once
#include "core/arena.h"
#include "store/db.h"
#include "store/store.h"

/* On the writer's thread, inside a transaction. 0 or negative errno; -ENOSPC
 * and -EIO are the disk's and end the batch. */
typedef int op_fn(struct db *db, const void *data);

struct op {
	struct op *next;
	struct arena *arena; /* owned; data lives here */
	op_fn *run;
	void *data;
	struct store_reply reply;
	int err;
};

struct op *op_open(op_fn *run, struct store_reply reply);

struct writer;

/* db is borrowed: the writer's alone until writer_close(), but on a simulated
 * loop. limit_wal: may truncate the log when idle. */
int writer_open(struct writer **out, struct loop *loop, struct db *db,
		bool limit_wal);
void writer_add(struct writer *writer, struct op *op); /* takes over op */
/* Commits what waits; no reply runs after. May be called inside a reply. */
void writer_close(struct writer **writer);
void writer_stats(struct writer *writer, struct store_stats *out);
