/* SPDX-License-Identifier: MIT */
#include "store/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *remedy_of(int err)
{
	switch (-err) {
	case ENOSPC:
	case EDQUOT:
		return "free space on that disk";
	case EROFS:
		return "its file system is read-only; mount it writable or "
		       "set store.path to another folder";
	case ENOENT:
	case ENOTDIR:
		return "make the folder above it or set store.path to another";
	case EACCES:
	case EPERM:
		return "give it to the user that runs parleyd (chown) or set "
		       "store.path to another folder";
	default:
		return "set store.path to a folder on a local disk";
	}
}

static int fail(int err, const char *path, struct buffer *why)
{
	buffer_printf(why, "%s: %s: %s", path, strerror(-err), remedy_of(err));
	return err;
}

static int check_folder(const char *folder, struct buffer *why)
{
	struct stat st;

	if (mkdir(folder, 0700) && errno != EEXIST)
		return fail(-errno, folder, why);
	if (stat(folder, &st))
		return fail(-errno, folder, why);
	if (!S_ISDIR(st.st_mode))
		return fail(-ENOTDIR, folder, why);
	if (st.st_uid != geteuid()) {
		buffer_printf(why,
			      "%s belongs to user id %u: run as that user, or "
			      "give it to the user that runs parleyd (chown)",
			      folder, (unsigned)st.st_uid);
		return -EPERM;
	}
	if (st.st_mode & (S_IWGRP | S_IWOTH)) {
		buffer_printf(why, "%s can be written by others: chmod 700 %s",
			      folder, folder);
		return -EPERM;
	}
	if (access(folder, R_OK | W_OK | X_OK))
		return fail(-errno, folder, why);
	return 0;
}

int folder_prepare(const char *folder, const char *file, struct buffer *why)
{
	int err = check_folder(folder, why);
	int fd;

	if (err)
		return err;
	fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail(-errno, file, why);
	close(fd);
	return 0;
}

/* A lock of the open file description: it stays ours across threads, and goes
 * with the process however it ends. */
static int take(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_SETLK, &lock) ? -errno : 0;
}

static void read_holder(int fd, char *out, size_t size)
{
	ssize_t n = pread(fd, out, size - 1, 0);

	out[n > 0 ? n : 0] = '\0';
	out[strspn(out, "0123456789")] = '\0';
}

static int write_holder(int fd)
{
	char pid[16];
	int len = snprintf(pid, sizeof(pid), "%d\n", (int)getpid());

	if (ftruncate(fd, 0) || pwrite(fd, pid, (size_t)len, 0) != len)
		return errno ? -errno : -EIO;
	return 0;
}

int folder_lock(int *fd, const char *folder, struct buffer *why)
{
	char file[4096];
	char holder[16];
	int err;

	if ((size_t)snprintf(file, sizeof(file), "%s/lock", folder) >=
	    sizeof(file))
		return fail(-ENAMETOOLONG, folder, why);
	*fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (*fd < 0)
		return fail(-errno, file, why);
	err = take(*fd);
	if (err == -EAGAIN || err == -EACCES) {
		read_holder(*fd, holder, sizeof(holder));
		buffer_printf(why, "%s is in use by another parleyd (pid %s)",
			      folder, holder[0] ? holder : "unknown");
		err = -EBUSY;
	} else if (err || (err = write_holder(*fd))) {
		fail(err, file, why);
	}
	if (err) {
		close(*fd);
		*fd = -1;
	}
	return err;
}
