/* SPDX-License-Identifier: MIT */
#include "sip/lex.h"
#include <errno.h>
#include "core/addr.h"

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9');
}

static bool is_token_char(char c)
{
	return is_alnum(c) || (c && strchr("-.!%*_+`'~", c));
}

bool lex_is_token(struct slice text)
{
	size_t i;

	for (i = 0; i < text.len; i++)
		if (!is_token_char(text.ptr[i]))
			return false;
	return text.len > 0;
}

bool lex_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct slice lex_skip(struct slice text, size_t n)
{
	return slice_make(text.ptr + n, text.len - n);
}

struct slice lex_trim(struct slice text)
{
	while (text.len && lex_is_space(text.ptr[0]))
		text = lex_skip(text, 1);
	while (text.len && lex_is_space(text.ptr[text.len - 1]))
		text.len--;
	return text;
}

/* Index behind the closing quote of the string that opens at i, or 0. */
static size_t skip_quoted(struct slice text, size_t i)
{
	for (i++; i < text.len; i++) {
		if (text.ptr[i] == '\\')
			i++;
		else if (text.ptr[i] == '"')
			return i + 1;
	}
	return 0;
}

static size_t skip_brackets(struct slice text, size_t i)
{
	for (i++; i < text.len; i++)
		if (text.ptr[i] == '>')
			return i + 1;
	return 0;
}

int lex_find(struct slice text, const char *set, size_t *at)
{
	size_t i = 0;

	while (i < text.len) {
		char c = text.ptr[i];

		if (c && strchr(set, c))
			break;
		if (c == '"')
			i = skip_quoted(text, i);
		else if (c == '<')
			i = skip_brackets(text, i);
		else
			i++;
		if (!i)
			return -EINVAL;
	}
	*at = i;
	return 0;
}

bool lex_next_element(struct slice *rest, struct slice *element)
{
	size_t at;

	if (!rest->ptr)
		return false;
	if (lex_find(*rest, ",", &at))
		at = rest->len;
	*element = lex_trim(slice_make(rest->ptr, at));
	if (at < rest->len)
		*rest = lex_skip(*rest, at + 1);
	else
		*rest = (struct slice){ 0 };
	return true;
}

/* The value behind '=': a quoted string or what stands before a space or
 * separator. */
static int take_value(struct slice *rest, struct slice *value)
{
	struct slice text = *rest;
	size_t end = 0;

	while (text.len && lex_is_space(text.ptr[0]))
		text = lex_skip(text, 1);
	if (text.len && text.ptr[0] == '"') {
		end = skip_quoted(text, 0);
		if (!end)
			return -EINVAL;
		*value = slice_make(text.ptr + 1, end - 2);
	} else {
		while (end < text.len && !lex_is_space(text.ptr[end]) &&
		       !strchr(";,\"<>", text.ptr[end]))
			end++;
		*value = slice_make(text.ptr, end);
	}
	*rest = lex_skip(text, end);
	return 0;
}

int lex_next_param(struct slice *rest, struct slice *name, struct slice *value)
{
	struct slice text = lex_trim(*rest);
	size_t end = 0;
	int err = 0;

	if (!text.len)
		return 0;
	if (text.ptr[0] != ';')
		return -EINVAL;
	text = lex_trim(lex_skip(text, 1));
	while (end < text.len && is_token_char(text.ptr[end]))
		end++;
	if (!end)
		return -EINVAL;
	*name = slice_make(text.ptr, end);
	*value = slice_make(text.ptr + end, 0);
	text = lex_trim(lex_skip(text, end));
	if (text.len && text.ptr[0] == '=') {
		text = lex_skip(text, 1);
		err = take_value(&text, value);
	}
	if (err)
		return err;
	*rest = text;
	return 1;
}

static bool is_label(struct slice label)
{
	size_t i;

	for (i = 0; i < label.len; i++)
		if (!is_alnum(label.ptr[i]) && label.ptr[i] != '-' &&
		    label.ptr[i] != '_')
			return false;
	return label.len > 0 && label.len < 64 && label.ptr[0] != '-' &&
	       label.ptr[label.len - 1] != '-';
}

static bool is_digits(struct slice text)
{
	size_t i;

	for (i = 0; i < text.len; i++)
		if (text.ptr[i] < '0' || text.ptr[i] > '9')
			return false;
	return text.len > 0;
}

/* One colon too many before an IPv4 part is what the grammar of RFC 3261 made
 * of it: tolerated (RFC 5118, 4.10). */
static bool is_ipv6(struct slice host)
{
	char text[ADDR_TEXT_SIZE];
	struct addr addr;
	const char *three = memmem(host.ptr, host.len, ":::", 3);
	size_t at = three ? (size_t)(three - host.ptr) : 0;

	if (!three)
		return addr_parse(&addr, host, 0) == 0;
	if (host.len >= sizeof(text))
		return false;
	memcpy(text, host.ptr, at);
	memcpy(text + at, three + 1, host.len - at - 1);
	return addr_parse(&addr, slice_make(text, host.len - 1), 0) == 0;
}

bool lex_is_host(struct slice host)
{
	struct slice label = { 0 };
	struct addr addr;

	if (!host.len || host.len > 255)
		return false;
	if (slice_find(host, ':') >= 0)
		return is_ipv6(host);
	if (host.ptr[host.len - 1] == '.')
		host.len--;
	for (struct slice rest = host; rest.ptr;) {
		label = slice_cut(&rest, '.');
		if (!is_label(label))
			return false;
	}
	/* A last label of digits is no top level domain (RFC 3261, 25.1). */
	return !is_digits(label) || addr_parse(&addr, host, 0) == 0;
}

static int take_host(struct slice *rest, struct slice *host)
{
	struct slice text = *rest;
	ptrdiff_t end = 0;

	if (text.len && text.ptr[0] == '[') {
		end = slice_find(text, ']');
		if (end < 0)
			return -EINVAL;
		*host = slice_make(text.ptr + 1, (size_t)end - 1);
		if (slice_find(*host, ':') < 0)
			return -EINVAL;
		end++;
	} else {
		while ((size_t)end < text.len &&
		       (is_alnum(text.ptr[end]) ||
			(text.ptr[end] && strchr("-._", text.ptr[end]))))
			end++;
		*host = slice_make(text.ptr, (size_t)end);
	}
	if (!lex_is_host(*host))
		return -EINVAL;
	*rest = lex_skip(text, (size_t)end);
	return 0;
}

int lex_host_port(struct slice *rest, struct slice *host, uint16_t *port)
{
	struct slice text = *rest, after;
	uint64_t number = 0;
	size_t n = 0;

	*port = 0;
	if (take_host(&text, host))
		return -EINVAL;
	after = lex_trim(text);
	if (!after.len || after.ptr[0] != ':') {
		*rest = text;
		return 0;
	}
	after = lex_trim(lex_skip(after, 1));
	while (n < after.len && after.ptr[n] >= '0' && after.ptr[n] <= '9')
		n++;
	if (slice_to_u64(&number, slice_make(after.ptr, n), 65535) || !number)
		return -EINVAL;
	*port = (uint16_t)number;
	*rest = lex_skip(after, n);
	return 0;
}
