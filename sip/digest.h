/* SPDX-License-Identifier: MIT */
/* sip/digest.h - client side of digest authentication (RFC 3261, 22; RFC 7616;
 * RFC 8760): MD5, SHA-256 and SHA-512-256, each plain or -sess, qop auth or
 * none. A challenge that offers auth-int alone is not answered. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/buffer.h"
#include "sip/message.h"

/* Rising strength: the highest supported one of a response is taken. */
enum digest_algorithm {
	DIGEST_MD5,
	DIGEST_MD5_SESS,
	DIGEST_SHA_256,
	DIGEST_SHA_256_SESS,
	DIGEST_SHA_512_256,
	DIGEST_SHA_512_256_SESS
};

enum { DIGEST_CNONCE_SIZE = 49 };

/* Keep it for later requests under the same nonce: digest_authorize() counts
 * in nc. Zeroed memory is an empty one. */
struct digest_challenge {
	bool is_proxy; /* from a 407: answer with Proxy-Authorization */
	enum digest_algorithm algorithm;
	bool names_algorithm; /* it was written: echo it */
	bool has_qop; /* "auth" was offered */
	bool is_stale;
	char *realm; /* owned; unescaped, as the next two */
	char *nonce; /* owned */
	char *opaque; /* owned; NULL when absent */
	char cnonce[DIGEST_CNONCE_SIZE]; /* ours, one for this nonce */
	uint32_t nc; /* requests made with this nonce */
};

struct digest_request {
	const char *username;
	const char *password;
	const char *method;
	struct slice uri; /* the Request-URI exactly as it is sent */
};

/* Takes the strongest challenge we can answer from a 401 or 407, releasing
 * what out held. -ENOENT: it carries none; -ENOTSUP: none that we support;
 * out is empty then. */
int digest_challenge_parse(struct digest_challenge *out,
			   const struct sip_message *response);
/* Appends the header value, "Digest username=..."; its header is
 * digest_header(). 0 or the buffer's error. */
int digest_authorize(struct buffer *value, struct digest_challenge *challenge,
		     const struct digest_request *request);
enum sip_header_id digest_header(const struct digest_challenge *challenge);
void digest_challenge_reset(struct digest_challenge *challenge);
