/* SPDX-License-Identifier: MIT */
/* http/api/sip_numbers: the list of attached numbers with their trunks' health,
 * the probe by hand, the addresses for a firewall; the entitlement and the
 * walls between organisations. */
#include "agent/call/health.h"
#include "core/loop.h"
#include "fixture_api.h"

#define NUMBER "+14155550100"

static int setup(void **state)
{
	static char *const env[] = { "PARLEY_SIP_PROBE_INTERVAL_S=0", NULL };
	struct api *api;

	api_setup_with(state, env);
	api = *state;
	return health_open(&api->service.health, &api->service);
}

static int teardown(void **state)
{
	struct api *api = *state;

	health_close(&api->service.health);
	return api_teardown(state);
}

static void list(struct api *api)
{
	api_ask(api, "GET", "/v1/sip/numbers", NULL);
}

static void lists_what_is_attached(void **state)
{
	struct api *api = *state;

	list(api);
	api_expect(api, 200, "{\"data\":{\"numbers\":[]},\"errors\":null}");
	api_put_trunk(api, API_ORG, NUMBER, TRUNK_INBOUND);
	api_put_trunk(api, API_ORG, NUMBER, TRUNK_OUTBOUND);
	api_put_trunk(api, API_ORG, "+14155550101", TRUNK_INBOUND);
	api_put_trunk(api, API_ORG, "+14155550102", TRUNK_OUTBOUND);
	api_put_trunk(api, API_OTHER, "+14155550103", TRUNK_OUTBOUND);
	list(api);
	api_expect(
		api, 200,
		"{\"data\":{\"numbers\":["
		"{\"phone_number\":\"" NUMBER "\",\"directions\":"
		"[\"inbound\",\"outbound\"],\"direction\":\"both\","
		"\"sip_endpoint\":\"sip:carrier.example\",\"health_status\":"
		"\"unchecked\",\"status\":\"active\"},"
		"{\"phone_number\":\"+14155550101\",\"directions\":"
		"[\"inbound\"],\"direction\":\"inbound\",\"sip_endpoint\":"
		"null,\"health_status\":\"unchecked\",\"status\":\"active\"},"
		"{\"phone_number\":\"+14155550102\",\"directions\":"
		"[\"outbound\"],\"direction\":\"outbound\",\"sip_endpoint\":"
		"\"sip:carrier.example\",\"health_status\":\"unchecked\","
		"\"status\":\"active\"}]},\"errors\":null}");
	api->key = API_OTHER_KEY;
	list(api);
	api_expect_at(api, "data.numbers[0].phone_number", "\"+14155550103\"");
}

static void lists_page_by_page(void **state)
{
	struct api *api = *state;
	json_t *numbers;

	for (int i = 0; i < 250; i++)
		api_put_trunk(api, API_ORG,
			      arena_printf(api->arena, "+1415555%04d", i),
			      TRUNK_INBOUND);
	list(api);
	assert_int_equal(api->status, 200);
	numbers =
		json_object_get(json_object_get(api->body, "data"), "numbers");
	assert_int_equal(json_array_size(numbers), 250);
	for (size_t i = 0; i < 250; i++)
		assert_string_equal(
			json_str(json_array_get(numbers, i), "phone_number"),
			arena_printf(api->arena, "+1415555%04d", (int)i));
}

/* Without a user agent nobody can be asked: the trunk is unreachable. */
static void shows_the_health(void **state)
{
	struct api *api = *state;

	api_put_trunk(api, API_ORG, NUMBER, TRUNK_OUTBOUND);
	api_ask(api, "GET", "/v1/sip/status?phone_number=%2B14155550100", NULL);
	assert_int_equal(api->status, 200);
	api_expect_at(api, "data.status", "\"unreachable\"");
	api_expect_at(api, "data.response_time_ms", "null");
	api_expect_at(api, "data.checked_at", "\"2026-01-01T00:00:00.000Z\"");
	api_expect_at(api, "errors", "null");
	list(api);
	api_expect_at(api, "data.numbers[0].health_status", "\"unreachable\"");
	api_ask(api, "GET", "/metrics", NULL);
	assert_non_null(strstr(
		api->text, "\nparley_sip_targets{state=\"unreachable\"} 1\n"));
	assert_non_null(
		strstr(api->text, "\nparley_sip_probes_failed_total 1\n"));
}

