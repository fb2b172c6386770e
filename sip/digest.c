/* SPDX-License-Identifier: MIT */
#include "sip/digest.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include "core/id.h"
#include "core/mem.h"
#include "core/secret.h"
#include "sip/digest_hash.h"
#include "sip/header.h"
#include "sip/lex.h"

static const struct {
	const char *name;
	enum digest_hash hash;
	bool is_session; /* A1 is bound to nonce and cnonce */
} algorithms[] = {
	[DIGEST_MD5] = { "MD5", DIGEST_HASH_MD5, false },
	[DIGEST_MD5_SESS] = { "MD5-sess", DIGEST_HASH_MD5, true },
	[DIGEST_SHA_256] = { "SHA-256", DIGEST_HASH_SHA_256, false },
	[DIGEST_SHA_256_SESS] = { "SHA-256-sess", DIGEST_HASH_SHA_256, true },
	[DIGEST_SHA_512_256] = { "SHA-512-256", DIGEST_HASH_SHA_512_256,
				 false },
	[DIGEST_SHA_512_256_SESS] = { "SHA-512-256-sess",
				      DIGEST_HASH_SHA_512_256, true },
};

enum {
	N_ALGORITHMS = sizeof(algorithms) / sizeof(algorithms[0]),
	CNONCE_LEN = 24
};

/* One challenge as it is written; values without their quotes. */
struct offer {
	bool is_digest;
	struct slice realm, nonce, opaque, algorithm, qop, stale;
};

/* A challenge's parameters: where each goes. */
static const struct {
	const char *name;
	size_t offset;
} params[] = {
	{ "realm", offsetof(struct offer, realm) },
	{ "nonce", offsetof(struct offer, nonce) },
	{ "opaque", offsetof(struct offer, opaque) },
	{ "algorithm", offsetof(struct offer, algorithm) },
	{ "qop", offsetof(struct offer, qop) },
	{ "stale", offsetof(struct offer, stale) },
};

static void take_param(struct offer *offer, struct slice name,
		       struct slice value)
{
	size_t i;

	if (value.len >= 2 && value.ptr[0] == '"' &&
	    value.ptr[value.len - 1] == '"')
		value = slice_make(value.ptr + 1, value.len - 2);
	for (i = 0; i < sizeof(params) / sizeof(params[0]); i++)
		if (slice_eq_nocase(name, slice_of(params[i].name)))
			*(struct slice *)((char *)offer + params[i].offset) =
				value;
}

static bool has_auth(struct slice qop)
{
	struct slice element;

	while (lex_next_element(&qop, &element))
		if (slice_eq_nocase(element, SLICE("auth")))
			return true;
	return false;
}

/* The algorithm when we can answer the offer, else -1. */
static int usable_algorithm(const struct offer *offer)
{
	int i;

	if (!offer->is_digest || !offer->nonce.len || !offer->realm.ptr ||
	    (offer->qop.ptr && !has_auth(offer->qop)))
		return -1;
	if (!offer->algorithm.ptr)
		return DIGEST_MD5;
	for (i = 0; i < N_ALGORITHMS; i++)
		if (slice_eq_nocase(offer->algorithm,
				    slice_of(algorithms[i].name)))
			return i;
	return -1;
}

static void keep_stronger(struct offer *best, const struct offer *offer)
{
	if (usable_algorithm(offer) > usable_algorithm(best))
		*best = *offer;
}

/* A header may hold several challenges: an element "Scheme name=value" opens
 * the next. */
static void read_challenges(struct offer *best, struct slice rest)
{
	struct offer offer = { 0 };
	struct slice element, name, scheme;
	size_t at;

	if (lex_find(rest, "", &at))
		return;
	while (lex_next_element(&rest, &element)) {
		name = lex_trim(slice_cut(&element, '='));
		for (at = 0; at < name.len && !lex_is_space(name.ptr[at]);)
			at++;
		if (at < name.len) {
			keep_stronger(best, &offer);
			scheme = slice_make(name.ptr, at);
			name = lex_trim(lex_skip(name, at));
			offer = (struct offer){ .is_digest = slice_eq_nocase(
							scheme,
							SLICE("Digest")) };
		}
		take_param(&offer, name, lex_trim(element));
	}
	keep_stronger(best, &offer);
}

