/* SPDX-License-Identifier: MIT */
/* core/buffer: grows to its ceiling and not past it, remembers the first
 * failure, and is always terminated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include "core/buffer.h"
#include "core/mem.h"

static void test_grows(void **state)
{
	struct buffer buf;
	int i;

	buffer_init(&buf, 10000);
	assert_string_equal(buffer_str(&buf), "");
	for (i = 0; i < 1000; i++)
		buffer_printf(&buf, "%03d,", i);
	assert_int_equal(buffer_error(&buf), 0);
	assert_int_equal(buffer_slice(&buf).len, 4000);
	assert_memory_equal(buffer_str(&buf) + 3996, "999,", 5);
	buffer_reset(&buf);
	assert_int_equal(buffer_slice(&buf).len, 0);
}

static void test_ceiling(void **state)
{
	struct buffer buf;

	buffer_init(&buf, 4);
	buffer_add_str(&buf, "abcd");
	assert_int_equal(buffer_error(&buf), 0);
	buffer_add_char(&buf, 'e');
	assert_int_equal(buffer_error(&buf), -EMSGSIZE);
	buffer_clear(&buf);
	assert_int_equal(buffer_error(&buf), 0);
	buffer_add_str(&buf, "abc");
	buffer_printf(&buf, "%s", "de");
	buffer_add_str(&buf, "f"); /* would fit, but the text is broken */
	assert_int_equal(buffer_error(&buf), -EMSGSIZE);
	assert_string_equal(buffer_str(&buf), "abc");
	buffer_reset(&buf);
	assert_int_equal(buffer_error(&buf), 0);
	assert_int_equal(buf.max, 4);
}

static void test_consume(void **state)
{
	struct buffer buf;

	buffer_init(&buf, 100);
	buffer_consume(&buf, 5);
	buffer_add(&buf, SLICE("one two"));
	buffer_consume(&buf, 4);
	assert_string_equal(buffer_str(&buf), "two");
	buffer_consume(&buf, 100);
	assert_string_equal(buffer_str(&buf), "");
	buffer_reset(&buf);
}

static void test_take(void **state)
{
	struct buffer buf;
	char *text;

	buffer_init(&buf, 100);
	text = buffer_take(&buf);
	assert_string_equal(text, "");
	mem_free(text);
	buffer_add(&buf, SLICE("a\0b"));
	text = buffer_take(&buf);
	assert_memory_equal(text, "a\0b\0", 4);
	assert_int_equal(buf.len, 0);
	mem_free(text);
	buffer_reset(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grows),
		cmocka_unit_test(test_ceiling),
		cmocka_unit_test(test_consume),
		cmocka_unit_test(test_take),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
