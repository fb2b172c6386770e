/* SPDX-License-Identifier: MIT */
#include "media/srtp_primitives.h"
#include <string.h>
#include <mbedtls/aes.h>
#include "core/mem.h"

enum {
	AES_KEY_BYTES = 16,
	SALT_BYTES = 14,
	BLOCK_BYTES = 16,
	SHA1_BLOCK_BYTES = 64,
	SHA1_BYTES = 20,
	SHA1_WORDS = SHA1_BYTES / 4,
};

static const srtp_cipher_type_t cipher_type;
static const srtp_auth_type_t auth_type;

struct aes_ctr {
	srtp_cipher_t base; /* what libsrtp2 holds */
	uint8_t offset[BLOCK_BYTES]; /* the salt, shifted by 16 bits */
	uint8_t counter[BLOCK_BYTES];
	uint8_t stream[BLOCK_BYTES];
	size_t used; /* of stream */
	mbedtls_aes_context aes; /* last: its end is for longer keys */
};

struct hmac {
	srtp_auth_t base; /* what libsrtp2 holds */
	/* The pads are hashed once per key: each packet starts from these. */
	uint32_t inner[SHA1_WORDS], outer[SHA1_WORDS];
	mbedtls_sha1_context work;
};

static srtp_err_status_t aes_alloc(srtp_cipher_pointer_t *out, int key_len,
				   int tag_len)
{
	struct aes_ctr *ctr;

	if (key_len != AES_KEY_BYTES + SALT_BYTES)
		return srtp_err_status_bad_param;
	ctr = mem_new(sizeof(*ctr));
	mbedtls_aes_init(&ctr->aes);
	ctr->base = (srtp_cipher_t){ .type = &cipher_type,
				     .state = ctr,
				     .key_len = key_len,
				     .algorithm = SRTP_AES_ICM_128 };
	*out = &ctr->base;
	return srtp_err_status_ok;
}

static srtp_err_status_t aes_free(srtp_cipher_pointer_t cipher)
{
	struct aes_ctr *ctr = cipher->state;

	mbedtls_aes_free(&ctr->aes);
	explicit_bzero(ctr, sizeof(*ctr));
	mem_free(ctr);
	return srtp_err_status_ok;
}

static srtp_err_status_t aes_init(void *state, const uint8_t *key)
{
	struct aes_ctr *ctr = state;

	memset(ctr->offset, 0, sizeof(ctr->offset));
	memcpy(ctr->offset, key + AES_KEY_BYTES, SALT_BYTES);
	memcpy(ctr->counter, ctr->offset, sizeof(ctr->counter));
	ctr->used = 0;
	return mbedtls_aes_setkey_enc(&ctr->aes, key, 8 * AES_KEY_BYTES) == 0
		       ? srtp_err_status_ok
		       : srtp_err_status_init_fail;
}

static void xor_block(uint8_t bytes[BLOCK_BYTES],
		      const uint8_t with[BLOCK_BYTES])
{
	uint64_t a[BLOCK_BYTES / 8], b[BLOCK_BYTES / 8];

	memcpy(a, bytes, BLOCK_BYTES);
	memcpy(b, with, BLOCK_BYTES);
	a[0] ^= b[0];
	a[1] ^= b[1];
	memcpy(bytes, a, BLOCK_BYTES);
}

static srtp_err_status_t aes_set_iv(void *state, uint8_t *iv,
				    srtp_cipher_direction_t direction)
{
	struct aes_ctr *ctr = state;

	memcpy(ctr->counter, iv, BLOCK_BYTES);
	xor_block(ctr->counter, ctr->offset);
	ctr->used = 0;
	return srtp_err_status_ok;
}

/* The last 16 bits count the blocks of a packet (RFC 3711, 4.1.1). */
static int next_block(struct aes_ctr *ctr)
{
	int err = mbedtls_aes_crypt_ecb(&ctr->aes, MBEDTLS_AES_ENCRYPT,
					ctr->counter, ctr->stream);

	if (++ctr->counter[BLOCK_BYTES - 1] == 0)
		ctr->counter[BLOCK_BYTES - 2]++;
	return err;
}

