/* SPDX-License-Identifier: MIT */
#include "sip/header.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "sip/lex.h"
#include "sip/message_priv.h"

/* By status; the first six classes of RFC 3261, 21, and those that came
 * later. */
static const struct {
	int status;
	const char *reason;
} reasons[] = {
	{ 100, "Trying" },
	{ 180, "Ringing" },
	{ 181, "Call Is Being Forwarded" },
	{ 182, "Queued" },
	{ 183, "Session Progress" },
	{ 199, "Early Dialog Terminated" },
	{ 200, "OK" },
	{ 202, "Accepted" },
	{ 204, "No Notification" },
	{ 300, "Multiple Choices" },
	{ 301, "Moved Permanently" },
	{ 302, "Moved Temporarily" },
	{ 305, "Use Proxy" },
	{ 380, "Alternative Service" },
	{ 400, "Bad Request" },
	{ 401, "Unauthorized" },
	{ 402, "Payment Required" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 406, "Not Acceptable" },
	{ 407, "Proxy Authentication Required" },
	{ 408, "Request Timeout" },
	{ 410, "Gone" },
	{ 412, "Conditional Request Failed" },
	{ 413, "Request Entity Too Large" },
	{ 414, "Request-URI Too Long" },
	{ 415, "Unsupported Media Type" },
	{ 416, "Unsupported URI Scheme" },
	{ 417, "Unknown Resource-Priority" },
	{ 420, "Bad Extension" },
	{ 421, "Extension Required" },
	{ 422, "Session Interval Too Small" },
	{ 423, "Interval Too Brief" },
	{ 428, "Use Identity Header" },
	{ 429, "Provide Referrer Identity" },
	{ 433, "Anonymity Disallowed" },
	{ 436, "Bad Identity-Info" },
	{ 437, "Unsupported Certificate" },
	{ 438, "Invalid Identity Header" },
	{ 480, "Temporarily Unavailable" },
	{ 481, "Call/Transaction Does Not Exist" },
	{ 482, "Loop Detected" },
	{ 483, "Too Many Hops" },
	{ 484, "Address Incomplete" },
	{ 485, "Ambiguous" },
	{ 486, "Busy Here" },
	{ 487, "Request Terminated" },
	{ 488, "Not Acceptable Here" },
	{ 489, "Bad Event" },
	{ 491, "Request Pending" },
	{ 493, "Undecipherable" },
	{ 494, "Security Agreement Required" },
	{ 500, "Server Internal Error" },
	{ 501, "Not Implemented" },
	{ 502, "Bad Gateway" },
	{ 503, "Service Unavailable" },
	{ 504, "Server Time-out" },
	{ 505, "Version Not Supported" },
	{ 513, "Message Too Large" },
	{ 580, "Precondition Failure" },
	{ 600, "Busy Everywhere" },
	{ 603, "Decline" },
	{ 604, "Does Not Exist Anywhere" },
	{ 606, "Not Acceptable" },
	{ 607, "Unwanted" },
	{ 608, "Rejected" },
};

/* The signalling's own: no tenant's header mapping may touch them. */
static const enum sip_header_id reserved[] = { SIP_H_VIA,
					       SIP_H_FROM,
					       SIP_H_TO,
					       SIP_H_CALL_ID,
					       SIP_H_CSEQ,
					       SIP_H_CONTACT,
					       SIP_H_ROUTE,
					       SIP_H_RECORD_ROUTE,
					       SIP_H_MAX_FORWARDS,
					       SIP_H_AUTHORIZATION,
					       SIP_H_REQUIRE,
					       SIP_H_SUPPORTED,
					       SIP_H_ALLOW,
					       SIP_H_SESSION_EXPIRES,
					       SIP_H_MIN_SE,
					       SIP_H_REPLACES,
					       SIP_H_REFER_TO,
					       SIP_H_REFERRED_BY,
					       SIP_H_REFER_SUB,
					       SIP_H_EVENT,
					       SIP_H_SUBSCRIPTION_STATE,
					       SIP_H_RSEQ,
					       SIP_H_CONTENT_TYPE,
					       SIP_H_CONTENT_LENGTH,
					       SIP_H_CONTENT_ENCODING };
static const char *const reserved_prefixes[] = { "Content-", "Proxy-" };

/* Tokens, or text that no other grammar could take for something else: real
 * peers put dots, slashes and UTF-8 there without quotes. */
static bool is_plain_display(struct slice text)
{
	size_t i;

	for (i = 0; i < text.len; i++)
		if (!text.ptr[i] || strchr("\",;<>\\", text.ptr[i]))
			return false;
	return true;
}

static int parse_display(struct slice *display, struct slice text)
{
	size_t len = text.len, i;

	*display = text;
	if (!len || text.ptr[0] != '"')
		return is_plain_display(text) ? 0 : -EINVAL;
	if (len < 2 || text.ptr[len - 1] != '"')
		return -EINVAL;
	*display = slice_make(text.ptr + 1, len - 2);
	for (i = 0; i < display->len; i++) {
		if (display->ptr[i] == '"')
			return -EINVAL;
		if (display->ptr[i] == '\\')
			i++;
	}
	return i == display->len ? 0 : -EINVAL;
}

static int check_params(struct slice params)
{
	struct slice name, value;
	int err;

	do
		err = lex_next_param(&params, &name, &value);
	while (err == 1);
	return err;
}

