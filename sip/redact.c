/* SPDX-License-Identifier: MIT */
#include "sip/redact.h"
#include "sip/header.h"
#include "sip/lex.h"
#include "sip/message_priv.h"

enum { PARTS_MAX = 16, DEPTH_MAX = 2, SUITE_MAX_BYTES = 32 };

#define REMOVED "...removed"

/* ---- text ---- */

/* C0 but for CR, LF and TAB, DEL, and C1, which terminals obey too. */
static bool is_control(struct slice c)
{
	unsigned char first = (unsigned char)c.ptr[0];

	if (c.len == 2 && first == 0xc2)
		return (unsigned char)c.ptr[1] < 0xa0;
	return (first < ' ' && !strchr("\r\n\t", first)) || first == 0x7f ||
	       !first;
}

/* Bytes of the character at the start of text; 0: none is whole there. */
static size_t character(struct slice text)
{
	for (size_t n = 1; n <= 4 && n <= text.len; n++)
		if (slice_is_utf8(slice_make(text.ptr, n)))
			return n;
	return 0;
}

static bool is_plain(struct slice text)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if (c >= 0x7f ||
		    (c < ' ' && c != '\r' && c != '\n' && c != '\t'))
			return false;
	}
	return true;
}

static void add(struct buffer *out, struct slice text)
{
	if (is_plain(text)) {
		buffer_add(out, text);
		return;
	}
	while (text.len) {
		size_t n = character(text);
		struct slice c = slice_make(text.ptr, n ? n : 1);

		if (!n || is_control(c))
			buffer_add_char(out, '?');
		else
			buffer_add(out, c);
		text = lex_skip(text, c.len);
	}
}

/* Offset of word, which begins with a small letter, in any case; or -1. */
static ptrdiff_t find_nocase(struct slice text, struct slice word)
{
	for (size_t i = 0; i + word.len <= text.len; i++)
		if ((text.ptr[i] | 32) == word.ptr[0] &&
		    slice_eq_nocase(slice_make(text.ptr + i, word.len), word))
			return (ptrdiff_t)i;
	return -1;
}

static bool has_prefix_nocase(struct slice text, struct slice prefix)
{
	return text.len >= prefix.len &&
	       slice_eq_nocase(slice_make(text.ptr, prefix.len), prefix);
}

/* ---- head ---- */

/* Of "user:password@..." behind a scheme: where the password lies. False: there
 * is none. */
static bool find_password(struct slice rest, size_t *at, size_t *end)
{
	size_t colon = 0;

	for (size_t i = 0; i < rest.len; i++) {
		char c = rest.ptr[i];

		if (c == '@') {
			*at = colon;
			*end = i;
			return colon != 0;
		}
		if (lex_is_space(c) || strchr("<>\"", c))
			return false;
		if (c == ':' && !colon)
			colon = i + 1;
	}
	return false;
}

/* A line of the head as it is, but for passwords in its URIs. */
static void add_uris(struct buffer *out, struct slice line)
{
	size_t at, end;
	ptrdiff_t i;

	while ((i = find_nocase(line, SLICE("sip"))) >= 0) {
		size_t n = (size_t)i + 3;

		if (n < line.len && (line.ptr[n] | 32) == 's')
			n++;
		if (n < line.len && line.ptr[n] == ':')
			n++;
		else
			n = (size_t)i + 3;
		add(out, slice_make(line.ptr, n));
		line = lex_skip(line, n);
		if (line.ptr[-1] != ':' || !find_password(line, &at, &end))
			continue;
		add(out, slice_make(line.ptr, at));
		buffer_add_str(out, REMOVED);
		line = lex_skip(line, end);
	}
	add(out, line);
}

static bool is_credential(enum sip_header_id id)
{
	return id == SIP_H_AUTHORIZATION || id == SIP_H_PROXY_AUTHORIZATION;
}

/* "Digest ...removed"; a word that is no scheme could be the secret. */
static void add_credential(struct buffer *out, struct slice name,
			   struct slice value)
{
	static const char *const schemes[] = { "Digest", "Bearer", "Basic" };
	struct slice scheme = slice_cut(&value, ' ');

	add(out, name);
	buffer_add_str(out, ": ");
	for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++)
		if (slice_eq_nocase(scheme, slice_of(schemes[i])))
			buffer_printf(out, "%s ", schemes[i]);
	buffer_add_str(out, REMOVED);
}