/* mbedTLS's own counter mode goes byte by byte: twice the work of the cipher
 * itself. */
static srtp_err_status_t aes_crypt(void *state, uint8_t *bytes, unsigned *n)
{
	struct aes_ctr *ctr = state;
	const uint8_t *end = bytes + *n;

	while (bytes < end) {
		if (ctr->used == 0 && next_block(ctr))
			return srtp_err_status_cipher_fail;
		if (ctr->used == 0 && end - bytes >= BLOCK_BYTES) {
			xor_block(bytes, ctr->stream);
			bytes += BLOCK_BYTES;
			continue;
		}
		*bytes++ ^= ctr->stream[ctr->used++];
		ctr->used %= BLOCK_BYTES;
	}
	return srtp_err_status_ok;
}

static srtp_err_status_t hmac_alloc(srtp_auth_pointer_t *out, int key_len,
				    int tag_len)
{
	struct hmac *hmac;

	if (key_len < 0 || key_len > SHA1_BLOCK_BYTES || tag_len < 0 ||
	    tag_len > SHA1_BYTES)
		return srtp_err_status_bad_param;
	hmac = mem_new(sizeof(*hmac));
	mbedtls_sha1_init(&hmac->work);
	hmac->base = (srtp_auth_t){ .type = &auth_type,
				    .state = hmac,
				    .out_len = tag_len,
				    .key_len = key_len };
	*out = &hmac->base;
	return srtp_err_status_ok;
}

static srtp_err_status_t hmac_free(srtp_auth_pointer_t auth)
{
	struct hmac *hmac = auth->state;

	explicit_bzero(hmac, sizeof(*hmac));
	mem_free(hmac);
	return srtp_err_status_ok;
}

static int hash_pad(uint32_t out[SHA1_WORDS], const uint8_t *key, int key_len,
		    uint8_t pad)
{
	mbedtls_sha1_context sha;
	uint8_t block[SHA1_BLOCK_BYTES];
	int err;

	memset(block, pad, sizeof(block));
	for (int i = 0; i < key_len; i++)
		block[i] ^= key[i];
	mbedtls_sha1_init(&sha);
	err = mbedtls_sha1_starts(&sha);
	if (!err)
		err = mbedtls_sha1_update(&sha, block, sizeof(block));
	memcpy(out, sha.MBEDTLS_PRIVATE(state), SHA1_BYTES);
	mbedtls_sha1_free(&sha);
	explicit_bzero(block, sizeof(block));
	return err;
}

/* As if the block that led to state had just been hashed. */
static void resume(mbedtls_sha1_context *sha, const uint32_t state[SHA1_WORDS])
{
	sha->MBEDTLS_PRIVATE(total)[0] = SHA1_BLOCK_BYTES;
	sha->MBEDTLS_PRIVATE(total)[1] = 0;
	memcpy(sha->MBEDTLS_PRIVATE(state), state, SHA1_BYTES);
}

static srtp_err_status_t hmac_init(void *state, const uint8_t *key, int key_len)
{
	struct hmac *hmac = state;

	if (key_len < 0 || key_len > SHA1_BLOCK_BYTES ||
	    hash_pad(hmac->inner, key, key_len, 0x36) ||
	    hash_pad(hmac->outer, key, key_len, 0x5c))
		return srtp_err_status_auth_fail;
	resume(&hmac->work, hmac->inner);
	return srtp_err_status_ok;
}

static srtp_err_status_t hmac_start(void *state)
{
	struct hmac *hmac = state;

	resume(&hmac->work, hmac->inner);
	return srtp_err_status_ok;
}

static srtp_err_status_t hmac_update(void *state, const uint8_t *bytes, int n)
{
	struct hmac *hmac = state;

	return mbedtls_sha1_update(&hmac->work, bytes, (size_t)n) == 0
		       ? srtp_err_status_ok
		       : srtp_err_status_auth_fail;
}

