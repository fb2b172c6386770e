/* SPDX-License-Identifier: MIT */
/* core/time: ISO 8601 out and in, the form with a space and an offset. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include "core/time.h"

static void test_write(void **state)
{
	static const struct {
		int64_t ms;
		const char *text;
	} table[] = {
		{ 0, "1970-01-01T00:00:00.000Z" },
		{ -1, "1969-12-31T23:59:59.999Z" },
		{ 951782400000, "2000-02-29T00:00:00.000Z" },
		{ 1767323045678, "2026-01-02T03:04:05.678Z" },
		{ 4107542399999, "2100-02-28T23:59:59.999Z" },
		{ INT64_MAX, "9999-12-31T23:59:59.999Z" },
		{ INT64_MIN, "0000-01-01T00:00:00.000Z" },
	};
	char out[TIME_TEXT_SIZE];
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_string_equal(time_write(out, table[i].ms),
				    table[i].text);
}

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		int64_t ms;
	} table[] = {
		{ "1970-01-01T00:00:00Z", 0 },
		{ "2026-01-02T03:04:05.678Z", 1767323045678 },
		{ "2026-01-02T03:04:05.678901Z", 1767323045678 },
		{ "2026-01-02T03:04:05.6Z", 1767323045600 },
		{ "2026-01-02T03:04:05+01:00", 1767319445000 },
		{ "2026-01-02T03:04:05-0800", 1767351845000 },
		{ "2026-01-02 03:04:05 -08:00", 1767351845000 },
		{ "2026-01-02 03:04:05", 1767323045000 },
		{ "2024-02-29 00:00:00", 1709164800000 },
	};
	int64_t ms;
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		assert_int_equal(time_parse(&ms, slice_of(table[i].text)), 0);
		assert_int_equal(ms, table[i].ms);
	}
}

static void test_refuse(void **state)
{
	static const char *const table[] = {
		"",
		"2026",
		"2026-01-02",
		"2026-01-02T03:04:05",
		"2026-13-02T03:04:05Z",
		"2026-00-02T03:04:05Z",
		"2026-02-29T03:04:05Z",
		"2100-02-29T03:04:05Z",
		"2026-01-32T03:04:05Z",
		"2026-01-02T24:04:05Z",
		"2026-01-02T03:60:05Z",
		"2026-01-02T03:04:60Z",
		"2026-01-02T03:04:05.Z",
		"2026-01-02T03:04:05Zx",
		"2026-01-02T03:04:05+1:00",
		"2026-01-02T03:04:05+15:00",
		"2026-01-02 03:04:05 PST",
		"+026-01-02T03:04:05Z",
		"2026-01-02 3:04:05",
		"now",
	};
	int64_t ms = 7;
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_int_equal(time_parse(&ms, slice_of(table[i])), -EINVAL);
	assert_int_equal(ms, 7);
}

static void test_both_ways(void **state)
{
	char out[TIME_TEXT_SIZE];
	int64_t ms, back;

	for (ms = -30000000000000; ms < 90000000000000; ms += 98765432123) {
		time_write(out, ms);
		assert_int_equal(time_parse(&back, slice_of(out)), 0);
		assert_int_equal(back, ms);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_refuse),
		cmocka_unit_test(test_both_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
