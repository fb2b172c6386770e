/* SPDX-License-Identifier: MIT */
#include "sip/message.h"
#include <assert.h>
#include "sip/lex.h"
#include "sip/message_priv.h"

static const char *const methods[] = {
	[SIP_INVITE] = "INVITE",     [SIP_ACK] = "ACK",
	[SIP_BYE] = "BYE",	     [SIP_CANCEL] = "CANCEL",
	[SIP_OPTIONS] = "OPTIONS",   [SIP_REFER] = "REFER",
	[SIP_NOTIFY] = "NOTIFY",     [SIP_UPDATE] = "UPDATE",
	[SIP_INFO] = "INFO",	     [SIP_PRACK] = "PRACK",
	[SIP_REGISTER] = "REGISTER", [SIP_SUBSCRIBE] = "SUBSCRIBE",
	[SIP_MESSAGE] = "MESSAGE",   [SIP_PUBLISH] = "PUBLISH",
	[SIP_UNKNOWN] = "",
};

/* Without these no response can be made, and no message is whole. */
static const enum sip_header_id mandatory[] = {
	SIP_H_VIA,     SIP_H_FROM, SIP_H_TO,
	SIP_H_CALL_ID, SIP_H_CSEQ, SIP_H_CONTENT_LENGTH
};

struct parse {
	struct sip_message *message;
	char *text; /* the arena's copy: folded lines are joined in it */
	size_t n;
	int status; /* first failure, negative */
	const char *why;
	struct sip_header headers[SIP_HEADERS_MAX];
};

static void fail(struct parse *p, int status, const char *why)
{
	if (p->status)
		return;
	p->status = -status;
	p->why = why;
}

static bool has_control(struct slice line)
{
	size_t i;

	for (i = 0; i < line.len; i++)
		if ((unsigned char)line.ptr[i] < ' ' || line.ptr[i] == 127)
			return true;
	return false;
}

static void parse_request_line(struct parse *p, struct slice line)
{
	struct sip_message *message = p->message;
	struct slice rest = line;
	struct slice method = slice_cut(&rest, ' ');
	struct slice target = slice_cut(&rest, ' ');

	if (!lex_is_token(method)) {
		fail(p, 400, "request line");
		return;
	}
	/* However bad the rest of the line, somebody asks and wants to know. */
	message->start.is_request = true;
	message->start.method_text = method;
	message->start.method = sip_method_parse(method);
	message->start.target = target;
	if (!target.len || !rest.len || slice_find(rest, ' ') >= 0 ||
	    has_control(line))
		fail(p, 400, "request line");
	if (!slice_eq_nocase(rest, SLICE("SIP/2.0")))
		fail(p, 505, "version");
	if (sip_uri_parse(&message->start.uri, target) == 0)
		return;
	if (sip_uri_is_foreign(target))
		fail(p, 416, "Request-URI scheme");
	fail(p, 400, "Request-URI");
}

static void parse_status_line(struct parse *p, struct slice line)
{
	struct slice rest = line;
	struct slice version = slice_cut(&rest, ' ');
	struct slice code = slice_cut(&rest, ' ');
	uint64_t status;

	if (!slice_eq_nocase(version, SLICE("SIP/2.0")))
		fail(p, 505, "version");
	if (code.len != 3 || slice_to_u64(&status, code, 699) || status < 100 ||
	    has_control(rest)) {
		fail(p, 400, "status line");
		return;
	}
	p->message->start.status = (int)status;
	p->message->start.reason = rest;
}

/* Each fold with the spaces around it becomes one space (7.3.1); what that
 * leaves over of the text is blank. */
static struct slice unfold(struct parse *p, struct slice value)
{
	char *out = p->text + (value.ptr - p->text);
	size_t i, n = 0;

	if (slice_find(value, '\n') < 0)
		return value;
	for (i = 0; i < value.len; i++) {
		char c = value.ptr[i];

		if (c != '\r') {
			out[n++] = c;
			continue;
		}
		while (n && (out[n - 1] == ' ' || out[n - 1] == '\t'))
			n--;
		while (i + 1 < value.len && lex_is_space(value.ptr[i + 1]))
			i++;
		out[n++] = ' ';
	}
	memset(out + n, ' ', value.len - n);
	return slice_make(out, n);
}

/* A quoted-pair may hold NUL (25.1), and no text of ours. What it stands in
 * counts in no comparison: display names (20.20). */
static void replace_nuls(struct parse *p, struct slice value)
{
	char *text = p->text + (value.ptr - p->text);
	size_t i;

	for (i = 0; i < value.len; i++)
		if (!text[i])
			text[i] = '?';
}

static const struct sip_header *find(const struct parse *p,
				     enum sip_header_id id)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->headers[i].id == id)
			return &p->headers[i];
	return NULL;
}

/* RFC 4475, 3.1.2.18: who asks for a method of the future may mean its CSeq. */
static int refusal(const struct parse *p, enum sip_header_id id)
{
	return id == SIP_H_CSEQ && p->message->start.is_request &&
			       p->message->start.method == SIP_UNKNOWN
		       ? 501
		       : 400;
}

static void add(struct parse *p, const struct sip_header *header)
{
	const struct sip_header_type *type = sip_header_type(header->id);
	const struct sip_header *first = NULL;

	if (header->id != SIP_H_OTHER)
		first = find(p, header->id);
	if (first && (type->form == SIP_FORM_SINGLE ||
		      (type->form == SIP_FORM_SAME &&
		       !slice_eq(first->value, header->value)))) {
		fail(p, 400, type->name);
		return;
	}
	if (p->n == SIP_HEADERS_MAX) {
		fail(p, 400, "number of headers");
		return;
	}
	p->headers[p->n++] = *header;
	if (!first && type->parse && type->parse(p->message, header->value))
		fail(p, refusal(p, header->id), type->name);
}

