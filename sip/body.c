/* SPDX-License-Identifier: MIT */
#include "sip/body.h"
#include "sip/header.h"
#include "sip/lex.h"

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
	char delimiter[4 + BOUNDARY_MAX] = "\r\n--";
	struct slice mark = { delimiter, boundary.len + 4 };
	struct slice first = { delimiter + 2, boundary.len + 2 };
	ptrdiff_t at;

	if (!boundary.len || boundary.len > BOUNDARY_MAX)
		return false;
	memcpy(delimiter + 4, boundary.ptr, boundary.len);
	if (slice_has_prefix(body, first))
		body = skip(body, first.len);
	else if ((at = find(body, mark)) >= 0)
		body = skip(body, (size_t)at + mark.len);
	else
		return false;
	for (int i = 0; i < PARTS_MAX; i++) {
		at = find(body, mark);
		if (at < 0)
			return false;
		if (part_sdp(slice_make(body.ptr, (size_t)at), sdp))
			return true;
		body = skip(body, (size_t)at + mark.len);
	}
	return false;
}

/* Does a media range of Accept hold SDP? */
static bool is_range_of_sdp(struct slice element)
{
	struct slice range = media_type(element);

	return slice_eq_nocase(range, SLICE("application/sdp")) ||
	       slice_eq_nocase(range, SLICE("application/*")) ||
	       slice_eq(range, SLICE("*/*"));
}

bool body_may_answer(const struct sip_message *request)
{
	const struct sip_header *accept;
	struct slice rest, element;
	unsigned n;

	for (n = 0; (accept = sip_message_header(request, SIP_H_ACCEPT, n));
	     n++) {
		rest = accept->value;
		while (lex_next_element(&rest, &element))
			if (is_range_of_sdp(element))
				return true;
	}
	return n == 0; /* absent: SDP is meant */
}

/* Whoever does not understand such a body ignores it (RFC 3261, 20.11). */
static bool is_optional(const struct sip_message *message)
{
	struct slice params =
		sip_message_value(message, SLICE("Content-Disposition"));
	struct slice kind = media_type(params), handling;

	return params.len &&
	       sip_param(skip(params, kind.len), "handling", &handling) &&
	       slice_eq_nocase(handling, SLICE("optional"));
}

static int find_sdp(const struct sip_message *message, struct slice *sdp)
{
	const struct sip_header *type =
		sip_message_header(message, SIP_H_CONTENT_TYPE, 0);
	const struct sip_header *encoding =
		sip_message_header(message, SIP_H_CONTENT_ENCODING, 0);
	struct slice boundary = { 0 };
	struct slice name, params;

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

int body_sdp(const struct sip_message *message, struct slice *sdp)
{
	int status = 0;

	*sdp = SLICE("");
	if (message->body.len)
		status = find_sdp(message, sdp);
	return status && is_optional(message) ? 0 : status;
}
