/* SPDX-License-Identifier: MIT */
/* A URI, an address and a Via as peers write them, in heap memory of exactly
 * their size: what is read lies within it, and what is written reads the same.
 * Seeds: corpus/sip_uri. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include "core/buffer.h"
#include "sip/header.h"
#include "sip/lex.h"
#include "sip/uri.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OUT_MAX = 1 << 20 };

static void assert_within(struct slice part, struct slice text)
{
	assert(!part.len || (part.ptr >= text.ptr &&
			     part.ptr + part.len <= text.ptr + text.len));
}

static void assert_same(const struct sip_uri *a, const struct sip_uri *b)
{
	assert(a->scheme == b->scheme && a->port == b->port);
	assert(slice_eq(a->user, b->user) &&
	       slice_eq(a->password, b->password));
	assert(slice_eq(a->host, b->host) && slice_eq(a->params, b->params));
	assert(slice_eq(a->headers, b->headers));
}

/* What is escaped and undone is as before. */
static void check_escapes(struct slice text)
{
	struct buffer escaped, plain, again;

	buffer_init(&escaped, OUT_MAX);
	buffer_init(&plain, OUT_MAX);
	buffer_init(&again, OUT_MAX);
	sip_unescape(&plain, text);
	assert(plain.len <= text.len);
	sip_escape_user(&escaped, buffer_slice(&plain));
	sip_unescape(&again, buffer_slice(&escaped));
	assert(slice_eq(buffer_slice(&again), buffer_slice(&plain)));
	buffer_reset(&escaped);
	buffer_reset(&plain);
	buffer_reset(&again);
}

static void read_uri(const struct sip_uri *uri, struct slice text)
{
	static const char *const names[] = { "transport", "user", "lr", "x" };
	struct sip_uri again;
	struct buffer out;
	struct slice value;

	assert_within(uri->user, text);
	assert_within(uri->password, text);
	assert_within(uri->host, text);
	assert_within(uri->params, text);
	assert_within(uri->headers, text);
	assert(uri->scheme != SIP_SCHEME_OTHER);
	assert((uri->scheme == SIP_SCHEME_TEL) == !uri->host.len);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (sip_uri_param(uri, names[i], &value))
			assert_within(value, uri->params);
		if (sip_uri_header(uri, names[i], 0, &value))
			assert_within(value, uri->headers);
	}
	buffer_init(&out, OUT_MAX);
	sip_uri_write(&out, uri);
	assert(!sip_uri_parse(&again, buffer_slice(&out)));
	assert_same(uri, &again);
	buffer_clear(&out);
	sip_uri_number(&out, uri);
	assert(!buffer_error(&out) && slice_is_utf8(buffer_slice(&out)));
	assert(!memchr(buffer_str(&out), 0, out.len));
	buffer_reset(&out);
	check_escapes(uri->user);
}

static void read_address(struct slice text)
{
	struct sip_address address;
	struct buffer out;
	struct slice value;

	if (sip_address_parse(&address, text))
		return;
	assert_within(address.display, text);
	assert_within(address.uri_text, text);
	assert_within(address.params, text);
	assert_within(address.tag, address.params);
	if (address.uri.scheme == SIP_SCHEME_OTHER)
		assert(!address.uri.user.len && !address.uri.host.len);
	else
		read_uri(&address.uri, address.uri_text);
	if (sip_param(address.params, "expires", &value))
		assert_within(value, address.params);
	buffer_init(&out, OUT_MAX);
	sip_unquote(&out, address.display);
	assert(out.len <= address.display.len);
	buffer_reset(&out);
}

static void read_via(struct slice text)
{
	struct sip_via via;
	struct slice value;

	if (sip_via_parse(&via, text))
		return;
	assert(lex_is_token(via.transport) && lex_is_host(via.host));
	assert_within(via.host, text);
	assert_within(via.params, text);
	assert_within(via.branch, via.params);
	sip_param(via.params, "received", &value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size ? size : 1);
	struct slice text = slice_make(copy, size);
	struct sip_uri uri;

	if (size)
		memcpy(copy, data, size);
	if (!sip_uri_parse(&uri, text)) {
		assert(!sip_uri_is_foreign(text));
		read_uri(&uri, text);
	}
	read_address(text);
	read_via(text);
	check_escapes(text);
	free(copy);
	return 0;
}
