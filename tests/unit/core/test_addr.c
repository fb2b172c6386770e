/* SPDX-License-Identifier: MIT */
/* core/addr: literals in, text out, networks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include "core/addr.h"

static void test_text(void **state)
{
	static const struct {
		const char *in;
		const char *ip;
		const char *text;
	} table[] = {
		{ "192.0.2.1", "192.0.2.1", "192.0.2.1:5061" },
		{ "2001:DB8:0::1", "2001:db8::1", "[2001:db8::1]:5061" },
		{ "[::1]", "::1", "[::1]:5061" },
		{ "0.0.0.0", "0.0.0.0", "0.0.0.0:5061" },
	};
	char out[ADDR_TEXT_SIZE];
	struct addr addr;
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		assert_int_equal(addr_parse(&addr, slice_of(table[i].in), 5061),
				 0);
		assert_string_equal(addr_ip(&addr, out), table[i].ip);
		assert_string_equal(addr_text(&addr, out), table[i].text);
		assert_int_equal(addr_port(&addr), 5061);
	}
}

static void test_not_literals(void **state)
{
	static const struct slice table[] = {
		SLICE(""),
		SLICE("localhost"),
		SLICE("1.2.3"),
		SLICE("1.2.3.256"),
		SLICE("0x7f.0.0.1"),
		SLICE("[1.2.3.4]"),
		SLICE("::1 "),
		SLICE("1.2.3.4\0a"),
		SLICE("[::1"),
		SLICE("fe80::1%1"),
		SLICE("1.2.3.4:5"),
		SLICE("[]"),
		SLICE("1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:b")
	};
	struct addr addr;
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_int_equal(addr_parse(&addr, table[i], 1), -EINVAL);
}

static void test_networks(void **state)
{
	static const struct {
		const char *ip;
		const char *cidr;
		int result;
	} table[] = {
		{ "10.1.2.3", "10.0.0.0/8", 1 },
		{ "11.1.2.3", "10.0.0.0/8", 0 },
		{ "10.1.2.3", "10.1.2.3", 1 },
		{ "10.1.2.3", "10.1.2.4", 0 },
		{ "10.1.2.3", "0.0.0.0/0", 1 },
		{ "172.31.255.255", "172.16.0.0/12", 1 },
		{ "172.32.0.0", "172.16.0.0/12", 0 },
		{ "fd12::1", "fc00::/7", 1 },
		{ "fe00::1", "fc00::/7", 0 },
		{ "::1", "::1/128", 1 },
		{ "::1", "127.0.0.0/8", 0 },
		{ "127.0.0.1", "::/0", 0 },
		{ "::ffff:10.1.1.1", "10.0.0.0/8", 1 },
		{ "10.1.2.3", "10.0.0.0/33", -EINVAL },
		{ "10.1.2.3", "10.0.0.0/", -EINVAL },
		{ "10.1.2.3", "10.0.0/8", -EINVAL },
		{ "10.1.2.3", "10.0.0.0/-1", -EINVAL },
		{ "10.1.2.3", "", -EINVAL },
	};
	struct addr addr;
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		addr_parse(&addr, slice_of(table[i].ip), 0);
		assert_int_equal(
			addr_in_network(&addr, slice_of(table[i].cidr)),
			table[i].result);
	}
}

static void test_judging(void **state)
{
	struct addr a, b;

	addr_parse(&a, SLICE("127.0.0.1"), 1);
	addr_parse(&b, SLICE("127.0.0.1"), 2);
	assert_true(addr_is_same_host(&a, &b));
	assert_false(addr_is_same(&a, &b));
	addr_set_port(&b, 1);
	assert_true(addr_is_same(&a, &b));
	assert_true(addr_is_loopback(&a));
	assert_false(addr_is_any(&a));
	addr_parse(&b, SLICE("::"), 1);
	assert_true(addr_is_any(&b));
	assert_false(addr_is_same_host(&a, &b));
	addr_parse(&b, SLICE("::1"), 1);
	assert_true(addr_is_loopback(&b));
	assert_int_equal(addr_size(&a), sizeof(struct sockaddr_in));
	assert_int_equal(addr_size(&b), sizeof(struct sockaddr_in6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_not_literals),
		cmocka_unit_test(test_networks),
		cmocka_unit_test(test_judging),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
