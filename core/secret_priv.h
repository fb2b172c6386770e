/* SPDX-License-Identifier: MIT */
/* core/secret_priv.h - the file that holds the node's key: 64 hex digits and a
 * newline, mode 0600. Between secret.c and secret_key.c. */
#pragma once
#include <stdint.h>
#include "core/buffer.h"

enum { SECRET_KEY_BYTES = 32 };

/* -ENOENT: there is none; -EACCES: others may read it; -EINVAL: not a key. */
int secret_key_read(uint8_t *key, const char *file, struct buffer *why);
/* Makes a random key; it is on disk, whole, or not there at all. If another
 * process was faster, its key is read. */
int secret_key_create(uint8_t *key, const char *file, struct buffer *why);