/* Cuts a line off with its end, which is CR, LF or both: what one reader takes
 * for a line, none may hide in another. */
static bool next_line(struct slice *text, struct slice *line)
{
	size_t n = 0;

	if (!text->len)
		return false;
	while (n < text->len && text->ptr[n] != '\r' && text->ptr[n] != '\n')
		n++;
	*line = slice_make(text->ptr, n);
	*text = lex_skip(*text, n);
	if (slice_has_prefix(*text, SLICE("\r\n")))
		*text = lex_skip(*text, 2);
	else if (text->len)
		*text = lex_skip(*text, 1);
	return true;
}

/* Stray bytes make no other header of it: the name alone decides. */
static enum sip_header_id id_of(struct slice line, struct slice *name,
				struct slice *value)
{
	/* Content-Type, credentials, Call-ID, CSeq and what is indented. */
	if (!line.len || !strchr("cCaApPiI \t", line.ptr[0]))
		return SIP_H_OTHER;
	*value = line;
	*name = lex_trim(slice_cut(value, ':'));
	if (!value->ptr)
		return SIP_H_OTHER;
	*value = lex_trim(*value);
	return sip_header_find(*name);
}

/* The lines of a head, without the empty one. type, if not NULL, gets what
 * Content-Type says. */
static void add_head(struct buffer *out, struct slice head, struct slice *type)
{
	enum sip_header_id id = SIP_H_OTHER;
	struct slice line, name, value;

	while (next_line(&head, &line) && line.len) {
		bool is_more = line.ptr[0] == ' ' || line.ptr[0] == '\t';

		enum sip_header_id own = id_of(line, &name, &value);

		if (is_more && is_credential(id))
			continue;
		if (!is_more || is_credential(own))
			id = own;
		if (is_credential(id))
			add_credential(out, name, value);
		else
			add_uris(out, line);
		buffer_add_str(out, "\r\n");
		if (id == SIP_H_CONTENT_TYPE && !is_more && type)
			*type = value;
	}
}

/* ---- body ---- */

/* "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:...removed" (RFC 4568, 4). */
static void add_crypto(struct buffer *out, struct slice rest)
{
	struct slice tag = slice_cut(&rest, ' ');
	struct slice suite = slice_cut(&rest, ' ');
	uint64_t number;

	buffer_add_str(out, "a=crypto:");
	if (!slice_to_u64(&number, tag, UINT32_MAX) && lex_is_token(suite) &&
	    suite.len <= SUITE_MAX_BYTES) {
		add(out, tag);
		buffer_add_char(out, ' ');
		add(out, suite);
		buffer_add_str(out, " inline:");
	}
	buffer_add_str(out, REMOVED);
}

/* Length of what may stay of a line that has a secret behind it; 0: all. */
static size_t find_secret(struct slice line)
{
	static const char *const starts[] = { "a=key-mgmt:", "a=ice-pwd:",
					      "k=" };
	static const struct slice key = { "inline:", 7 };
	ptrdiff_t at = find_nocase(line, key);

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (has_prefix_nocase(line, slice_of(starts[i])))
			return strlen(starts[i]);
	return at < 0 ? 0 : (size_t)at + key.len;
}

static void add_sdp_line(struct buffer *out, struct slice line)
{
	static const struct slice crypto = { "a=crypto:", 9 };
	size_t n;

	if (has_prefix_nocase(line, crypto)) {
		add_crypto(out, lex_skip(line, crypto.len));
		return;
	}
	n = find_secret(line);
	add(out, n ? slice_make(line.ptr, n) : line);
	if (n)
		buffer_add_str(out, REMOVED);
}

static void add_sdp(struct buffer *out, struct slice sdp)
{
	struct slice line;

	while (next_line(&sdp, &line)) {
		add_sdp_line(out, line);
		buffer_add_str(out, "\r\n");
	}
}

static void add_length(struct buffer *out, struct slice type, size_t n)
{
	buffer_add_char(out, '[');
	add(out, type.len ? type : SLICE("body"));
	buffer_printf(out, ", %zu bytes, not kept]\r\n", n);
}

static void add_body(struct buffer *out, struct slice type, struct slice body,
		     unsigned depth);

