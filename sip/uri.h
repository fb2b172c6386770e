/* SPDX-License-Identifier: MIT */
/* sip/uri.h - SIP, SIPS and tel URIs (RFC 3261, 19.1; RFC 3966). */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/buffer.h"
#include "core/slice.h"

/* OTHER: in From, To and Contact anything may stand; of such a URI no part is
 * read, and sip_uri_parse() takes none. */
enum sip_scheme {
	SIP_SCHEME_SIP,
	SIP_SCHEME_SIPS,
	SIP_SCHEME_TEL,
	SIP_SCHEME_OTHER
};

/* All slices borrow from the parsed text. */
struct sip_uri {
	enum sip_scheme scheme;
	struct slice user; /* escaped as received; tel: the number */
	struct slice password;
	struct slice host; /* IPv6 without brackets; empty for tel */
	uint16_t port; /* 0: none */
	struct slice params; /* ";transport=tls" with the first ';' */
	struct slice headers; /* after '?' */
};

/* The whole of text is one URI. 0 or -EINVAL. */
int sip_uri_parse(struct sip_uri *out, struct slice text);
/* A URI (RFC 3986, 3) of another scheme than those we read. */
bool sip_uri_is_foreign(struct slice text);
void sip_uri_write(struct buffer *out, const struct sip_uri *uri);
/* Value of a parameter, unescaped not; found with empty value for flags. */
bool sip_uri_param(const struct sip_uri *uri, const char *name,
		   struct slice *value);
/* Value of the nth (from 0) header of that name behind '?', escaped as it
 * stands (19.1.1). */
bool sip_uri_header(const struct sip_uri *uri, const char *name, unsigned n,
		    struct slice *value);
/* "+14155550100" when the user part is an E.164 number with or without '+'
 * (visual separators dropped), else the unescaped user part. */
void sip_uri_number(struct buffer *out, const struct sip_uri *uri);
/* User or header text with %XX where the grammar wants it. */
void sip_escape_user(struct buffer *out, struct slice text);
/* %XX resolved: may bring any byte. */
void sip_unescape(struct buffer *out, struct slice text);
