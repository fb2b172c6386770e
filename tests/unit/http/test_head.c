/* SPDX-License-Identifier: MIT */
/* http/head: the head of a request (RFC 9112): its end under a ceiling of
 * 16 KiB, what is taken from it, and everything that a proxy in front of us
 * may read otherwise (request smuggling): refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "core/buffer.h"
#include "core/mem.h"
#include "http/head.h"

#define GET  "GET / HTTP/1.1\r\n"
#define POST "POST / HTTP/1.1\r\nHost: x\r\n"
#define TE   "Transfer-Encoding: "
#define CL   "Content-Length: "

static const struct {
	struct slice in; /* without the last CRLF */
	int result;
} verdicts[] = {
	{ SLICE(GET "Host: x\r\n"), 0 },
	{ SLICE("GET / HTTP/1.0\r\n"), 0 },
	{ SLICE(GET "Host:\r\n"), 0 },
	{ SLICE(GET "Host: [::1]:8443\r\n"), 0 },
	{ SLICE(GET "HOST: x\r\nX:\r\nY: \r\nZ:\t1\t\r\n"), 0 },
	{ SLICE(POST CL "0\r\n"), 0 },
	{ SLICE(POST CL "5\r\n"), 0 },
	{ SLICE(POST TE "chunked\r\n"), 0 },
	{ SLICE(POST TE "Chunked\r\n"), 0 },
	{ SLICE(GET "Host: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n"), 0 },

	/* lines */
	{ SLICE(GET "Host: x\rX: y\r\n"), -400 },
	{ SLICE(GET "Host: x\r\nX: y\r" CL "5\r\n"), -400 },
	{ SLICE(GET "Host: x\nX: y\r\n"), -400 },
	{ SLICE("GET / HTTP/1.1\nHost: x\r\n"), -400 },
	{ SLICE(GET "Host: x\r\nX: \0\r\n"), -400 },
	{ SLICE(GET "Host: x\r\n\0: y\r\n"), -400 },
	{ SLICE(GET "Host: x\r\nX: y\r\n z\r\n"), -400 },
	{ SLICE(GET "Host: x\r\nX: y\r\n\tz\r\n"), -400 },
	{ SLICE(GET " Host: x\r\n"), -400 },
	{ SLICE(POST TE "\r\n chunked\r\n"), -400 },
	{ SLICE("\r\n" GET "Host: x\r\n"), -400 },
	{ SLICE("\r\n"), -400 },
	{ SLICE(GET "Host: x\r\nno colon\r\n"), -400 },
	{ SLICE(GET "Host: x\r\n: empty\r\n"), -400 },
	{ SLICE(GET "Host: x\r\nA B: c\r\n"), -400 },
	{ SLICE(GET "Host: x\r\nA\x01: b\r\n"), -400 },
	{ SLICE(GET "Host: x\r\nA\x80: b\r\n"), -400 },
	{ SLICE(GET "Host: x\r\nA: \x01\r\n"), -400 },

	/* who is asked */
	{ SLICE(GET), -400 },
	{ SLICE(GET "Host: x\r\nHost: x\r\n"), -400 },
	{ SLICE(GET "Host: x\r\nhost: y\r\n"), -400 },
	{ SLICE("GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n"), -400 },
	{ SLICE(GET "Host : x\r\n"), -400 },
	{ SLICE(GET "Host: a b\r\n"), -400 },
	{ SLICE(GET "Host: a, b\r\n"), -400 },
	{ SLICE(GET "Host: a/b\r\n"), -400 },
	{ SLICE(GET "Host: u@a\r\n"), -400 },

	/* where the body ends */
	{ SLICE(POST CL "5\r\n" TE "chunked\r\n"), -400 },
	{ SLICE(POST TE "chunked\r\n" CL "5\r\n"), -400 },
	{ SLICE("POST / HTTP/1.0\r\nHost: x\r\n" TE "chunked\r\n"), -400 },
	{ SLICE(POST CL "5\r\n" CL "5\r\n"), -400 },
	{ SLICE(POST CL "5\r\n" CL "6\r\n"), -400 },
	{ SLICE(POST CL "5, 5\r\n"), -400 },
	{ SLICE(POST CL "+5\r\n"), -400 },
	{ SLICE(POST CL "-5\r\n"), -400 },
	{ SLICE(POST CL "0x5\r\n"), -400 },
	{ SLICE(POST CL "5 5\r\n"), -400 },
	{ SLICE(POST CL "\r\n"), -400 },
	{ SLICE(POST CL "five\r\n"), -400 },
	{ SLICE(POST CL "99999999999999999999999999\r\n"), -400 },
	{ SLICE(POST "Content-Length : 5\r\n"), -400 },
	{ SLICE(POST "Transfer-Encoding : chunked\r\n"), -400 },
	{ SLICE(POST TE "chunked\r\n" TE "chunked\r\n"), -400 },
	{ SLICE(POST TE "gzip\r\n" TE "chunked\r\n"), -400 },
	{ SLICE(POST TE "chunked, identity\r\n"), -400 },
	{ SLICE(POST TE "\x0b"
			"chunked\r\n"),
	  -400 },
	{ SLICE(POST TE "gzip\r\n"), -501 },
	{ SLICE(POST TE "gzip, chunked\r\n"), -501 },
	{ SLICE(POST TE "identity\r\n"), -501 },
	{ SLICE(POST TE "xchunked\r\n"), -501 },
	{ SLICE(POST TE "\"chunked\"\r\n"), -501 },
	{ SLICE(POST TE "\r\n"), -501 },

	/* request lines */
	{ SLICE("GET  / HTTP/1.1\r\nHost: x\r\n"), -400 },
	{ SLICE("GET /  HTTP/1.1\r\nHost: x\r\n"), -400 },
	{ SLICE("GET / HTTP/1.1 \r\nHost: x\r\n"), -505 },
	{ SLICE(" GET / HTTP/1.1\r\nHost: x\r\n"), -400 },
	{ SLICE("GET\t/ HTTP/1.1\r\nHost: x\r\n"), -400 },
	{ SLICE("GET /a b HTTP/1.1\r\nHost: x\r\n"), -400 },
	{ SLICE("GET /\x80 HTTP/1.1\r\nHost: x\r\n"), -400 },
	{ SLICE("GET /a#b HTTP/1.1\r\nHost: x\r\n"), -400 },
	{ SLICE("GET /\x7f HTTP/1.1\r\nHost: x\r\n"), -400 },
	{ SLICE("GET a HTTP/1.1\r\nHost: x\r\n"), -400 },
	{ SLICE("GET ?a HTTP/1.1\r\nHost: x\r\n"), -400 },
	{ SLICE("OPTIONS * HTTP/1.1\r\nHost: x\r\n"), -400 },
	{ SLICE("CONNECT a:1 HTTP/1.1\r\nHost: x\r\n"), -400 },
	{ SLICE("GET ftp://a/ HTTP/1.1\r\nHost: x\r\n"), -400 },
	{ SLICE("GET http:/a HTTP/1.1\r\nHost: x\r\n"), -400 },
	{ SLICE("GET /\r\nHost: x\r\n"), -400 },
	{ SLICE("GET / \r\nHost: x\r\n"), -400 },
	{ SLICE("GET\r\nHost: x\r\n"), -400 },
	{ SLICE("get / HTTP/1.1\r\nHost: x\r\n"), -400 },
	{ SLICE("FOO / HTTP/1.1\r\nHost: x\r\n"), -400 },
	{ SLICE("GET / http/1.1\r\nHost: x\r\n"), -400 },
	{ SLICE("GET / HTTP/1.10\r\nHost: x\r\n"), -505 },
	{ SLICE("SOURCE / ICE/1.0\r\nHost: x\r\n"), -400 },
	{ SLICE("DESCRIBE rtsp://a/ RTSP/1.0\r\nHost: x\r\n"), -400 },
	{ SLICE("PRI * HTTP/2.0\r\n"), -400 },
	{ SLICE("GET / HTTP/1.2\r\nHost: x\r\n"), -505 },
	{ SLICE("GET / HTTP/2.0\r\nHost: x\r\n"), -505 },
	{ SLICE("GET / HTTP/0.9\r\nHost: x\r\n"), -505 },
	{ SLICE("\x16\x03\x01\x02\x00\x01\xfc\x03\x03\r\n"), -400 },
};

