/* SPDX-License-Identifier: MIT */
/* Anybody may call in, and a REFER makes the organisation's trunk dial at its
 * expense: strangers may not ask for that (design, "REFER in"). */
#include <string.h>
#include "agent/call/referrer.h"
#include "agent/call/plan.h"
#include "core/config.h"
#include "tests/unit/agent/fixture_house.h"

#define STRANGER "198.51.100.7"

static bool is_known(struct house *house, bool is_inbound, const char *peer)
{
	struct call_row row = { .id = "x",
				.org_id = HOUSE_ORG,
				.inbound = is_inbound,
				.to = HOUSE_NUMBER,
				.from = HOUSE_CALLEE };
	struct addr addr;

	assert_int_equal(addr_parse(&addr, slice_of(peer), 5061), 0);
	return referrer_is_known(&house->service, house->arena, &row, &addr);
}

static bool is_known_with(struct house *house, const char *setting,
			  const char *peer)
{
	char *env[] = { arena_printf(house->arena, "PARLEY_SIP_%s", setting),
			NULL };
	const struct config *config = house->service.config;
	struct config *own;
	struct buffer why;
	bool known;

	buffer_init(&why, 512);
	assert_int_equal(config_open(&own, NULL, env, &why), 0);
	house->service.config = own;
	known = is_known(house, true, peer);
	house->service.config = config;
	config_close(&own);
	buffer_reset(&why);
	return known;
}

static void test_strangers_are_not(void **state)
{
	struct house *house = *state;

	assert_false(is_known(house, true, STRANGER));
	assert_false(is_known(house, true, "::ffff:" STRANGER));
	assert_false(is_known(house, true, "2a01:4f8::1"));
}

static void test_a_trunk_is(void **state)
{
	assert_true(is_known(*state, false, STRANGER));
}

static void test_neighbours_are(void **state)
{
	static const struct {
		const char *listen, *peer;
		bool known;
	} rows[] = {
		{ "127.0.0.1", "127.0.0.1", true },
		{ "127.0.0.1", "::1", true },
		{ "127.0.0.1", "10.1.2.3", false },
		{ "10.0.0.5", "10.1.2.3", true },
		{ "10.0.0.5", "::ffff:10.1.2.3", true },
		{ "10.0.0.5", "192.168.0.9", true },
		{ "fd00::5", "fd00::1", true },
		{ "10.0.0.5", STRANGER, false },
		{ "10.0.0.5", "10.0.0.5", false }, /* we ourselves */
		{ "10.0.0.5", "127.0.0.1", false },
		{ "0.0.0.0", "127.0.0.1", false },
		{ "0.0.0.0", "10.1.2.3", false },
		{ "::", "::ffff:10.1.2.3", false },
		{ "203.0.113.1", "10.1.2.3", false },
		{ "203.0.113.1", "127.0.0.1", false },
	};
	struct house *house = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (is_known_with(house,
				  arena_printf(house->arena, "LISTEN=%s",
					       rows[i].listen),
				  rows[i].peer) != rows[i].known)
			fail_msg("%s at %s", rows[i].peer, rows[i].listen);
}

static void test_whom_the_number_names(void **state)
{
	static const struct {
		const char *options;
		bool known;
	} rows[] = {
		{ NULL, false },
		{ "{}", false },
		{ "{\"allowed_ips\":[]}", false },
		{ "{\"allowed_ips\":[\"203.0.113.0/24\"]}", false },
		{ "{\"allowed_ips\":[\"203.0.113.0/24\","
		  "\"198.51.100.0/24\"]}",
		  true },
		{ "{\"allowed_ips\":[7,\"nonsense\"]}", false },
	};
	struct house *house = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		house_put_trunk(house, false, NULL, rows[i].options);
		assert_int_equal(is_known(house, true, STRANGER),
				 rows[i].known);
	}
}

static void test_whom_the_node_names(void **state)
{
	struct house *house = *state;

	assert_true(is_known_with(
		house, "ALLOWED_NETWORKS=203.0.113.0/24, " STRANGER, STRANGER));
	assert_false(is_known_with(house, "ALLOWED_NETWORKS=203.0.113.0/24",
				   STRANGER));
	assert_false(is_known_with(house, "ALLOWED_NETWORKS= , ", STRANGER));
	assert_true(is_known_with(house, "REQUIRE_CLIENT_CERTIFICATE=on",
				  STRANGER));
}

/* The same caller, asked for by a node that all the internet reaches. */
static void test_a_refusal_dials_nothing(void **state)
{
	char *env[] = { "PARLEY_SIP_LISTEN=0.0.0.0", NULL };
	struct house *house = *state;
	const struct config *config = house->service.config;
	struct config *open;
	struct far_leg *leg;
	struct buffer why;

	house_put_number(house, "{'task':'This is a long story of many words "
				"that goes on and on and on.'}");
	leg = house_dial_in(house, HOUSE_NUMBER);
	house_run(house, 500);
	assert_true(leg->is_up);
	buffer_init(&why, 512);
	assert_int_equal(config_open(&open, NULL, env, &why), 0);
	house->service.config = open;
	assert_int_equal(session_refer(leg->session,
				       "sip:+14155550177@trunk.test", NULL),
			 0);
	house_run(house, 500);
	house->service.config = config;
	assert_int_equal(leg->n_told, 1);
	assert_int_equal(leg->told[0], 403);
	assert_int_equal(house->n_legs, 1);
	assert_int_equal(session_refer(leg->session,
				       "sip:+14155550177@trunk.test", NULL),
			 0);
	house_run(house, 500);
	assert_int_equal(house->n_legs, 2); /* what the check is for */
	config_close(&open);
	buffer_reset(&why);
}

/* What a transfer may dial is what the plan allows. */
static void test_premium_numbers_are_no_country(void **state)
{
	assert_true(plan_allows("US", "+12125550100"));
	assert_false(plan_allows("US", "+19005550100"));
	assert_false(plan_allows("US,CA", "+19005550100"));
	assert_true(plan_allows("", "+19005550100")); /* without a limit */
}

#define CASE(fn)                                                               \
	cmocka_unit_test_setup_teardown(fn, house_setup, house_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_strangers_are_not),
		CASE(test_a_trunk_is),
		CASE(test_neighbours_are),
		CASE(test_whom_the_number_names),
		CASE(test_whom_the_node_names),
		CASE(test_premium_numbers_are_no_country),
		CASE(test_a_refusal_dials_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
