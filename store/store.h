/* SPDX-License-Identifier: MIT */
/* store/store.h - everything that outlives the process: one SQLite file in WAL
 * mode with synchronous=FULL. Writes are queued to one writer thread that
 * commits all that wait in one transaction, each in a savepoint of its own; a
 * reply comes back on the loop after the commit. Reads run on the loop over a
 * read-only connection and see committed rows alone. Rows are read into the
 * caller's arena; texts of a row that is written are copied before the call
 * returns. On a simulated loop writes run inline and reply on the next turn. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/arena.h"
#include "core/buffer.h"

struct loop;
struct store;

struct store_options {
	struct loop *loop; /* borrowed: outlives us */
	const char *folder; /* made when missing, mode 0700 */
	bool is_tool; /* admin command: takes no lock, may write
				 * beside a running service */
};

/* Result of a write: 0 after the commit; -EEXIST, -ENOENT as the function
 * says; -EIO, -ENOSPC when nothing of it was kept. */
typedef void store_done_fn(void *owner, int err);
struct store_reply {
	store_done_fn *done; /* NULL: nobody waits */
	void *owner;
};

/* Migrates by user_version. -EBUSY: another service holds the folder; -EPROTO:
 * a newer schema. why is for people and says the remedy. */
int store_open(struct store **out, const struct store_options *options,
	       struct buffer *why);
/* Commits what is queued first; replies still pending are dropped. */
void store_close(struct store **store);
/* Online copy of the database into a new file, on the pool's disk thread of
 * the caller or, in a tool, at once. 0 or negative errno with why. */
int store_backup(struct store *store, const char *file, struct buffer *why);

struct store_stats {
	uint64_t writes, commits, failures;
	size_t queued;
	uint64_t commit_us_total; /* time in COMMIT */
	uint64_t wal_bytes;
};
void store_stats(const struct store *store, struct store_stats *out);