/* The whole head on the heap, with nothing behind it. */
static struct slice whole(struct slice text)
{
	char *copy = mem_new(text.len + 2);

	memcpy(copy, text.ptr, text.len);
	memcpy(copy + text.len, "\r\n", 2);
	return slice_make(copy, text.len + 2);
}

static void test_verdicts(void **state)
{
	for (size_t i = 0; i < sizeof(verdicts) / sizeof(*verdicts); i++) {
		struct slice text = whole(verdicts[i].in);
		const char *why = NULL;
		struct head head;
		int result = head_parse(&head, text, &why);

		if (result != verdicts[i].result)
			fail_msg("%.*s: %d, not %d (%s)", (int)text.len,
				 text.ptr, result, verdicts[i].result,
				 why ? why : "");
		assert_true(!result || why);
		mem_free((char *)text.ptr);
	}
}

static void test_targets(void **state)
{
	static const struct {
		const char *target, *path, *query;
	} table[] = {
		{ "/", "/", "" },
		{ "/v1/calls", "/v1/calls", "" },
		{ "/v1/calls?", "/v1/calls", "" },
		{ "/v1/calls?a=b&c", "/v1/calls", "a=b&c" },
		{ "/a?b?c", "/a", "b?c" },
		{ "/a:b//c", "/a:b//c", "" },
		{ "//host/a", "//host/a", "" },
		{ "/%2e%2e/x", "/%2e%2e/x", "" },
		{ "/?http://x", "/", "http://x" },
		{ "http://h/a/b?c=d", "/a/b", "c=d" },
		{ "HTTPS://h:8443/a", "/a", "" },
		{ "http://h", "/", "" },
		{ "http://h?c", "/", "c" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		char text[200];
		const char *why;
		struct head head;

		snprintf(text, sizeof(text),
			 "PATCH %s HTTP/1.1\r\nHost: x\r\n\r\n",
			 table[i].target);
		assert_int_equal(head_parse(&head, slice_of(text), &why), 0);
		assert_true(slice_eq(head.method, SLICE("PATCH")));
		assert_true(slice_eq(head.path, slice_of(table[i].path)));
		assert_true(slice_eq(head.query, slice_of(table[i].query)));
	}
}

static void test_values(void **state)
{
	struct head head;
	const char *why;

	assert_int_equal(
		head_parse(&head,
			   SLICE(POST
				 "Empty:\r\nBlank:   \r\nTwice: one\r\n"
				 "twice: two\r\nPadded: \t a b \t\r\n\r\n"),
			   &why),
		0);
	assert_int_equal(head.n_headers, 6);
	assert_non_null(head_value(&head, "empty").ptr);
	assert_int_equal(head_value(&head, "empty").len, 0);
	assert_int_equal(head_value(&head, "Blank").len, 0);
	assert_true(slice_eq(head_value(&head, "TWICE"), SLICE("one")));
	assert_true(slice_eq(head_value(&head, "Padded"), SLICE("a b")));
	assert_null(head_value(&head, "Other").ptr);
	assert_null(head_value(&head, "").ptr);
}

static void test_framing(void **state)
{
	static const struct {
		const char *headers;
		uint64_t length;
		bool is_chunked;
	} table[] = {
		{ "", 0, false },
		{ CL "0\r\n", 0, false },
		{ CL "5\r\n", 5, false },
		{ CL "  5  \r\n", 5, false },
		{ CL "0005\r\n", 5, false },
		{ CL "1073741824\r\n", 1 << 30, false },
		{ CL "1073741825\r\n", 1 << 30, false }, /* refused as 413 */
		{ CL "099999999999\r\n", 1 << 30, false },
		{ CL "18446744073709551615\r\n", 1 << 30, false },
		{ TE "chunked\r\n", 0, true },
		{ TE "  cHUNKED\t\r\n", 0, true },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		char text[200];
		struct head head;
		const char *why;

		snprintf(text, sizeof(text), POST "%s\r\n", table[i].headers);
		assert_int_equal(head_parse(&head, slice_of(text), &why), 0);
		assert_int_equal(head.content_length, table[i].length);
		assert_int_equal(head.is_chunked, table[i].is_chunked);
	}
}

static void test_persistence(void **state)
{
	static const struct {
		const char *version, *headers;
		bool keeps_alive, expects_continue;
	} table[] = {
		{ "1.1", "", true, false },
		{ "1.1", "Connection: close\r\n", false, false },
		{ "1.1", "Connection: foo, CLOSE\r\n", false, false },
		{ "1.1", "Connection: a\r\nConnection: close\r\n", false,
		  false },
		{ "1.1", "Connection: keep-alive\r\n", true, false },
		{ "1.1", "Connection: closer\r\n", true, false },
		{ "1.1", "Expect: 100-continue\r\n", true, true },
		{ "1.1", "Expect: 100-Continue\r\n", true, true },
		{ "1.1", "Expect: other\r\n", true, false },
		{ "1.0", "", false, false },
		{ "1.0", "Connection: keep-alive\r\n", true, false },
		{ "1.0", "Connection: Keep-Alive, close\r\n", false, false },
		{ "1.0", "Expect: 100-continue\r\n", false, false },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		char text[200];
		struct head head;
		const char *why;

		snprintf(text, sizeof(text),
			 "GET / HTTP/%s\r\nHost: x\r\n%s\r\n", table[i].version,
			 table[i].headers);
		assert_int_equal(head_parse(&head, slice_of(text), &why), 0);
		assert_int_equal(head.keeps_alive, table[i].keeps_alive);
		assert_int_equal(head.expects_continue,
				 table[i].expects_continue);
		assert_int_equal(head.is_old, table[i].version[2] == '0');
	}
}

static int parse_many(int n_headers, size_t url_bytes)
{
	struct buffer text;
	struct head head;
	const char *why;
	int result;

	buffer_init(&text, 1 << 20);
	buffer_add_str(&text, "GET /");
	for (size_t i = 1; i < url_bytes; i++)
		buffer_add_char(&text, 'a');
	buffer_add_str(&text, " HTTP/1.1\r\nHost: x\r\n");
	for (int i = 1; i < n_headers; i++)
		buffer_add_str(&text, "X: y\r\n");
	buffer_add_str(&text, "\r\n");
	result = head_parse(&head, buffer_slice(&text), &why);
	assert_true(result || head.n_headers == (size_t)n_headers);
	buffer_reset(&text);
	return result;
}

static void test_limits(void **state)
{
	assert_int_equal(parse_many(100, 1), 0);
	assert_int_equal(parse_many(101, 1), -431);
	assert_int_equal(parse_many(1000, 1), -431);
	assert_int_equal(parse_many(1, 8192), 0);
	assert_int_equal(parse_many(1, 8193), -414);
}

/* Known at the blank line, not before, whatever follows. */
static void test_end(void **state)
{
	struct slice text = SLICE(GET "Host: x\r\n\r\nGET /\n\0");
	long end = (long)strlen(GET "Host: x\r\n\r\n");

	for (size_t n = 0; n <= text.len; n++)
		assert_int_equal(head_end(slice_make(text.ptr, n)),
				 n < (size_t)end ? 0 : end);
	assert_int_equal(head_end((struct slice){ 0 }), 0);
}

/* What can become no head is refused without waiting for its end. */
static void test_hopeless(void **state)
{
	assert_int_equal(head_end(SLICE("GET / HTTP/1.1\n")), -400);
	assert_int_equal(head_end(SLICE("GET / HTTP/1.1\r\nHost: x\n\n")),
			 -400);
	assert_int_equal(head_end(SLICE("GET / HTTP/1.1\rH")), -400);
	assert_int_equal(head_end(SLICE("\x16\x03\x01\x02\x00")), -400);
	assert_int_equal(head_end(SLICE("GET / HTTP/1.1\r\n X")), -400);
	assert_int_equal(head_end(SLICE("GET / HTTP/1.1\r")), 0);
}

static void test_too_long(void **state)
{
	size_t size = HEAD_MAX_BYTES;
	char *text = mem_new(size + 10);

	memset(text, 'a', size + 10);
	assert_int_equal(head_end(slice_make(text, size - 1)), 0);
	assert_int_equal(head_end(slice_make(text, size)), -431);
	memcpy(text + size - 4, "\r\n\r\n", 4);
	assert_int_equal(head_end(slice_make(text, size)), size);
	assert_int_equal(head_end(slice_make(text, size + 10)), size);
	memset(text, 'a', size);
	memcpy(text + size - 3, "\r\n\r\n", 4);
	assert_int_equal(head_end(slice_make(text, size + 10)), -431);
	mem_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_framing),
		cmocka_unit_test(test_persistence),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_hopeless),
		cmocka_unit_test(test_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
