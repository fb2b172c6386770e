/* SPDX-License-Identifier: MIT */
#include "core/tls_pipe.h"
#include <errno.h>
#include <string.h>
#include "core/link.h"

enum {
	OUT_HIGH_BYTES = 256 * 1024, /* above it text waits unencrypted */
	PIPE_MAX_BYTES = 8 * 1024 * 1024,
};

static int bio_send(void *arg, const unsigned char *bytes, size_t len)
{
	struct tls_pipe *pipe = arg;

	buffer_add(&pipe->out, slice_make(bytes, len));
	return buffer_error(&pipe->out) ? MBEDTLS_ERR_SSL_INTERNAL_ERROR
					: (int)len;
}

static int bio_recv(void *arg, unsigned char *bytes, size_t size)
{
	struct tls_pipe *pipe = arg;
	size_t left = pipe->in.len - pipe->in_used;

	if (!left)
		return MBEDTLS_ERR_SSL_WANT_READ;
	if (size > left)
		size = left;
	memcpy(bytes, pipe->in.ptr + pipe->in_used, size);
	pipe->in_used += size;
	return (int)size;
}

void tls_pipe_init(struct tls_pipe *pipe, mbedtls_ssl_context *ssl)
{
	*pipe = (struct tls_pipe){ 0 };
	buffer_init(&pipe->in, PIPE_MAX_BYTES);
	buffer_init(&pipe->out, PIPE_MAX_BYTES);
	mbedtls_ssl_set_bio(ssl, pipe, bio_send, bio_recv, NULL);
}

void tls_pipe_reset(struct tls_pipe *pipe)
{
	buffer_reset(&pipe->in);
	buffer_reset(&pipe->out);
}

void tls_pipe_compact(struct tls_pipe *pipe)
{
	buffer_consume(&pipe->in, pipe->in_used);
	pipe->in_used = 0;
}

void tls_pipe_flush(struct tls_pipe *pipe, struct link *raw)
{
	if (raw && pipe->out.len) /* its own on_close tells a failure */
		link_send(raw, buffer_slice(&pipe->out));
	buffer_clear(&pipe->out);
}

int tls_pipe_write(struct tls_pipe *pipe, mbedtls_ssl_context *ssl,
		   struct link *raw, struct buffer *text)
{
	size_t done = 0;
	int ret = 0;

	while (ret >= 0 && done < text->len &&
	       link_queued_bytes(raw) < OUT_HIGH_BYTES) {
		size_t n = text->len - done;

		if (n > TLS_RECORD_BYTES)
			n = TLS_RECORD_BYTES;
		ret = mbedtls_ssl_write(
			ssl, (const unsigned char *)text->ptr + done, n);
		tls_pipe_flush(pipe, raw);
		if (ret > 0)
			done += (size_t)ret;
	}
	buffer_consume(text, done);
	return ret < 0 ? -EPROTO : 0;
}

size_t tls_pipe_read(struct tls_pipe *pipe, mbedtls_ssl_context *ssl,
		     struct tls_space space, int *end)
{
	size_t n = 0;

	while (n < space.size && !*end) {
		int ret = mbedtls_ssl_read(ssl, space.ptr + n, space.size - n);

		if (ret == MBEDTLS_ERR_SSL_WANT_READ)
			break;
		if (ret > 0)
			n += (size_t)ret;
		else
			*end = ret ? ret : MBEDTLS_ERR_SSL_CONN_EOF;
	}
	tls_pipe_compact(pipe);
	return n;
}
