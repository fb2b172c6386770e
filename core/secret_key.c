/* SPDX-License-Identifier: MIT */
#include "core/secret_priv.h"
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/id.h"
#include "core/mem.h"
#include "core/secret.h"

enum { TEXT_BYTES = 2 * SECRET_KEY_BYTES + 1, SUFFIX = 12 };

static int explain(struct buffer *why, int err, const char *file,
		   const char *what)
{
	buffer_printf(why, "%s: %s", file, what);
	return err;
}

static int explain_errno(struct buffer *why, const char *file)
{
	int err = -errno;

	return explain(why, err, file, strerror(-err));
}

static int check_mode(int fd, const char *file, struct buffer *why)
{
	struct stat info;

	if (fstat(fd, &info))
		return explain_errno(why, file);
	if (!S_ISREG(info.st_mode))
		return explain(why, -EINVAL, file, "not a regular file");
	if (info.st_mode & (S_IRWXG | S_IRWXO))
		return explain(why, -EACCES, file,
			       "others may read the node's key; "
			       "chmod 600 it");
	return 0;
}

static int read_key(uint8_t *key, int fd, const char *file, struct buffer *why)
{
	char text[TEXT_BYTES + 1];
	ssize_t n = read(fd, text, sizeof(text));
	size_t len = 0, digits = 2 * SECRET_KEY_BYTES;
	int err = 0;

	if (n == TEXT_BYTES && text[TEXT_BYTES - 1] == '\n')
		n--;
	if (n < 0)
		err = explain_errno(why, file);
	else if ((size_t)n != digits ||
		 sodium_hex2bin(key, SECRET_KEY_BYTES, text, digits, NULL, &len,
				NULL) ||
		 len != SECRET_KEY_BYTES)
		err = explain(why, -EINVAL, file,
			      "not a key: 64 hexadecimal digits wanted");
	secret_wipe(text, sizeof(text));
	return err;
}

int secret_key_read(uint8_t *key, const char *file, struct buffer *why)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int err;

	if (fd < 0)
		return explain_errno(why, file);
	err = check_mode(fd, file, why);
	if (!err)
		err = read_key(key, fd, file, why);
	close(fd);
	return err;
}

static int write_key(const char *file)
{
	uint8_t key[SECRET_KEY_BYTES];
	char text[TEXT_BYTES + 1];
	int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int err = 0;

	if (fd < 0)
		return -errno;
	randombytes_buf(key, sizeof(key));
	sodium_bin2hex(text, sizeof(text), key, sizeof(key));
	text[TEXT_BYTES - 1] = '\n';
	if (write(fd, text, TEXT_BYTES) != TEXT_BYTES || fsync(fd))
		err = errno ? -errno : -EIO;
	secret_wipe(key, sizeof(key));
	secret_wipe(text, sizeof(text));
	if (close(fd) && !err)
		err = -errno;
	return err;
}

/* The name in its folder must survive a power cut, too. */
static void sync_folder(const char *file)
{
	const char *slash = strrchr(file, '/');
	char *folder = slash == file ? mem_dup_str("/")
		       : slash ? mem_dup_bytes(file, (size_t)(slash - file))
			       : mem_dup_str(".");
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	mem_free(folder);
}

int secret_key_create(uint8_t *key, const char *file, struct buffer *why)
{
	struct buffer draft;
	char suffix[SUFFIX + 1];
	int err;

	buffer_init(&draft, 4096);
	id_word(suffix, SUFFIX);
	buffer_printf(&draft, "%s.%s", file, suffix);
	err = write_key(buffer_str(&draft));
	if (!err && link(buffer_str(&draft), file) && errno != EEXIST)
		err = -errno;
	unlink(buffer_str(&draft));
	if (err) {
		explain(why, err, file, strerror(-err));
	} else {
		sync_folder(file);
		err = secret_key_read(key, file, why);
	}
	buffer_reset(&draft);
	return err;
}
