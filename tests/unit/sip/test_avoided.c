/* SPDX-License-Identifier: MIT */
/* sip/avoided: for how long an address is, by address and port, in a bounded
 * table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include "sip/avoided.h"

enum { US_PER_S = 1000000 };

static struct addr at(const char *ip, uint16_t port)
{
	struct addr addr;

	assert_int_equal(addr_parse(&addr, slice_of(ip), port), 0);
	return addr;
}

static void test_time(void **state)
{
	struct avoided avoided = { 0 };
	struct addr a = at("192.0.2.1", 5061), b = at("192.0.2.1", 5062);
	uint64_t now = 1000;

	assert_false(avoided_has(&avoided, &a, now));
	avoided_add(&avoided, &a, 10, now);
	assert_true(avoided_has(&avoided, &a, now));
	assert_false(avoided_has(&avoided, &b, now));
	avoided_add(&avoided, &a, 3, now); /* never sooner */
	assert_true(avoided_has(&avoided, &a, now + 10 * US_PER_S - 1));
	assert_false(avoided_has(&avoided, &a, now + 10 * US_PER_S));
	avoided_add(&avoided, &a, UINT32_MAX, now);
	assert_true(avoided_has(&avoided, &a, now + 3599ull * US_PER_S));
	assert_false(avoided_has(&avoided, &a, now + 3600ull * US_PER_S));
	avoided_add(&avoided, &b, 0, now);
	assert_false(avoided_has(&avoided, &b, now));
}

static void test_bound(void **state)
{
	struct avoided avoided = { 0 };
	struct addr addr;
	unsigned n = 0;

	for (uint16_t i = 0; i <= AVOIDED_MAX; i++) {
		addr = at("2001:db8::1", 6000 + i);
		avoided_add(&avoided, &addr, 10u + i, 1);
	}
	for (uint16_t i = 0; i <= AVOIDED_MAX; i++) {
		addr = at("2001:db8::1", 6000 + i);
		n += avoided_has(&avoided, &addr, 2);
	}
	assert_int_equal(n, AVOIDED_MAX);
	addr = at("2001:db8::1", 6000); /* would have been free first */
	assert_false(avoided_has(&avoided, &addr, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
