/* SPDX-License-Identifier: MIT */
/* agent/call/uui.h - User-to-User (RFC 7433) as a mapping entry wants it: JSON
 * {target, purpose, encoding "hex" or "ascii", content}. */
#pragma once
#include <jansson.h>

struct buffer;
struct sip_message;

/* The header's value for text. -EINVAL: text is not what the encoding can
 * carry. */
int uui_write(struct buffer *out, const json_t *entry, const char *text);
/* The decoded value of the first that has the entry's purpose and content,
 * where the entry names them. -ENOENT: none; -EINVAL: it does not decode. */
int uui_find(struct buffer *out, const json_t *entry,
	     const struct sip_message *invite);
