/* SPDX-License-Identifier: MIT */
/* agent/call/settings: what POST /v1/calls and POST /v1/inbound/{number} take.
 * Required fields with the published messages; types, ranges and tolerated
 * texts of each field; E.164 numbers, real booleans and numbers in what comes
 * out; presets of a call; unknown fields kept; null or "" clears a field of a
 * number and counts as absent in a call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "agent/call/settings.h"
#include "core/json.h"
#include "core/mem.h"

typedef json_t *check_fn(const json_t *body, struct settings_problem *problem);

/* A body that is fine but for what the test puts over it. */
static json_t *with(const char *text)
{
	json_t *body = json_pack("{s:s,s:s}", "phone_number", "+14155550100",
				 "task", "Say hello.");
	json_t *over = json_parse(slice_of(text), NULL);

	if (!json_is_object(over))
		fail_msg("not an object: %s", text);
	json_object_update(body, over);
	json_decref(over);
	return body;
}

static void assert_refused(check_fn *check, const json_t *body,
			   const char *field, const char *message)
{
	struct settings_problem problem;
	json_t *out = check(body, &problem);

	if (out)
		fail_msg("taken, wanted: %s", message);
	assert_int_equal(problem.status, 400);
	assert_string_equal(problem.error, "VALIDATION_ERROR");
	assert_string_equal(problem.message, message);
	assert_string_equal(problem.field, field);
}

/* Each member of wanted is in what came out; null: it is not there. */
static void assert_has(const json_t *out, const char *wanted)
{
	json_t *members = json_parse(slice_of(wanted), NULL);
	const char *key;
	json_t *value;

	if (!json_is_object(members))
		fail_msg("not an object: %s", wanted);
	json_object_foreach(members, key, value) {
		json_t *found = json_object_get(out, key);
		char *left = json_text(found);
		char *right = json_text(value);

		if (json_is_null(value) && found)
			fail_msg("%s should be absent, is %s", key, left);
		if (!json_is_null(value) &&
		    (!found || strcmp(left, right) != 0))
			fail_msg("%s: wanted %s, got %s", key, right,
				 left ? left : "nothing");
		mem_free(left);
		mem_free(right);
	}
	json_decref(members);
}

/* ---- required ---- */

static void test_required(void **state)
{
	static const struct {
		const char *body; /* NULL: none */
		const char *field, *message;
	} cases[] = {
		{ NULL, "phone_number",
		  "Missing required parameter: phone_number." },
		{ "{}", "phone_number",
		  "Missing required parameter: phone_number." },
		{ "{\"task\":\"x\"}", "phone_number",
		  "Missing required parameter: phone_number." },
		{ "{\"task\":\"x\",\"phone_number\":null}", "phone_number",
		  "Missing required parameter: phone_number." },
		{ "{\"task\":\"x\",\"phone_number\":\"\"}", "phone_number",
		  "Missing required parameter: phone_number." },
		{ "{\"phone_number\":\"+14155550100\"}", "task",
		  "Missing required parameter: task." },
		{ "{\"phone_number\":\"+14155550100\",\"task\":\"\"}", "task",
		  "Missing required parameter: task." },
		{ "{\"phone_number\":\"+14155550100\",\"pathway_id\":null}",
		  "task", "Missing required parameter: task." },
		{ "[]", "", "The body must be a JSON object." },
		{ "7", "", "The body must be a JSON object." },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		json_t *body =
			cases[i].body
				? json_parse(slice_of(cases[i].body), NULL)
				: NULL;

		assert_refused(settings_check_call, body, cases[i].field,
			       cases[i].message);
		json_decref(body);
	}
}

static void test_pathway_is_enough(void **state)
{
	struct settings_problem problem;
	json_t *body =
		json_pack("{s:s,s:s}", "phone_number", "+14155550100",
			  "pathway_id", "4f5a2c1e-0000-4000-8000-000000000001");
	json_t *out = settings_check_call(body, &problem);

	assert_non_null(out);
	json_decref(out);
	json_decref(body);
}

/* ---- refusals of one field ---- */

