/* SPDX-License-Identifier: MIT */
/* http/percent: decoding of paths and queries (RFC 3986, 2.1); what is
 * malformed, hides a NUL or is no UTF-8 is refused whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "http/percent.h"

static const struct {
	struct slice in;
	const char *path; /* NULL: refused */
	const char *query;
} table[] = {
	{ SLICE(""), "", "" },
	{ SLICE("abc"), "abc", "abc" },
	{ SLICE("a+b"), "a+b", "a b" },
	{ SLICE("%2B%2b"), "++", "++" },
	{ SLICE("a%20b"), "a b", "a b" },
	{ SLICE("%2F%3F%25"), "/?%", "/?%" },
	{ SLICE("%2541"), "%41", "%41" }, /* once only */
	{ SLICE("%c3%A9"), "\xc3\xa9", "\xc3\xa9" },
	{ SLICE("%7f"), "\x7f", "\x7f" },
	{ SLICE("%00"), NULL, NULL },
	{ SLICE("a%00b"), NULL, NULL },
	{ SLICE("a\0b"), NULL, NULL },
	{ SLICE("%"), NULL, NULL },
	{ SLICE("%4"), NULL, NULL },
	{ SLICE("abc%4"), NULL, NULL },
	{ SLICE("%4g"), NULL, NULL },
	{ SLICE("%g4"), NULL, NULL },
	{ SLICE("% 4"), NULL, NULL },
	{ SLICE("%-1"), NULL, NULL },
	{ SLICE("%%41"), NULL, NULL },
	{ SLICE("%u0041"), NULL, NULL },
	{ SLICE("%80"), NULL, NULL },
	{ SLICE("%c0%af"), NULL, NULL }, /* an overlong slash */
	{ SLICE("%ed%a0%80"), NULL, NULL }, /* half a surrogate pair */
	{ SLICE("\xff"), NULL, NULL },
};

static void check(const char *got, const char *want)
{
	if (want)
		assert_string_equal(got, want);
	else
		assert_null(got);
}

static void test_table(void **state)
{
	struct arena *arena = arena_open();

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		check(percent_decode(arena, table[i].in, false), table[i].path);
		check(percent_decode(arena, table[i].in, true), table[i].query);
	}
	arena_close(&arena);
}

/* Nothing behind the text counts: "%41" cut to two bytes is malformed. */
static void test_ends_where_it_ends(void **state)
{
	struct arena *arena = arena_open();

	assert_null(percent_decode(arena, slice_make("%41", 2), false));
	assert_null(percent_decode(arena, slice_make("%41", 1), false));
	assert_string_equal(percent_decode(arena, slice_make("%41", 0), false),
			    "");
	arena_close(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_ends_where_it_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
