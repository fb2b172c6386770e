/* SPDX-License-Identifier: MIT */
#include "sip/body.h"
#include "sip/header.h"

enum { PARTS_MAX = 16, BOUNDARY_MAX = 70 };

/* "type/subtype" before any parameter. */
static struct slice media_type(struct slice value)
{
	struct slice rest = value;

	return slice_trim(slice_cut(&rest, ';'));
}

static ptrdiff_t find(struct slice text, struct slice what)
{
	const char *at = NULL;

	if (text.len)
		at = memmem(text.ptr, text.len, what.ptr, what.len);
	return at ? at - text.ptr : -1;
}

static struct slice skip(struct slice text, size_t n)
{
	return slice_make(text.ptr + n, text.len - n);
}

/* Value of a part's Content-Type; SDP's own type when it has none is not
 * assumed: text/plain is what the RFC says. */
static struct slice part_type(struct slice head)
{
	while (head.len) {
		struct slice line = slice_cut(&head, '\n');
		struct slice name = slice_trim(slice_cut(&line, ':'));

		if (!slice_eq_nocase(name, SLICE("Content-Type")))
			continue;
		if (line.len && line.ptr[line.len - 1] == '\r')
			line.len--;
		return media_type(line);
	}
	return SLICE("text/plain");
}

/* One part between delimiters: true when it is SDP. */
static bool part_sdp(struct slice part, struct slice *sdp)
{
	ptrdiff_t end = find(part, SLICE("\r\n\r\n"));

	if (end < 0)
		return false;
	if (!slice_eq_nocase(part_type(slice_make(part.ptr, (size_t)end)),
			     SLICE("application/sdp")))
		return false;
	*sdp = skip(part, (size_t)end + 4);
	return true;
}

static bool multipart_sdp(struct slice body, struct slice boundary,
			  struct slice *sdp)
{
	char delimiter[2 + BOUNDARY_MAX] = "--";
	struct slice mark = { delimiter, boundary.len + 2 };
	ptrdiff_t at;

	if (!boundary.len || boundary.len > BOUNDARY_MAX)
		return false;
	memcpy(delimiter + 2, boundary.ptr, boundary.len);
	at = find(body, mark);
	for (int i = 0; at >= 0 && i < PARTS_MAX; i++) {
		struct slice part;

		body = skip(body, (size_t)at + mark.len);
		at = find(body, mark);
		if (at < 0)
			return false;
		part = slice_make(body.ptr, (size_t)at);
		if (part_sdp(part, sdp)) {
			/* the CRLF before a delimiter belongs to it; SDP may
			 * well keep its own */
			if (sdp->len >= 2)
				sdp->len -= 2;
			return true;
		}
	}
	return false;
}

int body_sdp(const struct sip_message *message, struct slice *sdp)
{
	const struct sip_header *type =
		sip_message_header(message, SIP_H_CONTENT_TYPE, 0);
	const struct sip_header *encoding =
		sip_message_header(message, SIP_H_CONTENT_ENCODING, 0);
	struct slice boundary = { 0 };
	struct slice name, params;

	*sdp = SLICE("");
	if (!message->body.len)
		return 0;
	if (!type ||
	    (encoding && !slice_eq_nocase(encoding->value, SLICE("identity"))))
		return 415;
	name = media_type(type->value);
	if (slice_eq_nocase(name, SLICE("application/sdp"))) {
		*sdp = message->body;
		return 0;
	}
	params = type->value;
	params.ptr += name.len;
	params.len -= name.len;
	if (!slice_eq_nocase(name, SLICE("multipart/mixed")) &&
	    !slice_eq_nocase(name, SLICE("multipart/alternative")))
		return 415;
	if (!sip_param(params, "boundary", &boundary) ||
	    !multipart_sdp(message->body, boundary, sdp))
		return 415;
	return 0;
}