#define NUMBER_TEXT                                                            \
	"Invalid phone number. Please include a country code if outside the "  \
	"US."
#define WEBHOOK_TEXT "webhook must be a string that starts with https://."
#define VERSION_TEXT "pathway_version must be a version number or production."

static const struct {
	const char *over; /* over a body that is fine */
	const char *field;
	const char *message;
} refusals[] = {
	{ "{\"phone_number\":true}", "phone_number",
	  "Phone number must be a string or number." },
	{ "{\"phone_number\":{}}", "phone_number",
	  "Phone number must be a string or number." },
	{ "{\"phone_number\":\"555\"}", "phone_number", NUMBER_TEXT },
	{ "{\"phone_number\":\"442071234567\"}", "phone_number", NUMBER_TEXT },
	{ "{\"phone_number\":\"call me\"}", "phone_number", NUMBER_TEXT },
	{ "{\"phone_number\":\"+0123456789\"}", "phone_number", NUMBER_TEXT },
	{ "{\"phone_number\":-4155550100}", "phone_number", NUMBER_TEXT },
	{ "{\"phone_number\":1e300}", "phone_number", NUMBER_TEXT },
	{ "{\"task\":7}", "task", "Task must be a string." },
	{ "{\"task\":{\"a\":1}}", "task", "Task must be a string." },
	{ "{\"pathway_id\":7}", "pathway_id", "pathway_id must be a string." },
	{ "{\"pathway_version\":1.5}", "pathway_version", VERSION_TEXT },
	{ "{\"pathway_version\":-1}", "pathway_version", VERSION_TEXT },
	{ "{\"pathway_version\":\"latest\"}", "pathway_version", VERSION_TEXT },
	{ "{\"start_node_id\":[]}", "start_node_id",
	  "start_node_id must be a string." },
	{ "{\"from\":\"12\"}", "from", "Invalid from phone number." },
	{ "{\"from\":true}", "from", "Invalid from phone number." },
	{ "{\"voice\":3}", "voice", "voice must be a string." },
	{ "{\"first_sentence\":[]}", "first_sentence",
	  "first_sentence must be a string." },
	{ "{\"temperature\":\"warm\"}", "temperature",
	  "temperature must be a number." },
	{ "{\"temperature\":3}", "temperature",
	  "temperature must be between 0 and 2." },
	{ "{\"record\":\"yes\"}", "record", "record must be a boolean." },
	{ "{\"record\":1}", "record", "record must be a boolean." },
	{ "{\"wait_for_greeting\":\"TRUE\"}", "wait_for_greeting",
	  "wait_for_greeting must be a boolean." },
	{ "{\"block_interruptions\":[]}", "block_interruptions",
	  "block_interruptions must be a boolean." },
	{ "{\"ignore_button_press\":0}", "ignore_button_press",
	  "ignore_button_press must be a boolean." },
	{ "{\"interruption_threshold\":\"fast\"}", "interruption_threshold",
	  "interruption_threshold must be a number." },
	{ "{\"interruption_threshold\":-1}", "interruption_threshold",
	  "interruption_threshold must be between 0 and 60000." },
	{ "{\"timezone\":\"Mars/Olympus\"}", "timezone",
	  "Invalid timezone: Mars/Olympus" },
	{ "{\"timezone\":\"../../etc/passwd\"}", "timezone",
	  "Invalid timezone: ../../etc/passwd" },
	{ "{\"timezone\":5}", "timezone", "timezone must be a string." },
	{ "{\"start_time\":\"tomorrow\"}", "start_time",
	  "Invalid start_time." },
	{ "{\"start_time\":1234567890}", "start_time", "Invalid start_time." },
	{ "{\"start_time\":\"2026-02-30 10:00:00\"}", "start_time",
	  "Invalid start_time." },
	{ "{\"transfer_phone_number\":\"9\"}", "transfer_phone_number",
	  "Invalid transfer phone number." },
	{ "{\"transfer_phone_number\":\"(415) 555-0100\"}",
	  "transfer_phone_number",
	  "Transfer phone number cannot be the same as the phone number." },
	{ "{\"transfer_list\":[\"+14155550101\"]}", "transfer_list",
	  "transfer_list must be an object." },
	{ "{\"transfer_list\":{\"sales\":\"x\"}}", "transfer_list.sales",
	  "Invalid transfer phone number." },
	{ "{\"max_duration\":\"long\"}", "max_duration",
	  "max_duration must be a number." },
	{ "{\"max_duration\":true}", "max_duration",
	  "max_duration must be a number." },
	{ "{\"max_duration\":0}", "max_duration",
	  "max_duration must be a positive number." },
	{ "{\"max_duration\":\"-3\"}", "max_duration",
	  "max_duration must be a positive number." },
	{ "{\"max_duration\":720.5}", "max_duration",
	  "max_duration must be at most 12 hours." },
	{ "{\"voicemail\":\"hangup\"}", "voicemail",
	  "voicemail must be an object." },
	{ "{\"voicemail\":{\"action\":\"sing\"}}", "voicemail.action",
	  "voicemail.action must be hangup, leave_message or ignore." },
	{ "{\"voicemail\":{\"message\":7}}", "voicemail.message",
	  "voicemail.message must be a string." },
	{ "{\"voicemail_action\":\"sing\"}", "voicemail_action",
	  "voicemail_action must be hangup, leave_message or ignore." },
	{ "{\"request_data\":\"{}\"}", "request_data",
	  "request_data must be an object." },
	{ "{\"request_data\":[]}", "request_data",
	  "request_data must be an object." },
	{ "{\"metadata\":[]}", "metadata", "metadata must be an object." },
	{ "{\"webhook\":7}", "webhook", WEBHOOK_TEXT },
	{ "{\"webhook\":\"ftp://example.com/\"}", "webhook", WEBHOOK_TEXT },
	{ "{\"webhook\":\"example.com/hook\"}", "webhook", WEBHOOK_TEXT },
	{ "{\"webhook\":\"https://\"}", "webhook", WEBHOOK_TEXT },
	{ "{\"webhook\":\"https://example.com/a b\"}", "webhook",
	  WEBHOOK_TEXT },
	{ "{\"webhook\":\"https://example.com/\\r\\nX: y\"}", "webhook",
	  WEBHOOK_TEXT },
	{ "{\"webhook_events\":7}", "webhook_events",
	  "webhook_events must be an array of strings." },
	{ "{\"webhook_events\":[\"call\",7]}", "webhook_events",
	  "webhook_events must be an array of strings." },
	{ "{\"dynamic_data\":\"x\"}", "dynamic_data",
	  "dynamic_data must be an object or an array." },
	{ "{\"tools\":{}}", "tools", "tools must be an array." },
	{ "{\"keywords\":[1]}", "keywords",
	  "keywords must be an array of strings." },
	{ "{\"keywords\":[\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\","
	  "\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\","
	  "\"a\",\"a\"]}",
	  "keywords", "At most 20 keywords can be added." },
	{ "{\"summary_prompt\":[]}", "summary_prompt",
	  "summary_prompt must be a string." },
	{ "{\"retry\":5}", "retry", "retry must be an object." },
	{ "{\"precall_dtmf_sequence\":\"12a\"}", "precall_dtmf_sequence",
	  "precall_dtmf_sequence must be a string of 0-9, *, # and w." },
};

