/* SPDX-License-Identifier: MIT */
#include "core/secret.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/mem.h"
#include "core/secret_priv.h"

/* What secret_seal() writes: VERSION, nonce, tag and text. */
enum {
	VERSION = 1,
	NONCE_BYTES = crypto_secretbox_NONCEBYTES,
	TAG_BYTES = crypto_secretbox_MACBYTES,
	HEAD_BYTES = 1 + NONCE_BYTES,
};

struct secret_box {
	uint8_t *key; /* owned, guarded, read-only */
};

static void start(void)
{
	int err = sodium_init(); /* 1 when it was done before */

	assert(err >= 0);
}

int secret_box_open(struct secret_box **out, const char *file, bool create,
		    struct buffer *why)
{
	uint8_t *key;
	int err;

	start();
	*out = NULL;
	key = sodium_malloc(SECRET_KEY_BYTES);
	if (!key)
		abort();
	err = secret_key_read(key, file, why);
	if (err == -ENOENT && create) {
		buffer_clear(why);
		err = secret_key_create(key, file, why);
	}
	if (err) {
		sodium_free(key);
		return err;
	}
	sodium_mprotect_readonly(key);
	*out = mem_new(sizeof(**out));
	(*out)->key = key;
	return 0;
}

void secret_box_close(struct secret_box **box)
{
	if (!*box)
		return;
	sodium_free((*box)->key);
	mem_free(*box);
	*box = NULL;
}

void secret_seal(const struct secret_box *box, struct buffer *out,
		 struct slice plain)
{
	uint8_t head[HEAD_BYTES] = { VERSION };
	uint8_t *sealed = mem_new(plain.len + TAG_BYTES);

	randombytes_buf(head + 1, NONCE_BYTES);
	crypto_secretbox_easy(sealed, (const uint8_t *)plain.ptr, plain.len,
			      head + 1, box->key);
	buffer_add(out, slice_make(head, sizeof(head)));
	buffer_add(out, slice_make(sealed, plain.len + TAG_BYTES));
	mem_free(sealed);
}

int secret_unseal(const struct secret_box *box, struct buffer *out,
		  struct slice sealed)
{
	const uint8_t *bytes = (const uint8_t *)sealed.ptr;
	uint8_t *plain;
	size_t len;
	int err = 0;

	if (sealed.len < HEAD_BYTES + TAG_BYTES || bytes[0] != VERSION)
		return -EBADMSG;
	len = sealed.len - HEAD_BYTES - TAG_BYTES;
	plain = mem_new(len);
	if (crypto_secretbox_open_easy(plain, bytes + HEAD_BYTES,
				       sealed.len - HEAD_BYTES, bytes + 1,
				       box->key))
		err = -EBADMSG;
	else
		buffer_add(out, slice_make(plain, len));
	secret_wipe(plain, len);
	mem_free(plain);
	return err;
}

void secret_hash_token(uint8_t out[SECRET_HASH_BYTES], struct slice token)
{
	start();
	crypto_generichash(out, SECRET_HASH_BYTES, (const uint8_t *)token.ptr,
			   token.len, NULL, 0);
}

void secret_hmac_hex(char out[SECRET_HMAC_HEX_SIZE], struct slice key,
		     struct slice message)
{
	crypto_auth_hmacsha256_state state;
	uint8_t mac[crypto_auth_hmacsha256_BYTES];

	start();
	crypto_auth_hmacsha256_init(&state, (const uint8_t *)key.ptr, key.len);
	crypto_auth_hmacsha256_update(&state, (const uint8_t *)message.ptr,
				      message.len);
	crypto_auth_hmacsha256_final(&state, mac);
	sodium_bin2hex(out, SECRET_HMAC_HEX_SIZE, mac, sizeof(mac));
	secret_wipe(&state, sizeof(state));
}

bool secret_is_equal(struct slice a, struct slice b)
{
	return a.len == b.len &&
	       (!a.len || sodium_memcmp(a.ptr, b.ptr, a.len) == 0);
}

void secret_wipe(void *ptr, size_t len)
{
	sodium_memzero(ptr, len);
}
