/* SPDX-License-Identifier: MIT */
/* core/tls_session.h - the client's sessions, for resumption. A resumed
 * handshake checks neither chain nor name, so a session is offered only to the
 * peer it was verified for; each trust generation has a cache of its own. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/tls_compat.h"

struct tls_sessions;

struct tls_session_key {
	const char *name; /* as it was verified; case counts */
	uint16_t port;
	bool is_sip; /* judged by other rules: RFC 5922 */
};

struct tls_sessions *tls_sessions_open(void);
void tls_sessions_close(struct tls_sessions **sessions); /* wipes */
/* Offers the kept session, if there is one not older than an hour. */
bool tls_sessions_offer(struct tls_sessions *sessions,
			const struct tls_session_key *key, uint64_t now_us,
			mbedtls_ssl_context *ssl);
/* Keeps ssl's session in place of the one kept before for key. */
void tls_sessions_keep(struct tls_sessions *sessions,
		       const struct tls_session_key *key, uint64_t now_us,
		       const mbedtls_ssl_context *ssl);
/* After a failure with an offered session: the next try is a full one. */
void tls_sessions_drop(struct tls_sessions *sessions,
		       const struct tls_session_key *key);
