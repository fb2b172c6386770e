/* SPDX-License-Identifier: MIT */
#include "sip/message_priv.h"
#include <errno.h>
#include "sip/lex.h"

enum { HEAD_MAX_BYTES = 16384 };

size_t sip_head_end(struct slice text)
{
	const char *end;

	if (text.len < 4)
		return 0;
	end = memmem(text.ptr, text.len, "\r\n\r\n", 4);
	return end ? (size_t)(end - text.ptr) + 4 : 0;
}

/* Index of the CRLF that ends the logical line at the start of head; a line
 * that begins with a space goes on with the one before (RFC 3261, 7.3.1). */
static size_t line_end(struct slice head)
{
	size_t i = 0;

	while (i + 1 < head.len) {
		const char *lf =
			memchr(head.ptr + i + 1, '\n', head.len - i - 1);

		if (!lf)
			break;
		i = (size_t)(lf - head.ptr);
		if (head.ptr[i - 1] != '\r')
			continue;
		if (i + 1 == head.len ||
		    (head.ptr[i + 1] != ' ' && head.ptr[i + 1] != '\t'))
			return i - 1;
	}
	return head.len;
}

bool sip_head_line(struct slice *head, struct slice *line)
{
	size_t end;

	if (!head->len || slice_has_prefix(*head, SLICE("\r\n")))
		return false;
	end = line_end(*head);
	*line = slice_make(head->ptr, end);
	*head = lex_skip(*head, end + 2 <= head->len ? end + 2 : head->len);
	return true;
}

/* NUL has its place in a quoted-pair alone (25.1). */
static bool has_loose_nul(struct slice value)
{
	bool is_quoted = false;
	size_t i;

	for (i = 0; i < value.len; i++) {
		if (value.ptr[i] == '\0')
			return true;
		if (value.ptr[i] == '"')
			is_quoted = !is_quoted;
		else if (is_quoted && value.ptr[i] == '\\')
			i++;
	}
	return false;
}

int sip_head_split(struct slice line, struct slice *name, struct slice *value)
{
	ptrdiff_t colon = slice_find(line, ':');
	size_t i;

	if (colon <= 0 || line.ptr[0] == ' ' || line.ptr[0] == '\t')
		return -EINVAL;
	*name = slice_trim(slice_make(line.ptr, (size_t)colon));
	*value = lex_trim(lex_skip(line, (size_t)colon + 1));
	if (!lex_is_token(*name))
		return -EINVAL;
	/* A CR or LF alone would be a line end to some and not to others. */
	for (i = 0; i < value->len; i++) {
		char next = i + 1 < value->len ? value->ptr[i + 1] : '\0';
		char last = i ? value->ptr[i - 1] : '\0';

		if ((value->ptr[i] == '\r' && next != '\n') ||
		    (value->ptr[i] == '\n' && last != '\r'))
			return -EINVAL;
	}
	return has_loose_nul(*value) ? -EINVAL : 0;
}

/* Length of the body, or a negative status: absent, no number, too large, or
 * two that differ. */
static ssize_t content_length(struct slice head)
{
	struct slice line, name, value;
	uint64_t length = 0, other;
	bool is_found = false;
	int err;

	if (!sip_head_line(&head, &line))
		return -400;
	while (sip_head_line(&head, &line)) {
		if (sip_head_split(line, &name, &value) ||
		    sip_header_find(name) != SIP_H_CONTENT_LENGTH)
			continue;
		err = slice_to_u64(&other, value, SIP_MESSAGE_MAX_BYTES);
		if (err)
			return err == -ERANGE ? -413 : -400;
		if (is_found && other != length)
			return -400;
		length = other;
		is_found = true;
	}
	return is_found ? (ssize_t)length : -400;
}

ssize_t sip_message_frame(struct slice text)
{
	size_t head = sip_head_end(text);
	ssize_t body;

	if (!head)
		return text.len > HEAD_MAX_BYTES ? -513 : 0;
	if (head > HEAD_MAX_BYTES)
		return -513;
	body = content_length(slice_make(text.ptr, head));
	if (body < 0)
		return body;
	if (head + (size_t)body > SIP_MESSAGE_MAX_BYTES)
		return -413;
	return head + (size_t)body <= text.len ? (ssize_t)head + body : 0;
}
