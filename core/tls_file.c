/* SPDX-License-Identifier: MIT */
#include "core/tls_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/mem.h"
#include "core/secret.h"

enum { FILE_MAX_BYTES = 8 * 1024 * 1024, PATH_BYTES = 4096 };

static int file_error(struct buffer *why, const char *file, int err)
{
	buffer_printf(why, "%s: %s", file, strerror(-err));
	return err;
}

static int library_error(struct buffer *why, const char *file, int ret)
{
	char text[128];

	mbedtls_strerror(ret, text, sizeof(text));
	buffer_printf(why, "%s: %s", file, text);
	return -EINVAL;
}

static int read_all(int fd, char *to, size_t size)
{
	size_t n = 0;

	while (n < size) {
		ssize_t got = read(fd, to + n, size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return -EIO; /* shrank while we read it */
		n += (size_t)got;
	}
	return 0;
}

/* *text is NUL-terminated and the caller's to wipe and free; *size counts the
 * NUL, as mbedTLS wants it for PEM. */
static int slurp(char **text, size_t *size, const char *file,
		 struct buffer *why)
{
	struct stat st;
	int err = 0, fd = open(file, O_RDONLY | O_CLOEXEC);

	*text = NULL;
	if (fd < 0)
		return file_error(why, file, -errno);
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EINVAL;
	else if (st.st_size > FILE_MAX_BYTES)
		err = -EFBIG;
	if (!err) {
		*size = (size_t)st.st_size + 1;
		*text = mem_new(*size);
		err = read_all(fd, *text, *size - 1);
	}
	close(fd);
	if (!err)
		return 0;
	mem_free(*text);
	*text = NULL;
	return file_error(why, file, err);
}

int tls_file_read_certificates(mbedtls_x509_crt *chain, const char *file,
			       struct buffer *why)
{
	size_t size;
	char *pem;
	int ret, err = slurp(&pem, &size, file, why);

	if (err)
		return err;
	ret = mbedtls_x509_crt_parse(chain, (const unsigned char *)pem, size);
	mem_free(pem);
	if (ret > 0) {
		buffer_printf(why, "%s: %d of its certificates unreadable",
			      file, ret);
		return -EBADMSG;
	}
	return ret ? library_error(why, file, ret) : 0;
}

int tls_file_read_key(mbedtls_pk_context *key, const char *file,
		      struct buffer *why)
{
	size_t size;
	char *pem;
	int ret, err = slurp(&pem, &size, file, why);

	if (err)
		return err;
	ret = tls_compat_parse_key(key, (const unsigned char *)pem, size);
	secret_wipe(pem, size);
	mem_free(pem);
	return ret ? library_error(why, file, ret) : 0;
}

static int write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		len -= (size_t)n;
	}
	return fsync(fd) ? -errno : 0;
}

int tls_file_write(const char *file, const char *text, mode_t mode,
		   struct buffer *why)
{
	char temp[PATH_BYTES];
	int fd, err = 0;

	if (snprintf(temp, sizeof(temp), "%s.new", file) >= (int)sizeof(temp))
		return file_error(why, file, -ENAMETOOLONG);
	unlink(temp); /* left by a crash; O_EXCL keeps links out */
	fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return file_error(why, temp, -errno);
	if (fchmod(fd, mode)) /* whatever the umask */
		err = -errno;
	if (!err)
		err = write_all(fd, text, strlen(text));
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(temp, file))
		err = -errno;
	if (!err)
		return 0;
	unlink(temp);
	return file_error(why, file, err);
}
