/* SPDX-License-Identifier: MIT */
#include "store/store.h"
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/loop.h"
#include "core/mem.h"
#include "store/folder.h"
#include "store/schema.h"
#include "store/store_priv.h"

static bool is_memory(const struct store *store)
{
	return strcmp(store->file, ":memory:") == 0;
}

static char *file_of(const char *folder)
{
	struct buffer path;

	if (strcmp(folder, ":memory:") == 0)
		return mem_dup_str(folder);
	buffer_init(&path, SIZE_MAX / 2);
	buffer_printf(&path, "%s/parley.db", folder);
	return buffer_take(&path);
}

static bool is_new(const char *file)
{
	struct stat st;

	return stat(file, &st) || st.st_size == 0;
}

/* A service holds the lock for as long as it runs; a tool only while it makes
 * or changes the tables, which it must not do under a running service. */
static int lock_for_change(struct store *store, struct buffer *why)
{
	int err;

	if (store->lock_fd >= 0 || is_memory(store))
		return 0;
	err = folder_lock(&store->lock_fd, store->folder, why);
	if (err == -EBUSY)
		buffer_add_str(why, ", which is of an older version: restart "
				    "it with this version first");
	return err;
}

static void unlock(struct store *store)
{
	if (store->lock_fd >= 0)
		close(store->lock_fd);
	store->lock_fd = -1;
}

static int open_main(struct store *store, struct buffer *why)
{
	int state;
	int err = db_open(&store->main, store->file, DB_WRITE, why);

	if (err)
		return err;
	state = schema_check(store->main, store->file, why);
	if (state <= 0)
		return state;
	err = lock_for_change(store, why);
	return err ? err : schema_migrate(store->main, store->file, why);
}

static int open_readers(struct store *store, struct buffer *why)
{
	int err;

	if (is_memory(store)) {
		store->reader = store->main;
		store->lister = store->main;
		return 0;
	}
	err = db_open(&store->reader, store->file, DB_READ, why);
	return err ? err : db_open(&store->lister, store->file, DB_READ, why);
}

static int prepare(struct store *store, bool is_tool, struct buffer *why)
{
	bool needs_lock;
	int err;

	if (is_memory(store))
		return 0;
	needs_lock = !is_tool || is_new(store->file);
	err = folder_prepare(store->folder, store->file, why);
	if (err || !needs_lock)
		return err;
	return folder_lock(&store->lock_fd, store->folder, why);
}

/* Tests repeat a thousand times on a simulated loop: no waiting for disks. */
static int relax(struct store *store)
{
	if (!loop_is_sim(store->loop))
		return 0;
	return db_exec(store->main, "PRAGMA synchronous=OFF");
}

int store_open(struct store **out, const struct store_options *options,
	       struct buffer *why)
{
	struct store *store = mem_new(sizeof(*store));
	int err;

	store->loop = options->loop;
	store->folder = mem_dup_str(options->folder);
	store->file = file_of(options->folder);
	store->lock_fd = -1;
	pthread_mutex_init(&store->list_mutex, NULL);
	assert(!is_memory(store) || loop_is_sim(store->loop));
	err = prepare(store, options->is_tool, why);
	if (!err)
		err = open_main(store, why);
	if (!err)
		err = relax(store);
	if (!err)
		err = open_readers(store, why);
	if (!err)
		err = writer_open(&store->writer, store->loop, store->main,
				  !options->is_tool);
	if (options->is_tool)
		unlock(store);
	if (err)
		store_close(&store);
	*out = store;
	return err;
}

/* The writer's connection last: SQLite then empties and removes the log, as
 * long as no other process has it open. */
void store_close(struct store **out)
{
	struct store *store = *out;

	if (!store)
		return;
	*out = NULL;
	writer_close(&store->writer);
	if (store->reader != store->main)
		db_close(&store->reader);
	if (store->lister != store->main)
		db_close(&store->lister);
	db_close(&store->main);
	unlock(store);
	pthread_mutex_destroy(&store->list_mutex);
	mem_free(store->file);
	mem_free(store->folder);
	mem_free(store);
}

void store_stats(const struct store *store, struct store_stats *out)
{
	struct buffer path;
	struct stat st;

	writer_stats(store->writer, out);
	buffer_init(&path, SIZE_MAX / 2);
	buffer_printf(&path, "%s-wal", store->file);
	if (stat(buffer_str(&path), &st) == 0)
		out->wal_bytes = (uint64_t)st.st_size;
	buffer_reset(&path);
}

void store_write_row(struct store *store, op_fn *run,
		     const struct record *record, const void *row,
		     struct store_reply reply)
{
	struct op *op = op_open(run, reply);

	op->data = record_copy(record, op->arena, row);
	writer_add(store->writer, op);
}
