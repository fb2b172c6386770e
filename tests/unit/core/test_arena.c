/* SPDX-License-Identifier: MIT */
/* core/arena: zeroed, aligned, apart from each other, all freed at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdalign.h>
#include <string.h>
#include "core/arena.h"

static void test_many(void **state)
{
	struct arena *arena = arena_open();
	unsigned char *pieces[500];
	size_t i, k;

	for (i = 0; i < 500; i++) {
		pieces[i] = arena_new(arena, i * 7 % 300);
		assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t),
				 0);
		for (k = 0; k < i * 7 % 300; k++)
			assert_int_equal(pieces[i][k], 0);
		memset(pieces[i], (int)(i % 255 + 1), i * 7 % 300);
	}
	for (i = 0; i < 500; i++)
		for (k = 0; k < i * 7 % 300; k++)
			assert_int_equal(pieces[i][k], i % 255 + 1);
	arena_close(&arena);
	assert_null(arena);
	arena_close(&arena);
}

static void test_large(void **state)
{
	struct arena *arena = arena_open();
	char *small = arena_new(arena, 8), *large = arena_new(arena, 1 << 20);
	char *next = arena_new(arena, 8);

	memset(large, 'x', 1 << 20);
	assert_int_equal(small[0], 0);
	assert_int_equal(next[0], 0);
	assert_true(next - small < 4096); /* the first chunk goes on */
	arena_close(&arena);
}

static void test_text(void **state)
{
	struct arena *arena = arena_open();

	assert_string_equal(arena_dup(arena, slice_make("abc", 2)), "ab");
	assert_string_equal(arena_dup(arena, slice_make(NULL, 0)), "");
	assert_string_equal(arena_dup_str(arena, "x"), "x");
	assert_null(arena_dup_str(arena, NULL));
	assert_string_equal(arena_printf(arena, "%d-%s", 5, "y"), "5-y");
	arena_close(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
