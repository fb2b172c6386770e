/* SPDX-License-Identifier: MIT */
/* sip/digest_hash.h - the hashes that digest authentication is made of (RFC
 * 7616, 3.2; RFC 8760). MD5 and SHA-256 are mbedTLS's, SHA-512-256 (FIPS 180-4,
 * 5.3.6.2, not a cut SHA-512) is libcrypto's, because mbedTLS has none. */
#pragma once
#include <stddef.h>

enum digest_hash {
	DIGEST_HASH_MD5,
	DIGEST_HASH_SHA_256,
	DIGEST_HASH_SHA_512_256
};

enum { DIGEST_HEX_SIZE = 2 * 32 + 1 };

/* Lower-case hex of the hash over the n texts joined by ':'. */
void digest_hash_parts(char out[DIGEST_HEX_SIZE], enum digest_hash hash,
		       const char *const *parts, size_t n);
