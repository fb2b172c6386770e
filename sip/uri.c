/* SPDX-License-Identifier: MIT */
#include "sip/uri.h"
#include <errno.h>
#include "core/hex.h"
#include "sip/lex.h"

static const char *const schemes[] = {
	[SIP_SCHEME_SIP] = "sip",
	[SIP_SCHEME_SIPS] = "sips",
	[SIP_SCHEME_TEL] = "tel",
	[SIP_SCHEME_OTHER] = "other", /* not ours to write */
};

static const char visual_separators[] = "-.()";

/* The character at *i, %XX resolved; *i moves behind it. */
static char next_char(struct slice text, size_t *i)
{
	char c = text.ptr[(*i)++];
	int high, low;

	if (c != '%' || *i + 2 > text.len)
		return c;
	high = hex_value(text.ptr[*i]);
	low = hex_value(text.ptr[*i + 1]);
	if (high < 0 || low < 0)
		return c;
	*i += 2;
	return (char)(high << 4 | low);
}

/* Visible ASCII without what delimits a URI in a header, escapes complete. */
static bool is_clean(struct slice text)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		char c = text.ptr[i];

		if (c <= ' ' || c >= 127 || strchr("<>\"\\^{}|", c))
			return false;
		if (c == '%' &&
		    (i + 2 >= text.len || hex_value(text.ptr[i + 1]) < 0 ||
		     hex_value(text.ptr[i + 2]) < 0))
			return false;
	}
	return true;
}

static bool is_scheme(struct slice text)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		bool is_letter =
			(c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

		if (!is_letter &&
		    (i == 0 || !((c >= '0' && c <= '9') || strchr("+-.", c))))
			return false;
	}
	return text.len > 0;
}

static int parse_scheme(struct sip_uri *uri, struct slice *rest)
{
	ptrdiff_t colon = slice_find(*rest, ':');
	size_t i;

	if (colon < 0)
		return -EINVAL;
	for (i = 0; i < SIP_SCHEME_OTHER; i++) {
		if (!slice_eq_nocase(slice_make(rest->ptr, (size_t)colon),
				     slice_of(schemes[i])))
			continue;
		uri->scheme = (enum sip_scheme)i;
		*rest = lex_skip(*rest, (size_t)colon + 1);
		return 0;
	}
	return -EINVAL;
}

/* One parameter of ";a=b;c" without spaces: a URI's own form, where a value
 * may hold what a header's parameter may not. */
static bool next_param(struct slice *rest, struct slice *name,
		       struct slice *value)
{
	if (!rest->len || rest->ptr[0] != ';')
		return false;
	*rest = lex_skip(*rest, 1);
	ptrdiff_t end = slice_find(*rest, ';');
	size_t len = end < 0 ? rest->len : (size_t)end;
	*value = slice_make(rest->ptr, len);
	*name = slice_cut(value, '=');
	*rest = lex_skip(*rest, len);
	return true;
}

static int check_params(struct slice params)
{
	struct slice name, value;

	while (next_param(&params, &name, &value))
		if (!name.len)
			return -EINVAL;
	return params.len ? -EINVAL : 0;
}

static bool is_tel_number(struct slice number)
{
	size_t i, digits = 0;

	if (number.len && number.ptr[0] == '+')
		number = lex_skip(number, 1);
	for (i = 0; i < number.len; i++) {
		char c = number.ptr[i];

		if (hex_value(c) >= 0 || c == '*' || c == '#')
			digits++;
		else if (!strchr(visual_separators, c))
			return false;
	}
	return digits > 0;
}

static int parse_tel(struct sip_uri *uri, struct slice rest)
{
	ptrdiff_t semicolon = slice_find(rest, ';');
	size_t len = semicolon < 0 ? rest.len : (size_t)semicolon;

	uri->user = slice_make(rest.ptr, len);
	uri->params = lex_skip(rest, len);
	if (!is_tel_number(uri->user) || check_params(uri->params))
		return -EINVAL;
	return 0;
}

static int parse_user(struct sip_uri *uri, struct slice *rest)
{
	ptrdiff_t at = slice_find(*rest, '@');
	struct slice userinfo;

	if (at < 0)
		return 0;
	userinfo = slice_make(rest->ptr, (size_t)at);
	*rest = lex_skip(*rest, (size_t)at + 1);
	if (slice_find(*rest, '@') >= 0)
		return -EINVAL;
	uri->user = slice_cut(&userinfo, ':');
	uri->password = userinfo;
	return uri->user.len ? 0 : -EINVAL;
}