static void add_elements(struct parse *p, struct sip_header header)
{
	struct slice rest = header.value, element;
	size_t at, n = 0;

	if (lex_find(rest, "", &at)) {
		fail(p, 400, sip_header_type(header.id)->name);
		return;
	}
	while (p->n < SIP_HEADERS_MAX && lex_next_element(&rest, &element)) {
		if (!element.len)
			continue;
		header.value = element;
		add(p, &header);
		n++;
	}
	if (rest.ptr || !n)
		fail(p, 400, sip_header_type(header.id)->name);
}

static void parse_header(struct parse *p, struct slice line)
{
	struct sip_header header = { 0 };

	if (line.len > SIP_HEADER_MAX_BYTES)
		fail(p, 513, "header size");
	if (sip_head_split(line, &header.name, &header.value)) {
		fail(p, 400, "header line");
		return;
	}
	replace_nuls(p, header.value);
	header.id = sip_header_find(header.name);
	header.value = unfold(p, header.value);
	if (sip_header_type(header.id)->form == SIP_FORM_ELEMENTS)
		add_elements(p, header);
	else
		add(p, &header);
}

static void parse_head(struct parse *p, struct slice head)
{
	struct slice line;

	if (!sip_head_line(&head, &line)) {
		fail(p, 400, "start line");
		return;
	}
	if (line.len >= 4 &&
	    slice_eq_nocase(slice_make(line.ptr, 4), SLICE("SIP/")))
		parse_status_line(p, line);
	else
		parse_request_line(p, line);
	if (!p->message->start.is_request && !p->message->start.status)
		return; /* neither: nobody to answer, nothing to match */
	while (sip_head_line(&head, &line))
		parse_header(p, line);
}

static void check_whole(struct parse *p)
{
	const struct sip_header *length = find(p, SIP_H_CONTENT_LENGTH);
	uint64_t bytes;
	size_t i;

	for (i = 0; i < sizeof(mandatory) / sizeof(mandatory[0]); i++)
		if (!find(p, mandatory[i]))
			fail(p, 400, sip_header_type(mandatory[i])->name);
	if (length && (slice_to_u64(&bytes, length->value, UINT32_MAX) ||
		       bytes != p->message->body.len))
		fail(p, 400, "Content-Length");
}

/* A request whose sender can be told: the answer goes back on its connection,
 * and by the Via, be it right or wrong, it is known there. */
static bool is_answerable(const struct parse *p)
{
	return p->message->start.is_request && find(p, SIP_H_VIA);
}

int sip_message_parse(struct sip_message **out, struct slice text,
		      const char **why)
{
	struct arena *arena = arena_open();
	struct parse p = { .message = arena_new(arena, sizeof(*p.message)) };
	struct sip_header *headers;
	size_t head = sip_head_end(text);

	p.message->arena = arena;
	p.message->refs = 1;
	p.message->common.max_forwards = 70;
	if (text.len > SIP_MESSAGE_MAX_BYTES) {
		fail(&p, 413, "message size");
	} else if (!head) {
		fail(&p, 400, "end of headers");
	} else {
		p.text = arena_dup(arena, text);
		p.message->text = slice_make(p.text, text.len);
		p.message->body = slice_make(p.text + head, text.len - head);
		parse_head(&p, slice_make(p.text, head));
		check_whole(&p);
	}
	headers = arena_new(arena, sizeof(*headers) * (p.n + 1));
	memcpy(headers, p.headers, sizeof(*headers) * p.n);
	p.message->headers = headers;
	p.message->n_headers = p.n;
	if (p.status && !is_answerable(&p))
		sip_message_unref(&p.message);
	*out = p.message;
	if (why)
		*why = p.why;
	return p.status;
}

struct sip_message *sip_message_ref(struct sip_message *message)
{
	assert(message->refs > 0);
	message->refs++;
	return message;
}

void sip_message_unref(struct sip_message **message)
{
	struct sip_message *gone = *message;
	struct arena *arena;

	*message = NULL;
	if (!gone)
		return;
	assert(gone->refs > 0);
	if (--gone->refs)
		return;
	arena = gone->arena; /* holds the message itself */
	arena_close(&arena);
}

const struct sip_header *sip_message_header(const struct sip_message *message,
					    enum sip_header_id id, unsigned n)
{
	size_t i;

	for (i = 0; i < message->n_headers; i++)
		if (message->headers[i].id == id && n-- == 0)
			return &message->headers[i];
	return NULL;
}

struct slice sip_message_value(const struct sip_message *message,
			       struct slice name)
{
	enum sip_header_id id = sip_header_find(name);
	size_t i;

	for (i = 0; i < message->n_headers; i++) {
		const struct sip_header *header = &message->headers[i];

		if (id == SIP_H_OTHER ? slice_eq_nocase(header->name, name)
				      : header->id == id)
			return header->value;
	}
	return (struct slice){ 0 };
}

bool sip_message_has_token(const struct sip_message *message,
			   enum sip_header_id id, struct slice token)
{
	const struct sip_header *header;
	struct slice rest, element;
	unsigned n;

	for (n = 0; (header = sip_message_header(message, id, n)); n++) {
		rest = header->value;
		while (lex_next_element(&rest, &element))
			if (slice_eq_nocase(element, token))
				return true;
	}
	return false;
}

enum sip_method sip_method_parse(struct slice text)
{
	size_t i;

	for (i = 0; i < SIP_UNKNOWN; i++)
		if (slice_eq(text, slice_of(methods[i])))
			return (enum sip_method)i;
	return SIP_UNKNOWN;
}

const char *sip_method_name(enum sip_method method)
{
	return methods[method];
}
