/* SPDX-License-Identifier: MIT */
/* http/range: one byte range of a file (RFC 9110, 14.1.2 and 14.2); what is
 * malformed or names several parts asks for the whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "http/range.h"

static const struct {
	const char *header; /* NULL: none */
	uint64_t size;
	int result;
	uint64_t first, n;
} table[] = {
	{ NULL, 100, 0, 0, 100 },
	{ "", 100, 0, 0, 100 },
	{ "bytes=0-99", 100, 1, 0, 100 },
	{ "bytes=0-0", 100, 1, 0, 1 },
	{ "bytes=10-19", 100, 1, 10, 10 },
	{ "bytes=99-99", 100, 1, 99, 1 },
	{ "bytes=10-", 100, 1, 10, 90 },
	{ "bytes=0-", 100, 1, 0, 100 },
	{ "bytes=90-200", 100, 1, 90, 10 },
	{ "bytes=0-18446744073709551615", 100, 1, 0, 100 },
	{ "bytes=0-99999999999999999999999", 100, 1, 0, 100 },
	{ "bytes=-1", 100, 1, 99, 1 },
	{ "bytes=-100", 100, 1, 0, 100 },
	{ "bytes=-101", 100, 1, 0, 100 },
	{ "bytes=-99999999999999999999999", 100, 1, 0, 100 },
	{ "Bytes=1-2", 100, 1, 1, 2 },
	{ "bytes=0-", 1, 1, 0, 1 },
	{ "bytes=4294967296-4294967297", 5000000000, 1, 4294967296, 2 },
	/* cannot be satisfied */
	{ "bytes=100-", 100, -1, 0, 100 },
	{ "bytes=100-200", 100, -1, 0, 100 },
	{ "bytes=99999999999999999999999-", 100, -1, 0, 100 },
	{ "bytes=-0", 100, -1, 0, 100 },
	{ "bytes=0-", 0, -1, 0, 0 },
	{ "bytes=-5", 0, -1, 0, 0 },
	/* the whole */
	{ "bytes=5-4", 100, 0, 0, 100 },
	{ "bytes=0-0,5-6", 100, 0, 0, 100 },
	{ "bytes=0-0,", 100, 0, 0, 100 },
	{ "bytes=-5,0-1", 100, 0, 0, 100 },
	{ "bytes=-", 100, 0, 0, 100 },
	{ "bytes=", 100, 0, 0, 100 },
	{ "bytes", 100, 0, 0, 100 },
	{ "bytes=5", 100, 0, 0, 100 },
	{ "bytes=a-b", 100, 0, 0, 100 },
	{ "bytes=0x1-2", 100, 0, 0, 100 },
	{ "bytes=+1-2", 100, 0, 0, 100 },
	{ "bytes= 1-2", 100, 0, 0, 100 },
	{ "bytes=1-2 ", 100, 0, 0, 100 },
	{ "bytes=1-2-3", 100, 0, 0, 100 },
	{ "bytes=--1", 100, 0, 0, 100 },
	{ "items=0-1", 100, 0, 0, 100 },
	{ "bytes 0-1", 100, 0, 0, 100 },
};

static void test_table(void **state)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct range range;
		int result = range_parse(&range, slice_of(table[i].header),
					 table[i].size);

		if (result != table[i].result ||
		    range.first != table[i].first || range.n != table[i].n)
			fail_msg("%s of %d: %d, %d bytes from %d",
				 table[i].header, (int)table[i].size, result,
				 (int)range.n, (int)range.first);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_table) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
