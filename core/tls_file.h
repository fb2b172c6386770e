/* SPDX-License-Identifier: MIT */
/* core/tls_file.h - PEM files in and out, for core/tls and core/pki. On
 * failure why names the file and what is wrong with it. */
#pragma once
#include <sys/types.h>
#include "core/buffer.h"
#include "core/tls_compat.h"

/* Appends to chain. -EBADMSG: some are unreadable, the others are in chain. */
int tls_file_read_certificates(mbedtls_x509_crt *chain, const char *file,
			       struct buffer *why);
int tls_file_read_key(mbedtls_pk_context *key, const char *file,
		      struct buffer *why);
/* Replaces file whole, by a new one beside it that is renamed. */
int tls_file_write(const char *file, const char *text, mode_t mode,
		   struct buffer *why);