int sip_address_parse(struct sip_address *out, struct slice value)
{
	struct sip_address address = { 0 };
	struct slice text = lex_trim(value);
	ptrdiff_t end;
	size_t at;

	if (lex_find(text, "<", &at))
		at = text.len;
	if (at < text.len) {
		if (parse_display(&address.display,
				  lex_trim(slice_make(text.ptr, at))))
			return -EINVAL;
		text = lex_skip(text, at + 1);
		end = slice_find(text, '>');
		if (end < 0)
			return -EINVAL;
		address.uri_text = slice_make(text.ptr, (size_t)end);
		address.params = lex_trim(lex_skip(text, (size_t)end + 1));
	} else {
		/* Without brackets the parameters are the header's (20.10). */
		end = slice_find(text, ';');
		at = end < 0 ? text.len : (size_t)end;
		address.uri_text = lex_trim(slice_make(text.ptr, at));
		address.params = lex_skip(text, at);
		if (slice_find(address.uri_text, '?') >= 0 ||
		    slice_find(address.uri_text, ',') >= 0)
			return -EINVAL;
	}
	if (sip_uri_is_foreign(address.uri_text))
		address.uri.scheme = SIP_SCHEME_OTHER;
	else if (sip_uri_parse(&address.uri, address.uri_text))
		return -EINVAL;
	if (check_params(address.params))
		return -EINVAL;
	sip_param(address.params, "tag", &address.tag);
	*out = address;
	return 0;
}

/* The part before the next '/', spaces around it allowed. */
static struct slice cut_slash(struct slice *rest)
{
	return lex_trim(slice_cut(rest, '/'));
}

int sip_via_parse(struct sip_via *out, struct slice value)
{
	struct sip_via via = { 0 };
	struct slice rest = lex_trim(value);
	size_t n = 0;

	if (!slice_eq_nocase(cut_slash(&rest), SLICE("SIP")) ||
	    !slice_eq(cut_slash(&rest), SLICE("2.0")))
		return -EINVAL;
	rest = lex_trim(rest);
	while (n < rest.len && !lex_is_space(rest.ptr[n]))
		n++;
	via.transport = slice_make(rest.ptr, n);
	if (!lex_is_token(via.transport) || n == rest.len)
		return -EINVAL;
	rest = lex_trim(lex_skip(rest, n));
	if (lex_host_port(&rest, &via.host, &via.port))
		return -EINVAL;
	via.params = lex_trim(rest);
	if (check_params(via.params))
		return -EINVAL;
	sip_param(via.params, "branch", &via.branch);
	*out = via;
	return 0;
}

bool sip_param(struct slice params, const char *name, struct slice *value)
{
	struct slice key;

	while (lex_next_param(&params, &key, value) == 1)
		if (slice_eq_nocase(key, slice_of(name)))
			return true;
	*value = (struct slice){ 0 };
	return false;
}

bool sip_text_is_line(struct slice text)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if ((c < ' ' && c != '\t') || c == 0x7f)
			return false;
	}
	return slice_is_utf8(text);
}

static bool is_one_line(struct slice text)
{
	size_t i;

	for (i = 0; i < text.len; i++)
		if (strchr("\r\n", text.ptr[i])) /* NUL too */
			return false;
	return true;
}

void sip_header_write(struct buffer *out, struct slice name, struct slice value)
{
	if (!lex_is_token(name) || !is_one_line(value)) {
		if (!out->error)
			out->error = -EINVAL;
		return;
	}
	buffer_add(out, name);
	buffer_add_str(out, ": ");
	buffer_add(out, value);
	buffer_add_str(out, "\r\n");
}

void sip_header_printf(struct buffer *out, const char *name, const char *fmt,
		       ...)
{
	char *text = NULL;
	va_list args;
	int len;

	va_start(args, fmt);
	len = vasprintf(&text, fmt, args);
	va_end(args);
	if (len < 0) {
		if (!out->error)
			out->error = -ENOMEM;
		return;
	}
	/* "%c" may have written a NUL: the length tells. */
	sip_header_write(out, slice_of(name), slice_make(text, (size_t)len));
	free(text);
}

void sip_quote(struct buffer *out, struct slice text)
{
	size_t i;

	buffer_add_char(out, '"');
	for (i = 0; i < text.len; i++) {
		if (text.ptr[i] == '"' || text.ptr[i] == '\\')
			buffer_add_char(out, '\\');
		buffer_add_char(out, text.ptr[i]);
	}
	buffer_add_char(out, '"');
}

void sip_unquote(struct buffer *out, struct slice inside)
{
	size_t i;

	for (i = 0; i < inside.len; i++) {
		if (inside.ptr[i] == '\\' && i + 1 < inside.len)
			i++;
		buffer_add_char(out, inside.ptr[i]);
	}
}

const char *sip_header_name(enum sip_header_id id)
{
	return sip_header_type(id)->name;
}

const char *sip_reason(int status)
{
	size_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "Unknown";
}

bool sip_header_is_mappable(struct slice name)
{
	enum sip_header_id id = sip_header_find(name);
	size_t i;

	if (!lex_is_token(name))
		return false;
	for (i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
		if (id == reserved[i])
			return false;
	for (i = 0; i < 2; i++) {
		struct slice prefix = slice_of(reserved_prefixes[i]);

		if (name.len >= prefix.len &&
		    slice_eq_nocase(slice_make(name.ptr, prefix.len), prefix))
			return false;
	}
	return true;
}
