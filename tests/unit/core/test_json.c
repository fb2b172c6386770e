/* SPDX-License-Identifier: MIT */
/* core/json: strict on the way in; on the way out byte for byte what
 * JSON.stringify(JSON.parse(text)) writes, because signatures hash that. The
 * expected texts of the number table were checked with Node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include "core/json.h"
#include "core/mem.h"

static void test_both_ways(void **state)
{
	static const struct {
		const char *in;
		const char *out;
	} table[] = {
#include "tests/unit/core/json_table.h"
	};
	struct json_problem problem;
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		json_t *value = json_parse(slice_of(table[i].in), &problem);
		char *text = json_text(value);

		assert_non_null(value);
		assert_string_equal(text, table[i].out);
		mem_free(text);
		json_decref(value);
	}
}

static void test_refused(void **state)
{
	static const struct slice table[] = {
		SLICE(""),
		SLICE(" "),
		SLICE("{"),
		SLICE("[1,]"),
		SLICE("{\"a\":1,}"),
		SLICE("{\"a\":1,\"a\":2}"),
		SLICE("{\"a\":1,\"\\u0061\":2}"),
		SLICE("1 2"),
		SLICE("{} x"),
		SLICE("nul"),
		SLICE("NaN"),
		SLICE("-Infinity"),
		SLICE("01"),
		SLICE("+1"),
		SLICE("1."),
		SLICE(".5"),
		SLICE("0x10"),
		SLICE("1e999"),
		SLICE("- 1"),
		SLICE("'a'"),
		SLICE("\"a\tb\""),
		SLICE("\"a\0b\""),
		SLICE("\"a\\u0000b\""),
		SLICE("{\"a\\u0000b\":1}"),
		SLICE("\"\xff\""),
		SLICE("\"\xc0\xaf\""),
		SLICE("\"\\ud800\""),
		SLICE("\"\\x\""),
		SLICE("\"abc"),
		SLICE("\"abc\\"),
		SLICE("// a\n1"),
		SLICE("\xef\xbb\xbf{}"),
		SLICE("{a:1}"),
		SLICE("123456789012345678901234567890x"),
		SLICE("--123456789012345678901234567890"),
	};
	struct json_problem problem;
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		problem.text[0] = '\0';
		assert_null(json_parse(table[i], &problem));
		assert_string_not_equal(problem.text, "");
		assert_null(json_parse(table[i], NULL));
	}
}

static void test_where(void **state)
{
	struct json_problem problem;

	assert_null(json_parse(SLICE("{\n \"a\": x}"), &problem));
	assert_int_equal(problem.line, 2);
	assert_true(problem.column >= 6 && problem.column <= 8);
}

static void nest(struct buffer *text, int depth, char open, char close)
{
	int i;

	buffer_clear(text);
	for (i = 0; i < depth; i++)
		buffer_add_str(text, open == '[' ? "[" : "{\"a\":");
	buffer_add_char(text, '1');
	for (i = 0; i < depth; i++)
		buffer_add_char(text, close);
}

static void test_depth(void **state)
{
	struct json_problem problem;
	struct buffer text;
	json_t *value;

	buffer_init(&text, 10 * 1000 * 1000);
	nest(&text, JSON_DEPTH_MAX, '[', ']');
	value = json_parse(buffer_slice(&text), NULL);
	assert_non_null(value);
	json_decref(value);
	nest(&text, JSON_DEPTH_MAX + 1, '[', ']');
	assert_null(json_parse(buffer_slice(&text), &problem));
	assert_string_equal(problem.text, "nested too deeply");
	assert_int_equal(problem.line, 1);
	assert_int_equal(problem.column, JSON_DEPTH_MAX + 1);
	nest(&text, JSON_DEPTH_MAX + 1, '{', '}');
	assert_null(json_parse(buffer_slice(&text), NULL));
	nest(&text, 1000 * 1000, '[', ']');
	assert_null(json_parse(buffer_slice(&text), NULL));
	buffer_clear(&text);
	buffer_add_char(&text, '"');
	nest(&text, 0, '[', ']');
	value = json_parse(SLICE("\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
				 "[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[[[[\""),
			   NULL);
	assert_non_null(value); /* brackets in a string are text */
	json_decref(value);
	buffer_reset(&text);
}

static void test_write_bounded(void **state)
{
	json_t *value = json_pack("{s:s,s:[i,i]}", "key", "text", "a", 1, 2);
	struct buffer out;
	size_t max;

	for (max = 0; max < 24; max++) {
		buffer_init(&out, max);
		json_write(&out, value);
		assert_int_equal(buffer_error(&out), -EMSGSIZE);
		buffer_reset(&out);
	}
	buffer_init(&out, 24);
	json_write(&out, value);
	assert_string_equal(buffer_str(&out), "{\"key\":\"text\",\"a\":[1,2]}");
	buffer_reset(&out);
	json_decref(value);
	assert_null(json_text(NULL));
}