static void status_of_inbound_is_unchecked(void **state)
{
	struct api *api = *state;

	api_put_trunk(api, API_ORG, NUMBER, TRUNK_INBOUND);
	api_ask(api, "GET", "/v1/sip/status?phone_number=+14155550100", NULL);
	api_expect(api, 200,
		   "{\"data\":{\"status\":\"unchecked\",\"response_time_ms\":"
		   "null,\"checked_at\":null},\"errors\":null}");
}

static void status_refusals(void **state)
{
	struct api *api = *state;

	api_ask(api, "GET", "/v1/sip/status", NULL);
	api_expect_error(api, 400, "VALIDATION_ERROR",
			 "phone_number is required", "phone_number");
	api_ask(api, "GET", "/v1/sip/status?phone_number=x", NULL);
	api_expect_error(api, 400, "VALIDATION_ERROR",
			 "phone_number must be a phone number such as "
			 "+14155550100",
			 "phone_number");
	api_put_trunk(api, API_OTHER, NUMBER, TRUNK_OUTBOUND);
	api_ask(api, "GET", "/v1/sip/status?phone_number=4155550100", NULL);
	api_expect_error(api, 404, "NOT_FOUND",
			 "No SIP configuration is attached to " NUMBER, NULL);
}

static void firewall_of(char *const *env, const char *wanted)
{
	struct api *api;
	void *state;

	api_setup_with(&state, env);
	api = state;
	api_ask(api, "GET", "/v1/sip/firewall-ips", NULL);
	api_expect(api, 200, wanted);
	api_teardown(&state);
}

static void firewall_names_the_node(void **state)
{
	static char *const plain[] = { "PARLEY_SIP_LISTEN=192.0.2.1", NULL };
	static char *const behind_nat[] = {
		"PARLEY_SIP_LISTEN=10.0.0.1",
		"PARLEY_SIP_PORT=5071",
		"PARLEY_SIP_PUBLIC_ADDRESS=203.0.113.1",
		"PARLEY_MEDIA_PUBLIC_ADDRESS=203.0.113.2",
		"PARLEY_MEDIA_PORT_MIN=20000",
		"PARLEY_MEDIA_PORT_MAX=20999",
		NULL
	};
	static char *const by_name[] = {
		"PARLEY_SIP_LISTEN=2001:db8::1",
		"PARLEY_SIP_PUBLIC_ADDRESS=sip.example", NULL
	};

	(void)state;
	firewall_of(plain, "{\"data\":{\"ip_addresses\":[\"192.0.2.1\"],"
			   "\"ports\":{\"sip\":\"5061 TLS\",\"rtp\":"
			   "\"16384-32768 UDP\"}},\"errors\":null}");
	firewall_of(behind_nat,
		    "{\"data\":{\"ip_addresses\":[\"203.0.113.1\","
		    "\"203.0.113.2\"],\"ports\":{\"sip\":\"5071 TLS\","
		    "\"rtp\":\"20000-21000 UDP\"}},\"errors\":null}");
	firewall_of(by_name, "{\"data\":{\"ip_addresses\":[\"2001:db8::1\"],"
			     "\"ports\":{\"sip\":\"5061 TLS\",\"rtp\":"
			     "\"16384-32768 UDP\"}},\"errors\":null}");
}

static void entitlement(void **state)
{
	static const char *const paths[] = { "/v1/sip/numbers",
					     "/v1/sip/status?phone_number=1",
					     "/v1/sip/firewall-ips" };
	struct api *api = *state;
	struct org_row org = { .id = API_ORG };

	api_put_org(api, &org);
	for (size_t i = 0; i < 3; i++) {
		api_ask(api, "GET", paths[i], NULL);
		api_expect_error(api, 403, "FORBIDDEN",
				 "SIP is not enabled for your organization",
				 NULL);
	}
	api->key = NULL;
	for (size_t i = 0; i < 3; i++) {
		api_ask(api, "GET", paths[i], NULL);
		assert_int_equal(api->status, 401);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lists_what_is_attached),
		TEST(lists_page_by_page),
		TEST(shows_the_health),
		TEST(status_of_inbound_is_unchecked),
		TEST(status_refusals),
		cmocka_unit_test(firewall_names_the_node),
		TEST(entitlement),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