/* Heap text with escapes resolved; NULL when absent. */
static char *unescaped(struct slice value)
{
	struct buffer text;

	if (!value.ptr)
		return NULL;
	buffer_init(&text, value.len + 1);
	sip_unquote(&text, value);
	return buffer_take(&text);
}

int digest_challenge_parse(struct digest_challenge *out,
			   const struct sip_message *response)
{
	bool is_proxy = response->start.status == 407;
	enum sip_header_id id =
		is_proxy ? SIP_H_PROXY_AUTHENTICATE : SIP_H_WWW_AUTHENTICATE;
	const struct sip_header *header;
	struct offer best = { 0 };
	unsigned n;

	digest_challenge_reset(out);
	for (n = 0; (header = sip_message_header(response, id, n)); n++)
		read_challenges(&best, header->value);
	if (!best.is_digest)
		return n ? -ENOTSUP : -ENOENT;
	*out = (struct digest_challenge){
		.is_proxy = is_proxy,
		.algorithm = (enum digest_algorithm)usable_algorithm(&best),
		.names_algorithm = best.algorithm.ptr != NULL,
		.has_qop = best.qop.ptr != NULL,
		.is_stale = slice_eq_nocase(best.stale, SLICE("true")),
		.realm = unescaped(best.realm),
		.nonce = unescaped(best.nonce),
		.opaque = unescaped(best.opaque),
	};
	id_word(out->cnonce, CNONCE_LEN);
	return 0;
}

/* RFC 7616, 3.4.1 and 3.4.2; without qop RFC 2069's short form. */
static void compute(char out[DIGEST_HEX_SIZE],
		    const struct digest_challenge *from,
		    const struct digest_request *request, const char *nc)
{
	enum digest_hash hash = algorithms[from->algorithm].hash;
	char a1[DIGEST_HEX_SIZE], a2[DIGEST_HEX_SIZE];
	char *uri = slice_dup(request->uri);

	digest_hash_parts(a1, hash,
			  (const char *[]){ request->username, from->realm,
					    request->password },
			  3);
	if (algorithms[from->algorithm].is_session)
		digest_hash_parts(
			a1, hash,
			(const char *[]){ a1, from->nonce, from->cnonce }, 3);
	digest_hash_parts(a2, hash, (const char *[]){ request->method, uri },
			  2);
	if (from->has_qop)
		digest_hash_parts(out, hash,
				  (const char *[]){ a1, from->nonce, nc,
						    from->cnonce, "auth", a2 },
				  6);
	else
		digest_hash_parts(out, hash,
				  (const char *[]){ a1, from->nonce, a2 }, 3);
	secret_wipe(a1, sizeof(a1));
	mem_free(uri);
}

static void add_quoted(struct buffer *value, const char *name,
		       struct slice text)
{
	buffer_add_str(value, name);
	sip_quote(value, text);
}

int digest_authorize(struct buffer *value, struct digest_challenge *challenge,
		     const struct digest_request *request)
{
	const char *algorithm = algorithms[challenge->algorithm].name;
	char response[DIGEST_HEX_SIZE], nc[9];

	snprintf(nc, sizeof(nc), "%08" PRIx32, ++challenge->nc);
	compute(response, challenge, request, nc);
	add_quoted(value, "Digest username=", slice_of(request->username));
	add_quoted(value, ", realm=", slice_of(challenge->realm));
	add_quoted(value, ", nonce=", slice_of(challenge->nonce));
	add_quoted(value, ", uri=", request->uri);
	add_quoted(value, ", response=", slice_of(response));
	if (challenge->names_algorithm)
		buffer_printf(value, ", algorithm=%s", algorithm);
	if (challenge->has_qop)
		buffer_printf(value, ", qop=auth, nc=%s", nc);
	if (challenge->has_qop || algorithms[challenge->algorithm].is_session)
		add_quoted(value, ", cnonce=", slice_of(challenge->cnonce));
	if (challenge->opaque)
		add_quoted(value, ", opaque=", slice_of(challenge->opaque));
	return buffer_error(value);
}

enum sip_header_id digest_header(const struct digest_challenge *challenge)
{
	return challenge->is_proxy ? SIP_H_PROXY_AUTHORIZATION
				   : SIP_H_AUTHORIZATION;
}

void digest_challenge_reset(struct digest_challenge *challenge)
{
	mem_free(challenge->realm);
	mem_free(challenge->nonce);
	mem_free(challenge->opaque);
	*challenge = (struct digest_challenge){ 0 };
}
