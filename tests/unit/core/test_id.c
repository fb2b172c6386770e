/* SPDX-License-Identifier: MIT */
/* core/id: the shape of identifiers; that they differ; that a test can make
 * them repeat. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sodium.h>
#include <string.h>
#include "core/id.h"

static void test_uuid(void **state)
{
	char a[ID_UUID_SIZE], b[ID_UUID_SIZE];

	id_uuid(a);
	id_uuid(b);
	assert_true(id_is_uuid(slice_of(a)));
	assert_int_equal(a[14], '4');
	assert_non_null(strchr("89ab", a[19]));
	assert_string_not_equal(a, b);
}

static void test_is_uuid(void **state)
{
	static const struct {
		const char *text;
		bool is_one;
	} table[] = {
		{ "123e4567-e89b-42d3-a456-426614174000", true },
		{ "123E4567-E89B-42D3-A456-426614174000", true },
		{ "123e4567-e89b-42d3-a456-42661417400", false },
		{ "123e4567-e89b-42d3-a456-4266141740000", false },
		{ "123e4567-e89b-42d3-a456_426614174000", false },
		{ "123e4567-e89b-42d3-a456-42661417400g", false },
		{ "", false },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_int_equal(id_is_uuid(slice_of(table[i].text)),
				 table[i].is_one);
}

static void test_words(void **state)
{
	char token[41], word[17];

	id_token(token, 40);
	id_word(word, 16);
	assert_int_equal(strlen(token), 40);
	assert_int_equal(strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789"),
			 16);
	assert_int_equal(id_random(1), 0);
	assert_true(id_random(5) < 5);
}

static uint32_t count_up(void)
{
	return 42;
}

static const char *name(void)
{
	return "test";
}

static void fill(void *out, size_t n)
{
	memset(out, 0x5a, n);
}

static void test_repeats(void **state)
{
	static struct randombytes_implementation same = {
		.implementation_name = name, .random = count_up, .buf = fill
	};
	char a[ID_UUID_SIZE];

	randombytes_set_implementation(&same);
	id_uuid(a);
	assert_string_equal(a, "5a5a5a5a-5a5a-4a5a-9a5a-5a5a5a5a5a5a");
	randombytes_set_implementation(&randombytes_sysrandom_implementation);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uuid),
		cmocka_unit_test(test_is_uuid),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_repeats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
