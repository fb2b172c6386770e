/* SPDX-License-Identifier: MIT */
/* http/api/inbound: what an attached number does when it rings. Only the
 * organisation that attached a number for inbound may configure it; updates
 * merge, null or "" clears, a pathway clears the prompt. */
#include "fixture_api.h"

#define NUMBER "+14155550100"
#define PATH   "/v1/inbound/+14155550100"

static void attach(struct api *api)
{
	api_put_trunk(api, API_ORG, NUMBER, TRUNK_INBOUND);
}

static void test_configure(void **state)
{
	struct api *api = *state;

	attach(api);
	api_ask(api, "POST", PATH,
		"{\"prompt\":\"Be kind.\",\"record\":\"true\","
		"\"max_duration\":\"5\",\"transfer_phone_number\":"
		"\"4155550101\"}");
	api_expect(api, 200,
		   "{\"status\":\"success\",\"message\":\"Successfully updated "
		   "number +14155550100.\",\"updates\":{\"prompt\":\"Be "
		   "kind.\",\"record\":true,\"max_duration\":5,"
		   "\"transfer_phone_number\":\"+14155550101\"}}");
	api_ask(api, "GET", PATH, NULL);
	api_expect_at(api, "phone_number", "\"" NUMBER "\"");
	api_expect_at(api, "prompt", "\"Be kind.\"");
	api_expect_at(api, "record", "true");
	api_expect_at(api, "pathway_id", "null");
}

static void test_updates_merge(void **state)
{
	struct api *api = *state;

	attach(api);
	api_ask(api, "POST", PATH,
		"{\"prompt\":\"a\",\"voice\":\"v\",\"webhook\":"
		"\"https://example.com/\"}");
	api_ask(api, "POST", PATH,
		"{\"voice\":null,\"webhook\":\"\","
		"\"language\":\"en\"}");
	api_expect_at(api, "updates",
		      "{\"voice\":null,\"webhook\":null,\"language\":\"en\"}");
	api_ask(api, "GET", PATH, NULL);
	api_expect_at(api, "prompt", "\"a\"");
	api_expect_at(api, "voice", "null");
	api_expect_at(api, "webhook", "null");
	api_expect_at(api, "language", "\"en\"");
}

static void test_pathway_clears_prompt(void **state)
{
	struct api *api = *state;
	const char *id;

	attach(api);
	api_ask(api, "POST", "/v1/pathway", "{\"name\":\"P\"}");
	id = api_str(api, "pathway_id");
	api_ask(api, "POST", PATH,
		"{\"prompt\":\"a\",\"first_sentence\":"
		"\"b\"}");
	api_ask(api, "POST", PATH,
		arena_printf(api->arena, "{\"pathway_id\":\"%s\"}", id));
	assert_int_equal(api->status, 200);
	api_ask(api, "GET", PATH, NULL);
	api_expect_at(api, "prompt", "null");
	api_expect_at(api, "first_sentence", "null");
	api_expect_at(api, "pathway_id",
		      arena_printf(api->arena, "\"%s\"", id));
	api_ask(api, "POST", PATH, "{\"pathway_id\":\"nope\"}");
	api_expect_error(api, 404, "NOT_FOUND",
			 "Pathway with ID \"nope\" not found", NULL);
}

static void test_refusals(void **state)
{
	struct api *api = *state;
	static const char *const cases[][3] = {
		{ "{\"max_duration\":800}", "max_duration",
		  "max_duration must be at most 12 hours." },
		{ "{\"webhook\":\"http://example.com/\"}", "webhook",
		  "webhook must be a string that starts with https://." },
		{ "[1]", NULL, "The body must be a JSON object." },
	};

	attach(api);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		api_ask(api, "POST", PATH, cases[i][0]);
		api_expect_error(api, 400, "VALIDATION_ERROR", cases[i][2],
				 cases[i][1]);
	}
}

static void expect_missing(struct api *api)
{
	api_expect_error(api, 404, "NOT_FOUND", "Inbound number not found",
			 NULL);
}

static void test_not_attached(void **state)
{
	struct api *api = *state;
	static const char *const paths[] = {
		"/v1/inbound/%2B14155550109", /* nobody's */
		"/v1/inbound/+14155550102", /* outbound alone */
		"/v1/inbound/+14155550103", /* another's */
		"/v1/inbound/abc",
	};

	api_put_trunk(api, API_ORG, "+14155550102", TRUNK_OUTBOUND);
	api_put_trunk(api, API_OTHER, "+14155550103", TRUNK_INBOUND);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		api_ask(api, "GET", paths[i], NULL);
		expect_missing(api);
		api_ask(api, "POST", paths[i], "{\"prompt\":\"x\"}");
		expect_missing(api);
		api_ask(api, "DELETE", paths[i], NULL);
		expect_missing(api);
	}
}

static void test_list(void **state)
{
	struct api *api = *state;

	attach(api);
	api_put_trunk(api, API_ORG, "+14155550102", TRUNK_OUTBOUND);
	api_put_trunk(api, API_OTHER, "+14155550103", TRUNK_INBOUND);
	api_ask(api, "POST", PATH, "{\"prompt\":\"a\"}");
	api_ask(api, "GET", "/v1/inbound", NULL);
	api_expect_at(api, "inbound_numbers[0].phone_number", "\"" NUMBER "\"");
	api_expect_at(api, "inbound_numbers[0].prompt", "\"a\"");
	assert_int_equal(
		json_array_size(json_object_get(api->body, "inbound_numbers")),
		1);
}

static void test_clear(void **state)
{
	struct api *api = *state;
	static const char *const ways[][2] = {
		{ "DELETE", PATH },
		{ "POST", PATH "/delete" },
	};

	attach(api);
	for (size_t i = 0; i < 2; i++) {
		api_ask(api, "POST", PATH, "{\"prompt\":\"a\"}");
		api_ask(api, ways[i][0], ways[i][1], NULL);
		api_expect(api, 200,
			   "{\"status\":\"success\",\"message\":\"Successfully "
			   "cleared number +14155550100.\"}");
		api_ask(api, "GET", PATH, NULL);
		api_expect_at(api, "prompt", "null");
	}
	api_ask(api, "DELETE", PATH, NULL); /* nothing left to clear */
	assert_int_equal(api->status, 200);
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, api_setup, api_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_configure),
		TEST(test_updates_merge),
		TEST(test_pathway_clears_prompt),
		TEST(test_refusals),
		TEST(test_not_attached),
		TEST(test_list),
		TEST(test_clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
