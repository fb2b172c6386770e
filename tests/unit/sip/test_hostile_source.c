/* SPDX-License-Identifier: MIT */
/* On a dual-stack socket IPv4 shows as ::ffff:192.0.2.1: those callers are not
 * one source, though they share a /64. Row: connections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "core/addr.h"
#include "sip/source_limit.h"

static uint32_t take(struct source_limit *limit, const char *ip)
{
	struct addr addr;

	assert_int_equal(addr_parse(&addr, slice_of(ip), 5061), 0);
	return source_limit_take(limit, &addr, 1);
}

static void test_mapped_callers_are_many(void **state)
{
	const struct source_limit_options options = { .per_s = 1, .burst = 2 };
	struct source_limit *limit = source_limit_open(&options);

	assert_int_equal(take(limit, "::ffff:192.0.2.1"), 0);
	assert_int_equal(take(limit, "::ffff:192.0.2.1"), 0);
	assert_int_equal(take(limit, "::ffff:192.0.2.1"), 1);
	assert_int_equal(take(limit, "::ffff:192.0.2.2"), 0);
	assert_int_equal(take(limit, "2001:db8::1"), 0);
	assert_int_equal(take(limit, "2001:db8::2"), 0);
	assert_int_equal(take(limit, "2001:db8::3"), 1);
	source_limit_close(&limit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mapped_callers_are_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
