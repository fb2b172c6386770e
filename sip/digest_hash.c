/* SPDX-License-Identifier: MIT */
#include "sip/digest_hash.h"
#include <assert.h>
#include <mbedtls/md.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <string.h>
#include "core/secret.h"

enum { HASH_MAX_BYTES = (DIGEST_HEX_SIZE - 1) / 2 };

static size_t by_mbedtls(unsigned char *out, mbedtls_md_type_t type,
			 const char *const *parts, size_t n)
{
	const mbedtls_md_info_t *info = mbedtls_md_info_from_type(type);
	mbedtls_md_context_t md;
	int err;

	mbedtls_md_init(&md);
	err = mbedtls_md_setup(&md, info, 0);
	assert(!err); /* both hashes are always built in */
	mbedtls_md_starts(&md);
	for (size_t i = 0; i < n; i++) {
		if (i)
			mbedtls_md_update(&md, (const unsigned char *)":", 1);
		mbedtls_md_update(&md, (const unsigned char *)parts[i],
				  strlen(parts[i]));
	}
	mbedtls_md_finish(&md, out);
	mbedtls_md_free(&md);
	return mbedtls_md_get_size(info);
}

static size_t by_openssl(unsigned char *out, const char *const *parts, size_t n)
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	unsigned len = 0;
	bool is_good = md && EVP_DigestInit_ex(md, EVP_sha512_256(), NULL);

	for (size_t i = 0; is_good && i < n; i++)
		is_good = (!i || EVP_DigestUpdate(md, ":", 1)) &&
			  EVP_DigestUpdate(md, parts[i], strlen(parts[i]));
	is_good = is_good && EVP_DigestFinal_ex(md, out, &len);
	assert(is_good); /* of its default provider; no memory aborts too */
	EVP_MD_CTX_free(md); /* wipes */
	return len;
}

static size_t raw(unsigned char *out, enum digest_hash hash,
		  const char *const *parts, size_t n)
{
	switch (hash) {
	case DIGEST_HASH_MD5:
		return by_mbedtls(out, MBEDTLS_MD_MD5, parts, n);
	case DIGEST_HASH_SHA_256:
		return by_mbedtls(out, MBEDTLS_MD_SHA256, parts, n);
	case DIGEST_HASH_SHA_512_256:
		return by_openssl(out, parts, n);
	}
	return 0;
}

void digest_hash_parts(char out[DIGEST_HEX_SIZE], enum digest_hash hash,
		       const char *const *parts, size_t n)
{
	static const char hex[] = "0123456789abcdef";
	unsigned char bytes[HASH_MAX_BYTES];
	size_t i, len = raw(bytes, hash, parts, n);

	for (i = 0; i < len; i++) {
		out[2 * i] = hex[bytes[i] >> 4];
		out[2 * i + 1] = hex[bytes[i] & 15];
	}
	out[2 * i] = '\0';
	secret_wipe(bytes, sizeof(bytes));
}