static void test_path(void **state)
{
	static const struct {
		const char *path;
		const char *found; /* NULL: nothing */
		int err;
	} table[] = {
		{ "$", "{\"a\":{\"b\":[10,{\"c d\":20}]},\"x.y\":30}", 0 },
		{ "$.a.b[0]", "10", 0 },
		{ "a.b[0]", "10", 0 },
		{ "$['a']['b'][1]['c d']", "20", 0 },
		{ "$.a.b[1][\"c d\"]", "20", 0 },
		{ "$['x.y']", "30", 0 },
		{ "['x.y']", "30", 0 },
		{ "a.b[2]", NULL, 0 },
		{ "a.z", NULL, 0 },
		{ "a.z.y[3].x", NULL, 0 },
		{ "a[0]", NULL, 0 },
		{ "a.b.c", NULL, 0 },
		{ "", NULL, -EINVAL },
		{ "$.", NULL, -EINVAL },
		{ "a..b", NULL, -EINVAL },
		{ ".a", NULL, -EINVAL },
		{ "a.", NULL, -EINVAL },
		{ "a[", NULL, -EINVAL },
		{ "a[]", NULL, -EINVAL },
		{ "a[-1]", NULL, -EINVAL },
		{ "a[1", NULL, -EINVAL },
		{ "a['b]", NULL, -EINVAL },
		{ "a['b'", NULL, -EINVAL },
		{ "a]b", NULL, -EINVAL },
		{ "a[99999999999]", NULL, -EINVAL },
	};
	json_t *root = json_parse(
		SLICE("{\"a\":{\"b\":[10,{\"c d\":20}]},\"x.y\":30}"), NULL);
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		int err;
		json_t *found = json_path(root, slice_of(table[i].path), &err);
		char *text = json_text(found);

		assert_int_equal(err, table[i].err);
		if (table[i].found)
			assert_string_equal(text, table[i].found);
		else
			assert_null(found);
		mem_free(text);
	}
	json_decref(root);
}

static void test_to_bool_and_real(void **state)
{
	static const struct {
		const char *text;
		int is_bool; /* -1: not one */
		double real; /* NAN: not one */
	} table[] = {
		{ "true", 1, NAN },	  { "false", 0, NAN },
		{ "\"true\"", 1, NAN },	  { "\"false\"", 0, NAN },
		{ "\"True\"", -1, NAN },  { "1", -1, 1 },
		{ "null", -1, NAN },	  { "1.5", -1, 1.5 },
		{ "\"1.5\"", -1, 1.5 },	  { "\"-2e3\"", -1, -2000 },
		{ "\" 1\"", -1, NAN },	  { "\"1 \"", -1, NAN },
		{ "\"\"", -1, NAN },	  { "\"0x10\"", -1, NAN },
		{ "\"nan\"", -1, NAN },	  { "\"inf\"", -1, NAN },
		{ "\"1e999\"", -1, NAN }, { "\"1-2\"", -1, NAN },
		{ "[]", -1, NAN },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		json_t *value = json_parse(slice_of(table[i].text), NULL);
		bool is_on = false;
		double real = 0;

		assert_non_null(value);
		assert_int_equal(json_to_bool(&is_on, value),
				 table[i].is_bool < 0 ? -EINVAL : 0);
		assert_int_equal(is_on, table[i].is_bool == 1);
		assert_int_equal(json_to_real(&real, value),
				 isnan(table[i].real) ? -EINVAL : 0);
		assert_true(isnan(table[i].real) || real == table[i].real);
		json_decref(value);
	}
}

static void test_put(void **state)
{
	json_t *object = json_object();
	char *text;

	json_put_str(object, "s", "x");
	json_put_str(object, "n", NULL);
	json_put_str(object, "bad",
		     "a\xff"
		     "b\xc3\xa9");
	json_put_int(object, "i", -5);
	json_put_bool(object, "b", true);
	json_put(object, "o", json_object());
	json_put_str(object, "s", "y"); /* keeps its place */
	text = json_text(object);
	assert_string_equal(text, "{\"s\":\"y\",\"n\":null,"
				  "\"bad\":\"a\xef\xbf\xbd"
				  "b\xc3\xa9\","
				  "\"i\":-5,\"b\":true,\"o\":{}}");
	assert_string_equal(json_str(object, "s"), "y");
	assert_null(json_str(object, "n"));
	assert_null(json_str(object, "i"));
	assert_null(json_str(object, "none"));
	assert_null(json_str(NULL, "none"));
	mem_free(text);
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_where),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_write_bounded),
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_to_bool_and_real),
		cmocka_unit_test(test_put),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
