/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "core/mem.h"
#include "store/store_priv.h"

static int fail(int err, const char *file, const char *what, struct buffer *why)
{
	buffer_printf(why, "%s: %s", file, what);
	return err;
}

/* In one step: stepping beside a writer starts over with each commit. */
static int copy_all(struct db *to, struct db *from)
{
	sqlite3_backup *backup = sqlite3_backup_init(db_handle(to), "main",
						     db_handle(from), "main");

	if (!backup)
		return db_error(to);
	sqlite3_backup_step(backup, -1);
	if (sqlite3_backup_finish(backup) == SQLITE_OK)
		return 0;
	return db_error(to);
}

/* The copy is one file without a log beside it. Nothing of it counts before
 * it is whole and on the disk, so it needs no journal. */
static int fill(const char *file, struct db *from, struct buffer *why)
{
	struct db *to = NULL;
	int err = db_open(&to, file, DB_COPY, why);

	if (err)
		return err;
	err = copy_all(to, from);
	if (!err)
		err = db_exec(to, "PRAGMA journal_mode=DELETE");
	if (err)
		fail(err, file, sqlite3_errmsg(db_handle(to)), why);
	db_close(&to);
	return err;
}

static int sync_folder_of(const char *file)
{
	const char *slash = strrchr(file, '/');
	char *folder = slash ? mem_dup_bytes(file, (size_t)(slash - file) + 1)
			     : mem_dup_str(".");
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = 0;

	mem_free(folder);
	if (fd < 0)
		return -errno;
	if (fsync(fd))
		err = -errno;
	close(fd);
	return err;
}

static int write_copy(int fd, const char *file, struct db *from,
		      struct buffer *why)
{
	int err = fill(file, from, why);

	if (err)
		return err;
	if (fsync(fd))
		err = -errno;
	if (!err)
		err = sync_folder_of(file);
	return err ? fail(err, file, strerror(-err), why) : 0;
}

/* Touches nothing of the store but its file name, unless it is in memory: so
 * it may run on another thread. */
int store_backup(struct store *store, const char *file, struct buffer *why)
{
	bool is_shared = store->reader == store->main;
	struct db *from = is_shared ? store->main : NULL;
	int fd, err = 0;

	fd = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		err = -errno;
		return fail(err, file,
			    err == -EEXIST ? "exists already; a backup goes "
					     "into a new file"
					   : strerror(-err),
			    why);
	}
	if (!is_shared)
		err = db_open(&from, store->file, DB_READ, why);
	if (!err)
		err = write_copy(fd, file, from, why);
	if (!is_shared)
		db_close(&from);
	close(fd);
	if (err)
		unlink(file);
	return err;
}
