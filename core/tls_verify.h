/* SPDX-License-Identifier: MIT */
/* core/tls_verify.h - is this certificate for that name, and may it be used?
 * RFC 6125 for DNS names, RFC 5922 for SIP domains. mbedTLS builds the chain;
 * times, names and usage are judged here, because it compares DNS names only
 * and knows no clock but the system's. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/buffer.h"
#include "core/slice.h"
#include "core/tls_compat.h"

struct tls_verify {
	char *name; /* owned; NULL: no name is wanted (a server's client) */
	bool is_sip;
	bool no_wildcards; /* RFC 5922, 7.2 */
	bool is_server; /* we are the server: the peer is a client */
	bool is_passed; /* the peer's own certificate was seen and is good */
	int64_t wall_ms; /* set before each step of the handshake */
	int depth; /* of the certificate being judged; 0: the peer's own */
	unsigned worst; /* the gravest finding so far, 0 none */
	struct buffer why; /* of worst, for an operator */
};

void tls_verify_reset(struct tls_verify *verify);
/* For mbedtls_ssl_set_verify(), with the struct as arg; runs on whatever
 * thread runs the handshake. */
int tls_verify_on_certificate(void *verify, mbedtls_x509_crt *crt, int depth,
			      uint32_t *flags);
/* 0 without a finding; else -EKEYREJECTED, -EKEYEXPIRED or -ENOKEY. */
int tls_verify_error(const struct tls_verify *verify);
/* Is it for that name, by the rules of verify (is_sip, no_wildcards)? */
bool tls_verify_has_name(const struct tls_verify *verify,
			 const mbedtls_x509_crt *crt, struct slice name);