static void test_refusals(void **state)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		json_t *body = with(refusals[i].over);

		print_message("%s\n", refusals[i].over);
		assert_refused(settings_check_call, body, refusals[i].field,
			       refusals[i].message);
		json_decref(body);
	}
}

static void test_personas_are_unknown(void **state)
{
	static const char *const overs[][2] = {
		{ "{\"persona_id\":\"p1\"}",
		  "Persona with ID \"p1\" not found" },
		{ "{\"agent_id\":\"a1\"}", "Agent with ID \"a1\" not found" },
	};

	for (size_t i = 0; i < 2; i++) {
		struct settings_problem problem;
		json_t *body = with(overs[i][0]);

		assert_null(settings_check_call(body, &problem));
		assert_int_equal(problem.status, 404);
		assert_string_equal(problem.error, "NOT_FOUND");
		assert_string_equal(problem.message, overs[i][1]);
		json_decref(body);
	}
}

/* ---- what is taken, and how it is kept ---- */

static const struct {
	const char *over;
	const char *kept;
} taken[] = {
	{ "{}",
	  "{\"max_duration\":30,\"record\":false,\"voice\":"
	  "\"cmu_us_slt\",\"language\":\"en\",\"request_data\":{},"
	  "\"metadata\":{},\"interruption_threshold\":500,"
	  "\"wait_for_greeting\":false,\"block_interruptions\":false,"
	  "\"ignore_button_press\":false,\"webhook\":null,\"from\":null}" },
	{ "{\"phone_number\":\"4155550100\"}",
	  "{\"phone_number\":\"+14155550100\"}" },
	{ "{\"phone_number\":\"14155550100\"}",
	  "{\"phone_number\":\"+14155550100\"}" },
	{ "{\"phone_number\":\"(415) 555-0100\"}",
	  "{\"phone_number\":\"+14155550100\"}" },
	{ "{\"phone_number\":4155550100}",
	  "{\"phone_number\":\"+14155550100\"}" },
	{ "{\"phone_number\":14155550100}",
	  "{\"phone_number\":\"+14155550100\"}" },
	{ "{\"phone_number\":\"+442071234567\"}",
	  "{\"phone_number\":\"+442071234567\"}" },
	{ "{\"from\":\"4155550199\"}", "{\"from\":\"+14155550199\"}" },
	{ "{\"from\":\"\",\"voice\":null,\"webhook\":\"\"}",
	  "{\"from\":null,\"voice\":\"cmu_us_slt\",\"webhook\":null}" },
	{ "{\"record\":\"true\"}", "{\"record\":true}" },
	{ "{\"record\":\"false\",\"wait_for_greeting\":true}",
	  "{\"record\":false,\"wait_for_greeting\":true}" },
	{ "{\"max_duration\":\"2.5\"}", "{\"max_duration\":2.5}" },
	{ "{\"max_duration\":720}", "{\"max_duration\":720}" },
	{ "{\"max_duration\":0.1}", "{\"max_duration\":0.1}" },
	{ "{\"interruption_threshold\":\"120\"}",
	  "{\"interruption_threshold\":120}" },
	{ "{\"pathway_version\":\"3\"}", "{\"pathway_version\":3}" },
	{ "{\"temperature\":\"0.5\"}", "{\"temperature\":0.5}" },
	{ "{\"timezone\":\"America/New_York\"}",
	  "{\"timezone\":\"America/New_York\"}" },
	{ "{\"start_time\":\"2026-12-24 18:00:00 -08:00\"}",
	  "{\"start_time\":\"2026-12-24 18:00:00 -08:00\"}" },
	{ "{\"start_time\":\"2026-12-24 18:00:00\"}",
	  "{\"start_time\":\"2026-12-24 18:00:00\"}" },
	{ "{\"transfer_phone_number\":\"4155550101\"}",
	  "{\"transfer_phone_number\":\"+14155550101\"}" },
	{ "{\"transfer_list\":{\"default\":\"4155550101\"}}",
	  "{\"transfer_list\":{\"default\":\"+14155550101\"}}" },
	{ "{\"webhook\":\"https://example.com/h\"}",
	  "{\"webhook\":\"https://example.com/h\"}" },
	{ "{\"webhook_events\":\"call\"}", "{\"webhook_events\":[\"call\"]}" },
	{ "{\"webhook_events\":[\"call\",\"else\"]}",
	  "{\"webhook_events\":[\"call\",\"else\"]}" },
	{ "{\"voicemail_message\":\"Call back.\"}",
	  "{\"voicemail\":{\"message\":\"Call back.\",\"action\":"
	  "\"leave_message\"},\"voicemail_message\":null}" },
	{ "{\"voicemail_action\":\"ignore\"}",
	  "{\"voicemail\":{\"action\":\"ignore\"}}" },
	{ "{\"precall_dtmf_sequence\":\"1w2#*\"}",
	  "{\"precall_dtmf_sequence\":\"1w2#*\"}" },
	{ "{\"request_data\":{\"n\":1.50}}", "{\"request_data\":{\"n\":1.5}}" },
	{ "{\"background_track\":null}", "{\"background_track\":null}" },
	{ "{\"citation_schema_ids\":[1],\"something_else\":{\"a\":null}}",
	  "{\"citation_schema_ids\":[1],\"something_else\":{\"a\":null}}" },
};