static void add_part(struct buffer *out, struct slice part, unsigned depth)
{
	size_t head = sip_head_end(part);
	struct slice type = SLICE("");

	if (slice_has_prefix(part, SLICE("\r\n")))
		head = 2; /* no lines, hence no type */
	else
		add_head(out, slice_make(part.ptr, head), &type);
	buffer_add_str(out, "\r\n");
	add_body(out, type, lex_skip(part, head), depth + 1);
}

static void add_parts(struct buffer *out, struct slice boundary,
		      struct slice body, unsigned depth)
{
	struct buffer mark;

	buffer_init(&mark, 128);
	buffer_add_str(&mark, "--");
	buffer_add(&mark, boundary);
	for (unsigned i = 0; i < PARTS_MAX && !buffer_error(&mark); i++) {
		const char *at = memmem(body.ptr, body.len, mark.ptr, mark.len);
		const char *end;

		if (!at)
			break;
		body = lex_skip(body, (size_t)(at - body.ptr) + mark.len);
		if (slice_has_prefix(body, SLICE("\r\n")))
			body = lex_skip(body, 2);
		end = memmem(body.ptr, body.len, mark.ptr, mark.len);
		if (!end)
			break;
		add(out, buffer_slice(&mark));
		buffer_add_str(out, "\r\n");
		add_part(out, slice_make(body.ptr, (size_t)(end - body.ptr)),
			 depth);
	}
	add(out, buffer_slice(&mark));
	buffer_add_str(out, "--\r\n");
	buffer_reset(&mark);
}

static bool is_type(struct slice type, const char *wanted)
{
	return slice_eq_nocase(type, slice_of(wanted));
}

static void add_body(struct buffer *out, struct slice type, struct slice body,
		     unsigned depth)
{
	struct slice params = type, boundary = SLICE("");
	struct slice name = slice_trim(slice_cut(&params, ';'));

	if (params.ptr) /* with its semicolon */
		params = slice_make(params.ptr - 1, params.len + 1);
	if (!body.len)
		return;
	if (is_type(name, "application/sdp"))
		add_sdp(out, body);
	else if (is_type(name, "message/sipfrag"))
		add_head(out, body, NULL);
	else if (depth < DEPTH_MAX && name.len > 10 &&
		 is_type(slice_make(name.ptr, 10), "multipart/") &&
		 sip_param(params, "boundary", &boundary) && boundary.len)
		add_parts(out, boundary, body, depth);
	else
		add_length(out, name, body.len);
}

void sip_redact(struct buffer *out, struct slice text)
{
	struct slice type = SLICE(""), body = SLICE("");
	size_t head = sip_head_end(text);
	size_t cut = 0;

	if (head)
		body = lex_skip(text, head);
	add_head(out, head ? slice_make(text.ptr, head) : text, &type);
	buffer_add_str(out, "\r\n");
	if (body.len > REDACT_BODY_MAX_BYTES) {
		cut = body.len - REDACT_BODY_MAX_BYTES;
		body.len = REDACT_BODY_MAX_BYTES;
	}
	add_body(out, type, body, 0);
	if (cut)
		buffer_printf(out, "[%zu more bytes, not kept]\r\n", cut);
}

/* ---- a glance ---- */

static void glance_start(struct sip_glance *out)
{
	struct slice rest = out->start_line;
	struct slice first = slice_cut(&rest, ' ');
	uint64_t status;

	if (!slice_has_prefix(first, SLICE("SIP/")))
		out->method = first;
	else if (!slice_to_u64(&status, slice_cut(&rest, ' '), 699))
		out->status = (int)status;
}

void sip_glance(struct sip_glance *out, struct slice text)
{
	struct slice line, name, value;

	*out = (struct sip_glance){ 0 };
	if (!next_line(&text, &out->start_line))
		return;
	glance_start(out);
	while (next_line(&text, &line) && line.len) {
		enum sip_header_id id = id_of(line, &name, &value);

		if (id == SIP_H_CALL_ID && !out->call_id.ptr)
			out->call_id = value;
		else if (id == SIP_H_CSEQ && !out->cseq.ptr)
			out->cseq = value;
	}
	if (out->method.ptr)
		return;
	value = out->cseq;
	slice_cut(&value, ' ');
	out->method = lex_trim(value);
}
