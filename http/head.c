/* SPDX-License-Identifier: MIT */
#include "http/head.h"

#include <errno.h>
#include <string.h>
#include <llhttp.h>

#define VERSIONS "only HTTP/1.1 and 1.0 are spoken here"

enum { URL_MAX_BYTES = 8 * 1024, CONTENT_LENGTH_MAX = 1 << 30 };

/* What llhttp 8.1 lets through and a proxy in front may read otherwise. */
static const char *scan(struct slice text)
{
	if (slice_has_prefix(text, SLICE("\r\n")))
		return "empty line before the request";
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		bool has_next = i + 1 < text.len;

		if (c == '\0')
			return "NUL in the request head";
		if (c == '\r' && (!has_next || text.ptr[i + 1] != '\n'))
			return "CR without LF in the request head";
		if (c == '\n' && (!i || text.ptr[i - 1] != '\r'))
			return "LF without CR in the request head";
		if (c == '\n' && has_next &&
		    (text.ptr[i + 1] == ' ' || text.ptr[i + 1] == '\t'))
			return "folded header line";
	}
	return NULL;
}

long head_end(struct slice text)
{
	const char *end =
		text.len ? memmem(text.ptr, text.len, "\r\n\r\n", 4) : NULL;

	if (end && end - text.ptr + 4 <= HEAD_MAX_BYTES)
		return end - text.ptr + 4;
	if (text.len >= HEAD_MAX_BYTES)
		return -431;
	/* Refused now, what is broken need not be waited for. */
	if (text.len && text.ptr[text.len - 1] == '\r')
		text.len--;
	return scan(text) ? -400 : 0;
}

/* ---- llhttp tells pieces; the text is whole, so each comes at once ---- */

struct collector {
	llhttp_t parser;
	struct head *head;
	struct slice url;
	struct head_header header; /* so far */
	int error;
};

static void extend(struct slice *slice, const char *at, size_t len)
{
	if (!slice->ptr)
		slice->ptr = at;
	slice->len = (size_t)(at + len - slice->ptr);
}

static int on_url(llhttp_t *parser, const char *at, size_t len)
{
	struct collector *collector = parser->data;

	extend(&collector->url, at, len);
	return 0;
}

static int on_field(llhttp_t *parser, const char *at, size_t len)
{
	struct collector *collector = parser->data;

	extend(&collector->header.name, at, len);
	return 0;
}

static int on_value(llhttp_t *parser, const char *at, size_t len)
{
	struct collector *collector = parser->data;

	extend(&collector->header.value, at, len);
	return 0;
}

/* Comes for empty values too. */
static int on_header(llhttp_t *parser)
{
	struct collector *collector = parser->data;
	struct head *head = collector->head;
	struct head_header *header = &collector->header;

	if (head->n_headers == HEAD_HEADERS_MAX) {
		collector->error = -431;
		return -1;
	}
	/* llhttp takes "Content-Length : 5" for a header of another name. */
	if (!header->name.len || slice_find(header->name, ' ') >= 0 ||
	    header->name.ptr[header->name.len] != ':') {
		collector->error = -400;
		return -1;
	}
	if (!header->value.ptr)
		header->value = SLICE("");
	header->value = slice_trim(header->value);
	head->headers[head->n_headers++] = *header;
	*header = (struct head_header){ 0 };
	return 0;
}

static int on_head_done(llhttp_t *parser)
{
	(void)parser;
	return HPE_PAUSED;
}

static int run_llhttp(struct collector *collector, struct slice text)
{
	llhttp_settings_t settings;
	enum llhttp_errno result;

	llhttp_settings_init(&settings);
	settings.on_url = on_url;
	settings.on_header_field = on_field;
	settings.on_header_value = on_value;
	settings.on_header_value_complete = on_header;
	settings.on_headers_complete = on_head_done;
	llhttp_init(&collector->parser, HTTP_REQUEST, &settings);
	collector->parser.data = collector;
	result = llhttp_execute(&collector->parser, text.ptr, text.len);
	if (collector->error)
		return collector->error;
	if (result == HPE_INVALID_VERSION)
		return -505;
	return result == HPE_PAUSED ? 0 : -400; /* OK: no head was in it */
}

struct slice head_value(const struct head *head, const char *name)
{
	for (size_t i = 0; i < head->n_headers; i++) {
		if (slice_eq_nocase(head->headers[i].name, slice_of(name)))
			return head->headers[i].value;
	}
	return (struct slice){ 0 };
}

static unsigned count(const struct head *head, const char *name)
{
	unsigned n = 0;

	for (size_t i = 0; i < head->n_headers; i++)
		n += slice_eq_nocase(head->headers[i].name, slice_of(name));
	return n;
}

/* host[:port]; nothing that a proxy could read as a path or a second host. */
static bool is_host(struct slice host)
{
	for (size_t i = 0; i < host.len; i++) {
		if (host.ptr[i] <= ' ' || host.ptr[i] == 0x7f ||
		    strchr("/\\?#@,\"<>", host.ptr[i]))
			return false;
	}
	return true;
}