static void test_taken(void **state)
{
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++) {
		struct settings_problem problem;
		json_t *body = with(taken[i].over);
		json_t *out = settings_check_call(body, &problem);

		print_message("%s\n", taken[i].over);
		if (!out)
			fail_msg("refused: %s", problem.message);
		assert_has(out, taken[i].kept);
		json_decref(out);
		json_decref(body);
	}
}

static void test_production_is_no_version(void **state)
{
	struct settings_problem problem;
	json_t *body = with("{\"pathway_version\":\"production\"}");
	json_t *out = settings_check_call(body, &problem);

	assert_non_null(out);
	assert_false(json_is_integer(json_object_get(out, "pathway_version")));
	json_decref(out);
	json_decref(body);
}

/* The limit is in characters, not in bytes. */
static void test_summary_prompt_length(void **state)
{
	char text[2 * 2001 + 1] = "";

	for (size_t n = 2000; n <= 2001; n++) {
		struct settings_problem problem;
		json_t *body = with("{}");
		json_t *out;

		for (size_t i = 0; i < n; i++)
			memcpy(text + 2 * i, "\xC3\xA9", 3);
		json_put_str(body, "summary_prompt", text);
		out = settings_check_call(body, &problem);
		if (n == 2000)
			assert_non_null(out);
		else
			assert_string_equal(problem.message,
					    "Summary prompt must be less than "
					    "2000 characters.");
		json_decref(out);
		json_decref(body);
	}
}

