/* SPDX-License-Identifier: MIT */
/* media/srtp_primitives.h - AES-128 in counter mode and HMAC-SHA1 by mbedTLS in
 * the shapes that libsrtp2 takes. media/srtp.c alone includes this. */
#pragma once
#include <srtp2/auth.h>
#include <srtp2/cipher.h>
#include <mbedtls/sha1.h>
#include <mbedtls/version.h>

#if MBEDTLS_VERSION_MAJOR < 3
#define mbedtls_sha1_starts	mbedtls_sha1_starts_ret
#define mbedtls_sha1_update	mbedtls_sha1_update_ret
#define mbedtls_sha1_finish	mbedtls_sha1_finish_ret
#define MBEDTLS_PRIVATE(member) member
#endif

const srtp_cipher_type_t *srtp_primitives_cipher(void);
const srtp_auth_type_t *srtp_primitives_auth(void);