static const char *check_framing(struct head *head)
{
	struct slice length = head_value(head, "Content-Length");
	struct slice coding = head_value(head, "Transfer-Encoding");
	int err = 0;

	if (count(head, "Host") > 1 || (!count(head, "Host") && !head->is_old))
		return "exactly one Host header is needed";
	if (!is_host(head_value(head, "Host")))
		return "the Host header is malformed";
	if (count(head, "Content-Length") > 1 ||
	    count(head, "Transfer-Encoding") > 1)
		return "more than one header frames the body";
	if (coding.ptr && (length.ptr || head->is_old))
		return "Transfer-Encoding beside Content-Length or in "
		       "HTTP/1.0";
	if (length.ptr)
		err = slice_to_u64(&head->content_length, length,
				   CONTENT_LENGTH_MAX);
	if (err == -EINVAL)
		return "Content-Length is no number";
	if (err == -ERANGE)
		head->content_length = CONTENT_LENGTH_MAX; /* as refused */
	head->is_chunked = coding.ptr != NULL;
	return NULL;
}

/* In any header of that name. */
static bool has_token(const struct head *head, const char *name,
		      const char *token)
{
	for (size_t i = 0; i < head->n_headers; i++) {
		struct slice list = head->headers[i].value;

		if (!slice_eq_nocase(head->headers[i].name, slice_of(name)))
			continue;
		while (list.len) {
			struct slice one = slice_trim(slice_cut(&list, ','));

			if (slice_eq_nocase(one, slice_of(token)))
				return true;
		}
	}
	return false;
}

/* "GET target HTTP/1.1" with one space each; llhttp takes more, and also
 * RTSP and no version at all. */
static const char *check_line(struct head *head, struct slice text,
			      struct slice url)
{
	struct slice rest = text;
	const char *after = url.ptr + url.len;

	head->method = slice_cut(&rest, ' ');
	if (rest.ptr != url.ptr ||
	    !slice_has_prefix(
		    slice_make(after, (size_t)(text.ptr + text.len - after)),
		    SLICE(" HTTP/")))
		return "the request line is malformed";
	return NULL;
}

/* What is behind "http://host"; empty when url is of another form. */
static struct slice behind_host(struct slice url)
{
	struct slice rest = url;
	struct slice scheme = slice_cut(&rest, ':');
	ptrdiff_t at;

	if ((!slice_eq_nocase(scheme, SLICE("http")) &&
	     !slice_eq_nocase(scheme, SLICE("https"))) ||
	    !slice_has_prefix(rest, SLICE("//")))
		return (struct slice){ 0 };
	rest = slice_make(rest.ptr + 2, rest.len - 2);
	at = slice_find(rest, '/');
	return at < 0 ? SLICE("/")
		      : slice_make(rest.ptr + at, rest.len - (size_t)at);
}

/* "/path?query", or the same behind "http://host" (RFC 9112, 3.2.2). */
static const char *take_target(struct head *head, struct slice url)
{
	for (size_t i = 0; i < url.len; i++) {
		if (url.ptr[i] <= ' ' || url.ptr[i] >= 0x7f ||
		    url.ptr[i] == '#')
			return "the request target holds a byte that it may "
			       "not";
	}
	head->query = url;
	head->path = slice_cut(&head->query, '?');
	if (!slice_has_prefix(head->path, SLICE("/")))
		head->path = behind_host(head->path);
	return head->path.len ? NULL : "the request target is not a path";
}

static int finish(struct head *head, const struct collector *collector,
		  struct slice text, const char **why)
{
	struct slice coding = head_value(head, "Transfer-Encoding");

	*why = check_line(head, text, collector->url);
	if (*why)
		return -400;
	if (collector->parser.http_major != 1) {
		*why = VERSIONS;
		return -505;
	}
	if (collector->url.len > URL_MAX_BYTES) {
		*why = "the address is too long";
		return -414;
	}
	head->is_old = !collector->parser.http_minor;
	*why = check_framing(head);
	if (!*why)
		*why = take_target(head, collector->url);
	if (*why)
		return -400;
	if (coding.ptr && !slice_eq_nocase(coding, SLICE("chunked"))) {
		*why = "Transfer-Encoding other than chunked";
		return -501;
	}
	head->keeps_alive =
		!has_token(head, "Connection", "close") &&
		(!head->is_old || has_token(head, "Connection", "keep-alive"));
	head->expects_continue =
		!head->is_old && has_token(head, "Expect", "100-continue");
	return 0;
}

int head_parse(struct head *out, struct slice text, const char **why)
{
	struct collector collector = { .head = out };
	int err;

	memset(out, 0, sizeof(*out));
	*why = scan(text);
	if (*why)
		return -400;
	err = run_llhttp(&collector, text);
	if (err) {
		*why = err == -431   ? "too many headers"
		       : err == -505 ? VERSIONS
				     : "this is not an HTTP request";
		return err;
	}
	return finish(out, &collector, text, why);
}
