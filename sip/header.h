/* SPDX-License-Identifier: MIT */
/* sip/header.h - structured header values (RFC 3261, 20 and 25) and the one
 * writer of header lines. */
#pragma once
#include "core/buffer.h"
#include "sip/message.h"

int sip_address_parse(struct sip_address *out, struct slice value);
int sip_via_parse(struct sip_via *out, struct slice value);
/* ";name=value" or ";name" in a parameter tail; quoted values unquoted. */
bool sip_param(struct slice params, const char *name, struct slice *value);
/* "Name: value\r\n". A CR, LF or NUL in either, or a bad name, makes the
 * buffer fail with -EINVAL: nothing can inject a line. */
void sip_header_write(struct buffer *out, struct slice name,
		      struct slice value);
void sip_header_printf(struct buffer *out, const char *name, const char *fmt,
		       ...) __attribute__((format(printf, 3, 4)));
/* One line of UTF-8 without control characters: what people, variables and
 * peers may put into a message of ours. Overlong forms are none: a careless
 * peer could read a CR out of them. */
bool sip_text_is_line(struct slice text);
/* Text as a quoted-string with escapes (RFC 3261, 25.1). */
void sip_quote(struct buffer *out, struct slice text);
/* The inside of a quoted-string, as sip_address.display and sip_param() give
 * it, with its escapes resolved. */
void sip_unquote(struct buffer *out, struct slice inside);
const char *sip_header_name(enum sip_header_id id);
/* Standard reason phrase of a status, "Unknown" for others. */
const char *sip_reason(int status);
/* May a tenant's header mapping use this name? Not Via, From, To, ... */
bool sip_header_is_mappable(struct slice name);
