/* SPDX-License-Identifier: MIT */
/* Whom the servers' certificates are judged by: the system's store, and the
 * operator's own CA file in front of it. libcurl keeps a store in memory only
 * when it comes from one file by name, so two are joined in one that has no
 * place on disk. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "core/fetch_priv.h"
#include "core/mem.h"

static const char system_store[] = "/etc/ssl/certs/ca-certificates.crt";

enum { PATH_SIZE = 64 };

static int append_file(int to, const char *file)
{
	char bytes[16 * 1024];
	int err = 0, from = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (from < 0)
		return -errno;
	while (!err && (n = read(from, bytes, sizeof(bytes))) != 0)
		if (n < 0 || write(to, bytes, (size_t)n) != n)
			err = -EIO;
	if (!err && write(to, "\n", 1) != 1)
		err = -EIO;
	close(from);
	return err;
}

int fetch_ca_init(struct fetch_ca *ca, const char *ca_file)
{
	char path[PATH_SIZE];
	int err;

	ca->fd = -1;
	if (!ca_file) {
		ca->path = mem_dup_str(system_store);
		return 0;
	}
	ca->fd = memfd_create("parley-ca", MFD_CLOEXEC);
	if (ca->fd < 0)
		return -errno;
	err = append_file(ca->fd, ca_file);
	if (!err && access(system_store, R_OK) == 0)
		err = append_file(ca->fd, system_store);
	if (err) {
		close(ca->fd);
		return err;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ca->fd);
	ca->path = mem_dup_str(path);
	return 0;
}

void fetch_ca_reset(struct fetch_ca *ca)
{
	if (!ca->path)
		return; /* never set up */
	mem_free(ca->path);
	if (ca->fd >= 0)
		close(ca->fd);
}