static srtp_err_status_t hmac_compute(void *state, const uint8_t *bytes, int n,
				      int tag_len, uint8_t *tag)
{
	struct hmac *hmac = state;
	uint8_t digest[SHA1_BYTES];

	if (tag_len < 0 || tag_len > SHA1_BYTES ||
	    mbedtls_sha1_update(&hmac->work, bytes, (size_t)n) ||
	    mbedtls_sha1_finish(&hmac->work, digest))
		return srtp_err_status_auth_fail;
	resume(&hmac->work, hmac->outer);
	if (mbedtls_sha1_update(&hmac->work, digest, sizeof(digest)) ||
	    mbedtls_sha1_finish(&hmac->work, digest))
		return srtp_err_status_auth_fail;
	memcpy(tag, digest, (size_t)tag_len);
	return srtp_err_status_ok;
}

/* RFC 3711, B.2: the first two blocks of key stream; libsrtp2 refuses a type
 * without a vector. It takes the index as non-const and only reads it. */
static const uint8_t aes_key[] = { 0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae,
				   0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88,
				   0x09, 0xcf, 0x4f, 0x3c, 0xf0, 0xf1,
				   0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7,
				   0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd };
static const uint8_t aes_zeros[32];
static const uint8_t aes_expected[] = {
	0xe0, 0x3e, 0xad, 0x09, 0x35, 0xc9, 0x5e, 0x80, 0xe1, 0x66, 0xb1,
	0x6d, 0xd9, 0x2b, 0x4e, 0xb4, 0xd2, 0x35, 0x13, 0x16, 0x2b, 0x02,
	0xd0, 0xf7, 0x2a, 0x43, 0xa2, 0xfe, 0x4a, 0x5f, 0x97, 0xab
};
static const srtp_cipher_test_case_t aes_test = {
	.key_length_octets = sizeof(aes_key),
	.key = aes_key,
	.idx = (uint8_t *)(uintptr_t)aes_zeros,
	.plaintext_length_octets = sizeof(aes_zeros),
	.plaintext = aes_zeros,
	.ciphertext_length_octets = sizeof(aes_expected),
	.ciphertext = aes_expected,
};

/* RFC 2202, 3: test case 1. */
static const uint8_t hmac_key[] = { 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b,
				    0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b,
				    0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b };
static const uint8_t hmac_data[] = { 'H', 'i', ' ', 'T', 'h', 'e', 'r', 'e' };
static const uint8_t hmac_expected[] = { 0xb6, 0x17, 0x31, 0x86, 0x55,
					 0x05, 0x72, 0x64, 0xe2, 0x8b,
					 0xc0, 0xb6, 0xfb, 0x37, 0x8c,
					 0x8e, 0xf1, 0x46, 0xbe, 0x00 };
static const srtp_auth_test_case_t hmac_test = {
	.key_length_octets = sizeof(hmac_key),
	.key = hmac_key,
	.data_length_octets = sizeof(hmac_data),
	.data = hmac_data,
	.tag_length_octets = sizeof(hmac_expected),
	.tag = hmac_expected,
};

static const srtp_cipher_type_t cipher_type = {
	.alloc = aes_alloc,
	.dealloc = aes_free,
	.init = aes_init,
	.encrypt = aes_crypt,
	.decrypt = aes_crypt,
	.set_iv = aes_set_iv,
	.description = "AES-128 counter mode by mbedTLS",
	.test_data = &aes_test,
	.id = SRTP_AES_ICM_128,
};

static const srtp_auth_type_t auth_type = {
	.alloc = hmac_alloc,
	.dealloc = hmac_free,
	.init = hmac_init,
	.compute = hmac_compute,
	.update = hmac_update,
	.start = hmac_start,
	.description = "HMAC-SHA1 by mbedTLS",
	.test_data = &hmac_test,
	.id = SRTP_HMAC_SHA1,
};

const srtp_cipher_type_t *srtp_primitives_cipher(void)
{
	return &cipher_type;
}

const srtp_auth_type_t *srtp_primitives_auth(void)
{
	return &auth_type;
}
