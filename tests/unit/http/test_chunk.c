/* SPDX-License-Identifier: MIT */
/* http/chunk: chunked bodies (RFC 9112, 7.1), the same at every split of the
 * bytes; CRLF after each size and each chunk or nothing; a ceiling. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "http/chunk.h"

#define TEN "0123456789"

enum { MAX_BYTES = 40, MORE = 1 };

/* 0 done, MORE, or what chunk_read() said. Feeds the text in two parts as
 * connection.c does: what is not taken comes again before what follows. */
static int feed(struct slice text, size_t split, struct buffer *body,
		struct slice *rest)
{
	struct chunk_reader reader;
	struct buffer in;
	int err = 0;

	chunk_init(&reader);
	buffer_init(&in, 100000);
	for (int part = 0; part < 2 && !err; part++) {
		struct slice now =
			part ? slice_make(text.ptr + split, text.len - split)
			     : slice_make(text.ptr, split);
		struct slice left;

		buffer_add(&in, now);
		left = buffer_slice(&in);
		err = chunk_read(&reader, &left, body);
		buffer_consume(&in, in.len - left.len);
	}
	*rest = slice_make(text.ptr + text.len - in.len, in.len);
	buffer_reset(&in);
	return err ? err : reader.state == CHUNK_DONE ? 0 : MORE;
}

static const struct {
	struct slice in;
	int result;
	const char *body; /* when done */
	const char *rest;
} table[] = {
	{ SLICE("0\r\n\r\n"), 0, "", "" },
	{ SLICE("5\r\nhello\r\n0\r\n\r\n"), 0, "hello", "" },
	{ SLICE("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"), 0, "hello world",
	  "" },
	{ SLICE("A\r\n" TEN "\r\na\r\n" TEN "\r\n0\r\n\r\n"), 0, TEN TEN, "" },
	{ SLICE("00000005\r\nhello\r\n000\r\n\r\n"), 0, "hello", "" },
	{ SLICE("2;x=y\r\nhi\r\n0;z\r\n\r\n"), 0, "hi", "" },
	{ SLICE("2\r\n\r\n\r\n0\r\n\r\n"), 0, "\r\n", "" },
	{ SLICE("2\r\nhi\r\n0\r\nX: y\r\nZ:\r\n\r\n"), 0, "hi", "" },
	{ SLICE("2\r\nhi\r\n0\r\n\r\nGET / HTTP/1.1\r\n"), 0, "hi",
	  "GET / HTTP/1.1\r\n" },
	{ SLICE("28\r\n" TEN TEN TEN TEN "\r\n0\r\n\r\n"), 0, TEN TEN TEN TEN,
	  "" }, /* the ceiling itself */
	/* not whole */
	{ SLICE(""), MORE, NULL, NULL },
	{ SLICE("5"), MORE, NULL, NULL },
	{ SLICE("5\r\nhell"), MORE, NULL, NULL },
	{ SLICE("5\r\nhello\r\n"), MORE, NULL, NULL },
	{ SLICE("5\r\nhello\r\n0\r\n"), MORE, NULL, NULL },
	{ SLICE("5\r\nhello\r\n0\r\nX: y\r\n"), MORE, NULL, NULL },
	/* over the ceiling */
	{ SLICE("29\r\n" TEN TEN TEN TEN "0\r\n0\r\n\r\n"), -413, NULL, NULL },
	{ SLICE("28\r\n" TEN TEN TEN TEN "\r\n1\r\n0\r\n0\r\n\r\n"), -413, NULL,
	  NULL },
	{ SLICE("ffffffff\r\n" TEN TEN TEN TEN "0"), -413, NULL, NULL },
	/* malformed */
	{ SLICE("\r\n"), -400, NULL, NULL },
	{ SLICE("g\r\n"), -400, NULL, NULL },
	{ SLICE("0x5\r\nhello\r\n"), -400, NULL, NULL },
	{ SLICE("-5\r\nhello\r\n"), -400, NULL, NULL },
	{ SLICE("+5\r\nhello\r\n"), -400, NULL, NULL },
	{ SLICE(" 5\r\nhello\r\n"), -400, NULL, NULL },
	{ SLICE("5 \r\nhello\r\n"), -400, NULL, NULL },
	{ SLICE(";x\r\n"), -400, NULL, NULL },
	{ SLICE("100000000\r\n"), -400, NULL, NULL }, /* nine digits */
	{ SLICE("5\nhello\r\n0\r\n\r\n"), -400, NULL, NULL },
	{ SLICE("5\r\rhello\r\n0\r\n\r\n"), -400, NULL, NULL },
	{ SLICE("5\r\r\nhello\r\n0\r\n\r\n"), -400, NULL, NULL },
	{ SLICE("5;a\rb\r\nhello\r\n0\r\n\r\n"), -400, NULL, NULL },
	{ SLICE("5;a\0b\r\nhello\r\n0\r\n\r\n"), -400, NULL, NULL },
	{ SLICE("5\r\nhelloXX0\r\n\r\n"), -400, NULL, NULL },
	{ SLICE("5\r\nhello\n0\r\n\r\n"), -400, NULL, NULL },
	{ SLICE("5\r\nhello\r0\r\n\r\n"), -400, NULL, NULL },
	{ SLICE("5\r\nhelloworld\r\n0\r\n\r\n"), -400, NULL, NULL },
	{ SLICE("0\r\nX: y\n\r\n"), -400, NULL, NULL },
	{ SLICE("0\r\nX: y\r\n z\r\n\r\n"), -400, NULL, NULL },
	{ SLICE("0\r\nGET / HTTP/1.1\r\n\r\n"), -400, NULL, NULL },
	{ SLICE("0\r\n: y\r\n\r\n"), -400, NULL, NULL },
};