static void test_body_is_left_alone(void **state)
{
	struct settings_problem problem;
	json_t *body = with("{\"record\":\"true\",\"transfer_list\":"
			    "{\"a\":\"4155550101\"}}");
	char *before = json_text(body);
	json_t *out = settings_check_call(body, &problem);
	char *after = json_text(body);

	assert_string_equal(before, after);
	mem_free(before);
	mem_free(after);
	json_decref(out);
	json_decref(body);
}

/* ---- numbers ---- */

static void test_number_clears(void **state)
{
	struct settings_problem problem;
	json_t *body = json_parse(SLICE("{\"prompt\":\"\",\"webhook\":null,"
					"\"record\":\"true\",\"x\":1}"),
				  NULL);
	json_t *out = settings_check_inbound(body, &problem);
	char *text = json_text(out);

	assert_string_equal(text, "{\"prompt\":null,\"webhook\":null,"
				  "\"record\":true,\"x\":1}");
	mem_free(text);
	json_decref(out);
	json_decref(body);
}

static void test_number_needs_nothing(void **state)
{
	struct settings_problem problem;
	json_t *out = settings_check_inbound(NULL, &problem);

	assert_non_null(out);
	assert_int_equal(json_object_size(out), 0);
	json_decref(out);
}

static void test_number_refusals(void **state)
{
	static const char *const cases[][3] = {
		{ "{\"prompt\":7}", "prompt", "prompt must be a string." },
		{ "{\"fallback_number\":\"x\"}", "fallback_number",
		  "Invalid fallback phone number." },
		{ "{\"max_duration\":0}", "max_duration",
		  "max_duration must be a positive number." },
		{ "[]", "", "The body must be a JSON object." },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		json_t *body = json_parse(slice_of(cases[i][0]), NULL);

		assert_refused(settings_check_inbound, body, cases[i][1],
			       cases[i][2]);
		json_decref(body);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_required),
		cmocka_unit_test(test_pathway_is_enough),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_personas_are_unknown),
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_production_is_no_version),
		cmocka_unit_test(test_summary_prompt_length),
		cmocka_unit_test(test_body_is_left_alone),
		cmocka_unit_test(test_number_clears),
		cmocka_unit_test(test_number_needs_nothing),
		cmocka_unit_test(test_number_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
