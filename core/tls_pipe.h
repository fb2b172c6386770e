/* SPDX-License-Identifier: MIT */
/* core/tls_pipe.h - the bytes between mbedTLS and a raw link. mbedTLS reads
 * and writes memory only, so that a job can run it without a socket; a job
 * that is under way owns the pipe. */
#pragma once
#include "core/buffer.h"
#include "core/tls_compat.h"

struct link;

struct tls_space {
	unsigned char *ptr; /* borrowed */
	size_t size;
};

enum { TLS_RECORD_BYTES = 16 * 1024 };

struct tls_pipe {
	struct buffer in; /* what came is added here */
	size_t in_used; /* bytes of in that were read */
	struct buffer out;
};

void tls_pipe_init(struct tls_pipe *pipe, mbedtls_ssl_context *ssl);
void tls_pipe_reset(struct tls_pipe *pipe);
/* Drops what was read from in. */
void tls_pipe_compact(struct tls_pipe *pipe);
/* Hands what mbedTLS wrote to the raw link, which may be NULL. */
void tls_pipe_flush(struct tls_pipe *pipe, struct link *raw);
/* Encrypts text, record by record, until it is empty or raw has enough queued,
 * and drops from it what was sent. -EPROTO: mbedTLS failed. */
int tls_pipe_write(struct tls_pipe *pipe, mbedtls_ssl_context *ssl,
		   struct link *raw, struct buffer *text);
/* Decrypts into space; the number of bytes. *end stays 0 while more may come,
 * else it is the mbedTLS error that ended the reading; set, nothing is read. */
size_t tls_pipe_read(struct tls_pipe *pipe, mbedtls_ssl_context *ssl,
		     struct tls_space space, int *end);
