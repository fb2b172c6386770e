/* SPDX-License-Identifier: MIT */
/* core/secret.h - secrets by libsodium: sealed at rest under the node's key
 * (DIR/store.key, mode 0600), hashed where they are only compared, wiped. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/buffer.h"
#include "core/slice.h"

struct secret_box; /* holds the node's key in guarded memory */

enum { SECRET_HASH_BYTES = 32, SECRET_HMAC_HEX_SIZE = 65 };

/* Reads the key file, or makes it when create is set and it is missing. */
int secret_box_open(struct secret_box **out, const char *file, bool create,
		    struct buffer *why);
void secret_box_close(struct secret_box **box);
/* Authenticated encryption with a random nonce; appends binary to out. */
void secret_seal(const struct secret_box *box, struct buffer *out,
		 struct slice plain);
/* 0 or -EBADMSG: another key, or changed. */
int secret_unseal(const struct secret_box *box, struct buffer *out,
		  struct slice sealed);
/* For random tokens (240 bits): one keyless BLAKE2b, looked up by equality. */
void secret_hash_token(uint8_t out[SECRET_HASH_BYTES], struct slice token);
/* Lower-case hex HMAC-SHA256 (RFC 2104). */
void secret_hmac_hex(char out[SECRET_HMAC_HEX_SIZE], struct slice key,
		     struct slice message);
bool secret_is_equal(struct slice a, struct slice b); /* constant time */
void secret_wipe(void *ptr, size_t len);
