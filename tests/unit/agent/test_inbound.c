/* SPDX-License-Identifier: MIT */
/* Which organisation an incoming call belongs to and whether its sender may
 * call there (decisions, "SIP": allowed_ips, sip.allowed_networks). */
#include <stdlib.h>
#include <string.h>
#include "agent/call/inbound.h"
#include "core/config.h"
#include "core/id.h"
#include "tests/unit/agent/fixture_house.h"

static int route(struct house *house, struct inbound_call *out, const char *to,
		 const char *peer)
{
	struct ua_invite invite = { .to_number = to,
				    .from_number = "4155550177",
				    .from_display = "" };

	assert_int_equal(addr_parse(&invite.peer, slice_of(peer), 5061), 0);
	return inbound_route(out, &house->service, house->arena, &invite);
}

static void finds_the_organisation(void **state)
{
	struct house *house = *state;
	struct inbound_call call;

	house_put_number(house, "{'task':'Talk.'}");
	assert_int_equal(route(house, &call, HOUSE_NUMBER, "192.0.2.9"), 0);
	assert_string_equal(call.row.org_id, HOUSE_ORG);
	assert_string_equal(call.row.to, HOUSE_NUMBER);
	assert_string_equal(call.row.from, "+14155550177");
	assert_string_equal(call.row.request,
			    "{\"task\":\"Talk.\",\"timezone\":\"UTC\"}");
	assert_string_equal(call.row.queue_status, "started");
	assert_true(call.row.inbound);
	assert_true(id_is_uuid(slice_of(call.row.id)));
	assert_int_equal(call.row.times.created_ms, 1767312000000);
	assert_int_equal(call.concurrency, 10);
}

static void takes_numbers_as_trunks_write_them(void **state)
{
	static const struct {
		const char *to;
		int status;
	} rows[] = {
		{ "+14155550100", 0 },
		{ "14155550100", 0 },
		{ "4155550100", 0 },
		{ "415-555-0100", 0 },
		{ "+14155550101", 404 },
		{ "alice", 404 },
		{ "", 404 },
	};
	struct house *house = *state;
	struct inbound_call call;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(route(house, &call, rows[i].to, "192.0.2.9"),
				 rows[i].status);
}

static void keeps_an_anonymous_caller(void **state)
{
	struct house *house = *state;
	struct ua_invite invite = { .to_number = HOUSE_NUMBER,
				    .from_number = "anonymous" };
	struct inbound_call call;

	addr_parse(&invite.peer, SLICE("192.0.2.9"), 5061);
	assert_int_equal(
		inbound_route(&call, &house->service, house->arena, &invite),
		0);
	assert_string_equal(call.row.from, "anonymous");
	assert_string_equal(call.row.request, "{\"timezone\":\"UTC\"}");
}

static void fills_in_what_the_organisation_says(void **state)
{
	struct house *house = *state;
	struct inbound_call call;

	house_sql(house, "UPDATE orgs SET webhook_url = 'https://org.test/',"
			 " timezone = 'Europe/Berlin'");
	house_put_number(house, "{'webhook':null}");
	assert_int_equal(route(house, &call, HOUSE_NUMBER, "192.0.2.9"), 0);
	assert_string_equal(call.row.request,
			    "{\"webhook\":\"https://org.test/\","
			    "\"timezone\":\"Europe/Berlin\"}");
	house_put_number(house, "{'webhook':'https://own.test/',"
				"'timezone':'UTC'}");
	assert_int_equal(route(house, &call, HOUSE_NUMBER, "192.0.2.9"), 0);
	assert_string_equal(call.row.request,
			    "{\"webhook\":\"https://own.test/\","
			    "\"timezone\":\"UTC\"}");
}

static void lets_in_whom_the_trunk_allows(void **state)
{
	static const struct {
		const char *options, *peer;
		int status;
	} rows[] = {
		{ NULL, "203.0.113.7", 0 },
		{ "{}", "203.0.113.7", 0 },
		{ "{\"allowed_ips\":[]}", "203.0.113.7", 0 },
		{ "{\"allowed_ips\":[\"203.0.113.0/24\"]}", "203.0.113.7", 0 },
		{ "{\"allowed_ips\":[\"203.0.113.7\"]}", "203.0.113.7", 0 },
		{ "{\"allowed_ips\":[\"10.0.0.0/8\",\"203.0.113.7\"]}",
		  "203.0.113.7", 0 },
		{ "{\"allowed_ips\":[\"10.0.0.0/8\"]}", "203.0.113.7", 403 },
		{ "{\"allowed_ips\":[\"nonsense\"]}", "203.0.113.7", 403 },
		{ "{\"allowed_ips\":[7]}", "203.0.113.7", 403 },
		{ "{\"allowed_ips\":[\"2001:db8::/32\"]}", "2001:db8::1", 0 },
	};
	struct house *house = *state;
	struct inbound_call call;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		house_put_trunk(house, false, NULL, rows[i].options);
		assert_int_equal(
			route(house, &call, HOUSE_NUMBER, rows[i].peer),
			rows[i].status);
	}
}

static int route_with(struct house *house, const char *networks,
		      const char *peer)
{
	char *env[] = { arena_printf(house->arena,
				     "PARLEY_SIP_ALLOWED_NETWORKS=%s",
				     networks),
			NULL };
	const struct config *config = house->service.config;
	struct inbound_call call;
	struct config *own;
	struct buffer why;
	int status;

	buffer_init(&why, 512);
	assert_int_equal(config_open(&own, NULL, env, &why), 0);
	house->service.config = own;
	status = route(house, &call, HOUSE_NUMBER, peer);
	house->service.config = config;
	config_close(&own);
	buffer_reset(&why);
	return status;
}

static void lets_in_whom_the_node_allows(void **state)
{
	struct house *house = *state;

	assert_int_equal(route_with(house, "", "203.0.113.7"), 0);
	assert_int_equal(route_with(house, " , ", "203.0.113.7"), 0);
	assert_int_equal(route_with(house, "203.0.113.0/24", "203.0.113.7"), 0);
	assert_int_equal(
		route_with(house, "10.0.0.0/8, 203.0.113.7", "203.0.113.7"), 0);
	assert_int_equal(route_with(house, "10.0.0.0/8", "203.0.113.7"), 403);
	assert_int_equal(route_with(house, "garbage", "203.0.113.7"), 403);
}

#define CASE(fn)                                                               \
	cmocka_unit_test_setup_teardown(fn, house_setup, house_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(finds_the_organisation),
		CASE(takes_numbers_as_trunks_write_them),
		CASE(keeps_an_anonymous_caller),
		CASE(fills_in_what_the_organisation_says),
		CASE(lets_in_whom_the_trunk_allows),
		CASE(lets_in_whom_the_node_allows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
