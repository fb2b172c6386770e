/* SPDX-License-Identifier: MIT */
/* core/tls.h - TLS 1.2 or higher by mbedTLS over tcp. Outgoing links verify
 * chain and name, always; there is no switch for it. Full handshakes run in the
 * pool, resumptions on the loop. Cached client sessions are kept under (name,
 * port, trust generation) and offered for nothing else. */
#pragma once
#include <stdbool.h>
#include "core/buffer.h"
#include "core/link.h"
#include "core/listener.h"

struct tls;
struct tls_identity; /* a client's certificate chain and key; counted */
struct work;

struct tls_options {
	struct loop *loop; /* borrowed: outlives us */
	struct work *work; /* borrowed: outlives us */
	const char *certificate_file; /* PEM chain; NULL: client without */
	const char *key_file;
	/* What outgoing links show when asked; NULL: certificate_file. */
	const char *client_certificate_file;
	const char *client_key_file;
	const char *ca_file; /* PEM, trusted; NULL: none of our own */
	bool system_store; /* trust the system's CAs too */
	bool require_client_certificate;
	/* RFC 5922, 7.2, to the letter: "*." in a certificate is no SIP name.
	 * Other names are judged by RFC 6125 as ever. */
	bool no_sip_wildcards;
};

struct tls_target {
	struct addr addr;
	const char *name; /* verified: DNS name or IP literal */
	bool is_sip; /* RFC 5922: SAN URI sip:name first */
	/* Held by the link; NULL: what tls_options say. Its sessions are not
	 * resumed: a session belongs to the client that was shown. */
	struct tls_identity *identity;
};

/* On failure why says which file and what is wrong with it. */
int tls_open(struct tls **out, const struct tls_options *options,
	     struct buffer *why);
/* Links live on; listeners have been closed before. */
void tls_close(struct tls **tls);
/* Reads the files again; on failure the old ones stay. Raises the trust
 * generation: cached sessions dropped, ticket keys rotated. */
int tls_reload(struct tls *tls, struct buffer *why);
unsigned tls_generation(const struct tls *tls);

/* As tcp_connect(); on_open comes after a verified handshake (5 s). -EINVAL
 * without a name. What on_close tells of a failure, each with words for an
 * operator: -ENOKEY the certificate is for other names, -EKEYREJECTED it is
 * from an unknown CA, not yet valid, weak or not meant for servers,
 * -EKEYEXPIRED, -EPROTO not TLS or the peer ended the handshake (it may have
 * refused our certificate), -ETIMEDOUT, -ECONNREFUSED, -ECONNRESET closed in
 * the middle. Afterwards 0 is an end in order; -ECONNRESET one that was not
 * announced, so bytes may be missing. */
int tls_connect(struct link **out, struct tls *tls,
		const struct tls_target *target,
		const struct link_events *events, void *owner);
/* -ENOKEY without a certificate of our own. Who fails the handshake is only
 * logged. */
int tls_listen(struct listener **out, struct tls *tls,
	       const struct listen_options *options,
	       listener_accept_fn *on_accept, void *owner);

/* From PEM text. -EINVAL: why says what is wrong. */
int tls_identity_open(struct tls_identity **out, struct slice certificate,
		      struct slice key, struct buffer *why);
struct tls_identity *tls_identity_hold(struct tls_identity *identity);
void tls_identity_close(struct tls_identity **identity); /* NULL is fine */