static void check(size_t row, size_t split)
{
	struct buffer body;
	struct slice rest;
	int result;

	buffer_init(&body, MAX_BYTES);
	result = feed(table[row].in, split, &body, &rest);
	if (result != table[row].result)
		fail_msg("%s split at %d: %d, not %d", table[row].in.ptr,
			 (int)split, result, table[row].result);
	if (!result) {
		assert_string_equal(buffer_str(&body), table[row].body);
		assert_true(slice_eq(rest, slice_of(table[row].rest)));
	}
	buffer_reset(&body);
}

static void test_at_every_split(void **state)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		for (size_t split = 0; split <= table[i].in.len; split++)
			check(i, split);
}

/* A line without end is not collected for ever; nor are trailers. */
static void test_long_lines(void **state)
{
	struct chunk_reader reader;
	struct buffer body;
	char line[600];
	struct slice in;

	buffer_init(&body, MAX_BYTES);
	memset(line, ' ', sizeof(line));
	memcpy(line, "5;", 2);
	chunk_init(&reader);
	in = slice_make(line, 256);
	assert_int_equal(chunk_read(&reader, &in, &body), 0);
	in = slice_make(line, 257);
	assert_int_equal(chunk_read(&reader, &in, &body), -400);
	memcpy(line + 500, "\r\n", 2);
	chunk_init(&reader);
	in = slice_make(line, 502);
	assert_int_equal(chunk_read(&reader, &in, &body), -400);
	buffer_reset(&body);
}

static void test_many_trailers(void **state)
{
	struct chunk_reader reader;
	struct buffer body, text;
	struct slice in;

	buffer_init(&body, MAX_BYTES);
	buffer_init(&text, 100000);
	buffer_add_str(&text, "0\r\n");
	for (int i = 0; i < 1000; i++)
		buffer_add_str(&text, "X: 0123456789\r\n");
	chunk_init(&reader);
	in = buffer_slice(&text);
	assert_int_equal(chunk_read(&reader, &in, &body), -400);
	buffer_reset(&text);
	buffer_reset(&body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_at_every_split),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_many_trailers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
