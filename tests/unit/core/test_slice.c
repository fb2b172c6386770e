/* SPDX-License-Identifier: MIT */
/* core/slice: comparing, cutting, numbers with a maximum, and UTF-8 by RFC 3629
 * (overlong forms, surrogates and what lies past U+10FFFF are refused). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include "core/mem.h"
#include "core/slice.h"

static void test_compare(void **state)
{
	assert_true(slice_eq(SLICE("ab"), slice_of("ab")));
	assert_false(slice_eq(SLICE("ab"), SLICE("abc")));
	assert_false(slice_eq(SLICE("ab"), SLICE("aB")));
	assert_true(slice_eq_nocase(SLICE("Via"), SLICE("vIA")));
	assert_false(slice_eq_nocase(SLICE("@"), SLICE("`")));
	assert_true(slice_eq(slice_of(NULL), SLICE("")));
	assert_true(slice_has_prefix(SLICE("sips:x"), SLICE("sips:")));
	assert_true(slice_has_prefix(SLICE("x"), SLICE("")));
	assert_false(slice_has_prefix(SLICE("si"), SLICE("sip")));
}

static void test_trim(void **state)
{
	assert_true(slice_eq(slice_trim(SLICE(" \t a b\t ")), SLICE("a b")));
	assert_int_equal(slice_trim(SLICE(" \t ")).len, 0);
	assert_true(slice_eq(slice_trim(SLICE("\ra\n")), SLICE("\ra\n")));
}

static void test_cut(void **state)
{
	struct slice rest = SLICE("a,,b");

	assert_int_equal(slice_find(rest, ','), 1);
	assert_int_equal(slice_find(rest, 'z'), -1);
	assert_true(slice_eq(slice_cut(&rest, ','), SLICE("a")));
	assert_int_equal(slice_cut(&rest, ',').len, 0);
	assert_non_null(rest.ptr);
	assert_true(slice_eq(slice_cut(&rest, ','), SLICE("b")));
	assert_null(rest.ptr);
	rest = SLICE("x,");
	slice_cut(&rest, ',');
	assert_non_null(rest.ptr); /* a separator with nothing behind it */
	assert_int_equal(rest.len, 0);
}

static void test_numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t max;
		int err;
		uint64_t value;
	} table[] = {
		{ "0", 10, 0, 0 },
		{ "0010", 10, 0, 10 },
		{ "11", 10, -ERANGE, 0 },
		{ "18446744073709551615", UINT64_MAX, 0, UINT64_MAX },
		{ "18446744073709551616", UINT64_MAX, -ERANGE, 0 },
		{ "99999999999999999999999", UINT64_MAX, -ERANGE, 0 },
		{ "", 10, -EINVAL, 0 },
		{ "-1", 10, -EINVAL, 0 },
		{ "+1", 10, -EINVAL, 0 },
		{ "1 ", 10, -EINVAL, 0 },
		{ "99x", 10, -EINVAL, 0 },
	};
	uint64_t value;
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		value = 77;
		assert_int_equal(slice_to_u64(&value, slice_of(table[i].text),
					      table[i].max),
				 table[i].err);
		assert_true(value == (table[i].err ? 77 : table[i].value));
	}
}

static void test_utf8(void **state)
{
	static const struct {
		struct slice text;
		bool is_fine;
	} table[] = {
		{ SLICE(""), true },
		{ SLICE("a\0b"), true },
		{ SLICE("\xc3\xa9"), true },
		{ SLICE("\xe2\x82\xac"), true },
		{ SLICE("\xf0\x9f\x98\x80"), true },
		{ SLICE("\xf4\x8f\xbf\xbf"), true },
		{ SLICE("\x80"), false },
		{ SLICE("\xc3"), false },
		{ SLICE("\xe2\x82"), false },
		{ SLICE("\xc0\xaf"), false }, /* overlong */
		{ SLICE("\xc1\xbf"), false },
		{ SLICE("\xe0\x9f\xbf"), false },
		{ SLICE("\xf0\x8f\xbf\xbf"), false },
		{ SLICE("\xed\xa0\x80"), false }, /* surrogate */
		{ SLICE("\xf4\x90\x80\x80"), false }, /* past the end */
		{ SLICE("\xf5\x80\x80\x80"), false },
		{ SLICE("\xe2\x28\xa1"), false },
		{ SLICE("a\xff"), false },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_int_equal(slice_is_utf8(table[i].text),
				 table[i].is_fine);
}

static void test_dup(void **state)
{
	char *copy = slice_dup(slice_make("abc", 2));

	assert_string_equal(copy, "ab");
	mem_free(copy);
	copy = slice_dup(slice_make(NULL, 0));
	assert_string_equal(copy, "");
	mem_free(copy);
	assert_null(mem_dup_str(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compare), cmocka_unit_test(test_trim),
		cmocka_unit_test(test_cut),	cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_utf8),	cmocka_unit_test(test_dup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