int sip_uri_parse(struct sip_uri *out, struct slice text)
{
	struct sip_uri uri = { 0 };
	struct slice rest = text;
	ptrdiff_t question;

	if (!is_clean(text) || parse_scheme(&uri, &rest))
		return -EINVAL;
	if (uri.scheme == SIP_SCHEME_TEL) {
		if (parse_tel(&uri, rest))
			return -EINVAL;
		*out = uri;
		return 0;
	}
	if (parse_user(&uri, &rest) ||
	    lex_host_port(&rest, &uri.host, &uri.port))
		return -EINVAL;
	question = slice_find(rest, '?');
	uri.params = rest;
	if (question >= 0) {
		uri.params.len = (size_t)question;
		uri.headers = lex_skip(rest, (size_t)question + 1);
	}
	if (check_params(uri.params))
		return -EINVAL;
	*out = uri;
	return 0;
}

bool sip_uri_is_foreign(struct slice text)
{
	struct sip_uri uri;
	struct slice rest = text;
	struct slice scheme = slice_cut(&rest, ':');

	return is_clean(text) && is_scheme(scheme) && rest.len &&
	       parse_scheme(&uri, &text);
}

void sip_uri_write(struct buffer *out, const struct sip_uri *uri)
{
	buffer_printf(out, "%s:", schemes[uri->scheme]);
	buffer_add(out, uri->user);
	if (uri->password.len) {
		buffer_add_char(out, ':');
		buffer_add(out, uri->password);
	}
	if (uri->host.len) {
		bool is_v6 = slice_find(uri->host, ':') >= 0;

		buffer_add_str(out, uri->user.len ? "@" : "");
		buffer_add_str(out, is_v6 ? "[" : "");
		buffer_add(out, uri->host);
		buffer_add_str(out, is_v6 ? "]" : "");
	}
	if (uri->port)
		buffer_printf(out, ":%u", (unsigned)uri->port);
	buffer_add(out, uri->params);
	if (uri->headers.len) {
		buffer_add_char(out, '?');
		buffer_add(out, uri->headers);
	}
}

bool sip_uri_param(const struct sip_uri *uri, const char *name,
		   struct slice *value)
{
	struct slice params = uri->params, key;

	while (next_param(&params, &key, value))
		if (slice_eq_nocase(key, slice_of(name)))
			return true;
	*value = (struct slice){ 0 };
	return false;
}

bool sip_uri_header(const struct sip_uri *uri, const char *name, unsigned n,
		    struct slice *value)
{
	struct slice headers = uri->headers, key;

	while (headers.len) {
		*value = slice_cut(&headers, '&');
		key = slice_cut(value, '=');
		if (slice_eq_nocase(key, slice_of(name)) && n-- == 0)
			return true;
	}
	*value = (struct slice){ 0 };
	return false;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Digits of an E.164 number, without '+', into out; 0 when text is none. A
 * number without '+' has at least 7 digits, so that extensions stay as they
 * are, and does not start with 0. */
static size_t e164_digits(char out[16], struct slice text)
{
	bool has_plus = text.len && text.ptr[0] == '+';
	size_t i, n = 0;

	for (i = has_plus; i < text.len && text.ptr[i] != ';'; i++) {
		char c = text.ptr[i];

		if (c && strchr(visual_separators, c))
			continue;
		if (c < '0' || c > '9' || n == 15)
			return 0;
		out[n++] = c;
	}
	if (!n || out[0] == '0' || (!has_plus && n < 7))
		return 0;
	out[n] = '\0';
	return n;
}

/* Escapes may hide what is no text: then they stay. C1 controls are none
 * either, as terminals obey them. */
static bool is_text(struct slice text)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if (c < ' ' || c == 127)
			return false;
		if (c == 0xc2 && i + 1 < text.len &&
		    (unsigned char)text.ptr[i + 1] < 0xa0)
			return false;
	}
	return slice_is_utf8(text);
}

void sip_uri_number(struct buffer *out, const struct sip_uri *uri)
{
	struct buffer user;
	char digits[16];

	buffer_init(&user, uri->user.len + 1);
	sip_unescape(&user, uri->user);
	if (e164_digits(digits, buffer_slice(&user)))
		buffer_printf(out, "+%s", digits);
	else if (is_text(buffer_slice(&user)))
		buffer_add(out, buffer_slice(&user));
	else
		buffer_add(out, uri->user);
	buffer_reset(&user);
}

void sip_unescape(struct buffer *out, struct slice text)
{
	size_t i = 0;

	while (i < text.len)
		buffer_add_char(out, next_char(text, &i));
}

void sip_escape_user(struct buffer *out, struct slice text)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if ((c >= '0' && c <= '9') ||
		    (lower((char)c) >= 'a' && lower((char)c) <= 'z') ||
		    (c && strchr("-_.!~*'()+$", c)))
			buffer_add_char(out, (char)c);
		else
			buffer_printf(out, "%%%02X", c);
	}
}
