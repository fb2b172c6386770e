/* SPDX-License-Identifier: MIT */
/* Lists of networks: sip.allowed_networks and a trunk's allowed_ips
 * (specification, "SIP"): one match is enough, an empty list is told apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "agent/call/networks.h"

#define PEER "192.0.2.7"

static struct addr addr_of(const char *text)
{
	struct addr addr;

	assert_int_equal(addr_parse(&addr, slice_of(text), 5061), 0);
	return addr;
}

static void finds_in_text(void **state)
{
	static const struct {
		const char *list;
		enum networks_answer answer;
	} rows[] = {
		{ "", NETWORKS_EMPTY },
		{ " , ", NETWORKS_EMPTY },
		{ "10.0.0.0/8", NETWORKS_OUTSIDE },
		{ "10.0.0.0/8, ,2001:db8::/32", NETWORKS_OUTSIDE },
		{ "nonsense", NETWORKS_OUTSIDE },
		{ "192.0.2.0/24", NETWORKS_INSIDE },
		{ "10.0.0.0/8,192.0.2.7", NETWORKS_INSIDE },
		{ "192.0.2.7,10.0.0.0/8", NETWORKS_INSIDE },
	};
	struct addr peer = addr_of(PEER);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(networks_find(slice_of(rows[i].list), &peer),
				 rows[i].answer);
}

static void finds_in_options(void **state)
{
	static const struct {
		const char *options;
		enum networks_answer answer;
	} rows[] = {
		{ NULL, NETWORKS_EMPTY },
		{ "{}", NETWORKS_EMPTY },
		{ "not JSON", NETWORKS_EMPTY },
		{ "{\"allowed_ips\":[]}", NETWORKS_EMPTY },
		{ "{\"allowed_ips\":[1]}", NETWORKS_OUTSIDE },
		{ "{\"allowed_ips\":[\"10.0.0.0/8\"]}", NETWORKS_OUTSIDE },
		{ "{\"allowed_ips\":[\"192.0.2.7\",\"10.0.0.0/8\"]}",
		  NETWORKS_INSIDE },
	};
	struct addr peer = addr_of(PEER);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(networks_find_option(rows[i].options, &peer),
				 rows[i].answer);
}

static void finds_what_is_none(void **state)
{
	struct slice bad = networks_bad(SLICE("10.0.0.0/8, 10.0.0.0/33, x"));

	assert_true(slice_eq(bad, SLICE("10.0.0.0/33")));
	assert_int_equal(networks_bad(SLICE("10.0.0.0/8, ,::1")).len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_in_text),
		cmocka_unit_test(finds_in_options),
		cmocka_unit_test(finds_what_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
