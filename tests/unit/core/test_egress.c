/* SPDX-License-Identifier: MIT */
/* core/egress: where a tenant's URL may lead, with each of the two switches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/un.h>
#include "core/egress.h"

/* allowed: with neither switch, with allow_private, with allow_loopback */
static const struct {
	const char *ip;
	bool none, with_private, with_loopback;
} table[] = {
	{ "8.8.8.8", true, true, true },
	{ "1.1.1.1", true, true, true },
	{ "172.15.255.255", true, true, true },
	{ "172.32.0.0", true, true, true },
	{ "100.63.255.255", true, true, true },
	{ "100.128.0.0", true, true, true },
	{ "192.0.1.0", true, true, true },
	{ "198.20.0.0", true, true, true },
	{ "223.255.255.255", true, true, true },
	{ "2606:4700::1111", true, true, true },
	{ "2a00:1450:4001::1", true, true, true },
	{ "127.0.0.1", false, false, true },
	{ "127.255.255.255", false, false, true },
	{ "::1", false, false, true },
	{ "10.0.0.1", false, true, false },
	{ "172.16.0.1", false, true, false },
	{ "172.31.255.255", false, true, false },
	{ "192.168.1.1", false, true, false },
	{ "100.64.0.1", false, true, false },
	{ "169.254.1.1", false, true, false },
	{ "fc00::1", false, true, false },
	{ "fdff::1", false, true, false },
	{ "fe80::1", false, true, false },
	{ "169.254.169.254", false, false, false },
	{ "fd00:ec2::254", false, false, false },
	{ "100.100.100.200", false, false, false },
	{ "0.0.0.0", false, false, false },
	{ "0.1.2.3", false, false, false },
	{ "192.0.0.8", false, false, false },
	{ "198.18.0.1", false, false, false },
	{ "198.19.255.255", false, false, false },
	{ "224.0.0.1", false, false, false },
	{ "240.0.0.1", false, false, false },
	{ "255.255.255.255", false, false, false },
	{ "::", false, false, false },
	{ "::7f00:1", false, false, false },
	{ "::ffff:8.8.8.8", false, false, false },
	{ "::ffff:127.0.0.1", false, false, false },
	{ "::ffff:10.0.0.1", false, false, false },
	{ "::ffff:0:127.0.0.1", false, false, false },
	{ "64:ff9b::8.8.8.8", false, false, false },
	{ "64:ff9b:1::1", false, false, false },
	{ "2002:7f00:1::", false, false, false },
	{ "2001::1", false, false, false },
	{ "ff02::1", false, false, false },
	{ "fec0::1", false, false, false },
};

static void test_addresses(void **state)
{
	static const struct egress none = { false, false };
	static const struct egress with_private = { .allow_private = true };
	static const struct egress with_loopback = { .allow_loopback = true };
	struct addr addr;
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		assert_int_equal(addr_parse(&addr, slice_of(table[i].ip), 443),
				 0);
		assert_int_equal(egress_check(&none, &addr),
				 table[i].none ? 0 : -EACCES);
		assert_int_equal(egress_check(&with_private, &addr),
				 table[i].with_private ? 0 : -EACCES);
		assert_int_equal(egress_check(&with_loopback, &addr),
				 table[i].with_loopback ? 0 : -EACCES);
	}
}

static void test_other_families(void **state)
{
	static const struct egress all = { true, true };
	struct addr addr = { 0 };

	assert_int_equal(egress_check(&all, &addr), -EACCES);
	addr.sa.sa_family = AF_UNIX;
	assert_int_equal(egress_check(&all, &addr), -EACCES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_other_families),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
