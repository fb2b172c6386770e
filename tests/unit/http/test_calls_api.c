/* SPDX-License-Identifier: MIT */
/* http/api/calls: dispatch, reading, listing and stopping calls. The answer to
 * a dispatch comes after the commit; from, webhook, plan and pathway are
 * checked; one organisation never sees another's calls; filters of the list;
 * published messages and bodies. */
#include "core/loop.h"
#include "fixture_api.h"
#include "store/events.h"

#define BODY "{\"phone_number\":\"+14155550100\",\"task\":\"Hello.\"%s}"
#define OURS "+14155550199"
#define NO_CALL                                                                \
	"{\"data\":null,\"errors\":[{\"error\":\"CALL_NOT_FOUND\","            \
	"\"message\":\"Call not found\"}]}"

static void dispatch(struct api *api, const char *more)
{
	api_ask(api, "POST", "/v1/calls", arena_printf(api->arena, BODY, more));
}

static const char *path_of(struct api *api, const char *id)
{
	return arena_printf(api->arena, "/v1/calls/%s", id);
}

static const char *dispatched(struct api *api, const char *more)
{
	api_put_trunk(api, API_ORG, OURS, TRUNK_OUTBOUND);
	dispatch(api, more);
	assert_int_equal(api->status, 200);
	return api_str(api, "call_id");
}

/* ---- dispatch ---- */

static void test_dispatch(void **state)
{
	struct api *api = *state;
	const char *id = dispatched(api, "");

	api_expect(api, 200,
		   arena_printf(api->arena,
				"{\"status\":\"success\",\"message\":\"Call "
				"successfully queued.\",\"call_id\":\"%s\","
				"\"batch_id\":null}",
				id));
	api_ask(api, "GET", path_of(api, id), NULL);
	assert_int_equal(api->status, 200);
	api_expect_at(api, "queue_status", "\"queued\"");
	api_expect_at(api, "completed", "false");
	api_expect_at(api, "status", "null");
	api_expect_at(api, "to", "\"+14155550100\"");
	api_expect_at(api, "from", "\"" OURS "\"");
	api_expect_at(api, "max_duration", "30");
	api_expect_at(api, "transcripts", "[]");
	api_expect_at(api, "created_at", "\"2026-01-01T00:00:00.000Z\"");
}

static void test_settings_are_stored(void **state)
{
	struct api *api = *state;
	const char *id =
		dispatched(api, ",\"record\":\"true\",\"metadata\":{\"a\":1},"
				"\"start_time\":\"2026-01-02 00:00:00 -08:00\","
				"\"webhook\":\"https://example.com/h\"");
	struct call_row row;
	json_t *request;

	assert_int_equal(
		calls_get(api->service.store, api->arena, API_ORG, id, &row),
		0);
	request = json_parse(slice_of(row.request), NULL);
	assert_true(json_is_true(json_object_get(request, "record")));
	assert_string_equal(json_str(request, "webhook"),
			    "https://example.com/h");
	assert_string_equal(json_str(request, "timezone"), "UTC");
	assert_int_equal(row.times.start_at_ms, API_WALL_MS + 32 * 3600 * 1000);
	json_decref(request);
}

static void test_required_messages(void **state)
{
	struct api *api = *state;

	api_ask(api, "POST", "/v1/calls", "{}");
	api_expect_error(api, 400, "VALIDATION_ERROR",
			 "Missing required parameter: phone_number.",
			 "phone_number");
	api_expect_at(api, "status", "\"error\"");
	api_expect_at(api, "message",
		      "\"Missing required parameter: phone_number.\"");
	api_ask(api, "POST", "/v1/calls", NULL);
	api_expect_error(api, 400, "VALIDATION_ERROR",
			 "Missing required parameter: phone_number.",
			 "phone_number");
}

static void test_from(void **state)
{
	struct api *api = *state;

	dispatch(api, ""); /* nothing is attached */
	api_expect_error(api, 400, "VALIDATION_ERROR",
			 "Invalid from phone number.", "from");
	api_put_trunk(api, API_OTHER, "+14155550001", TRUNK_OUTBOUND);
	api_put_trunk(api, API_ORG, "+14155550002", TRUNK_INBOUND);
	dispatch(api, ",\"from\":\"+14155550001\""); /* another's */
	api_expect_error(api, 400, "VALIDATION_ERROR",
			 "Invalid from phone number.", "from");
	dispatch(api, ",\"from\":\"+14155550002\""); /* inbound alone */
	api_expect_error(api, 400, "VALIDATION_ERROR",
			 "Invalid from phone number.", "from");
	api_put_trunk(api, API_ORG, "+14155550002", TRUNK_OUTBOUND);
	dispatch(api, ",\"from\":\"4155550002\"");
	assert_int_equal(api->status, 200);
}

static void test_default_from(void **state)
{
	struct api *api = *state;
	struct org_row org = { .id = API_ORG, .default_from = "+14155550003" };

	api_put_trunk(api, API_ORG, "+14155550002", TRUNK_OUTBOUND);
	api_put_trunk(api, API_ORG, "+14155550003", TRUNK_OUTBOUND);
	api_put_org(api, &org);
	dispatch(api, "");
	api_ask(api, "GET", path_of(api, api_str(api, "call_id")), NULL);
	api_expect_at(api, "from", "\"+14155550003\"");
}

static void test_webhook_rule(void **state)
{
	struct api *api = *state;
	static const struct {
		const char *url;
		bool is_taken;
	} cases[] = {
		{ "https://example.com/h", true },
		{ "http://127.0.0.1:9000/h", true },
		{ "http://localhost/h", true },
		{ "http://LOCALHOST:80?x", true },
		{ "http://[::1]:80/h", true },
		{ "http://example.com/h", false },
		{ "http://127.0.0.1.example.com/", false },
		{ "http://localhost@example.com/", false },
		{ "http://10.0.0.1/", false },
		{ "http://", false },
	};

	api_put_trunk(api, API_ORG, OURS, TRUNK_OUTBOUND);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		print_message("%s\n", cases[i].url);
		dispatch(api, arena_printf(api->arena, ",\"webhook\":\"%s\"",
					   cases[i].url));
		if (cases[i].is_taken)
			assert_int_equal(api->status, 200);
		else
			api_expect_error(api, 400, "VALIDATION_ERROR",
					 "webhook must be a string that starts "
					 "with https://.",
					 "webhook");
	}
}

static void test_plan(void **state)
{
	struct api *api = *state;
	struct org_row org = { .id = API_ORG,
			       .plan_limits = { .countries = "US, CA" } };

	api_put_trunk(api, API_ORG, OURS, TRUNK_OUTBOUND);
	api_put_org(api, &org);
	dispatch(api, "");
	assert_int_equal(api->status, 200);
	api_ask(api, "POST", "/v1/calls",
		"{\"phone_number\":\"+14165550100\",\"task\":\"x\"}");
	assert_int_equal(api->status, 200);
	api_ask(api, "POST", "/v1/calls",
		"{\"phone_number\":\"+442071234567\",\"task\":\"x\"}");
	api_expect_error(api, 403, "CALL_PLAN_DESTINATION_BLOCKED",
			 "Your plan does not allow calls to this destination.",
			 "phone_number");
}

static const char *put_pathway(struct api *api, const char *body)
{
	api_ask(api, "POST", "/v1/pathway/create", body);
	assert_int_equal(api->status, 200);
	return api_str(api, "pathway_id");
}

static void test_pathway(void **state)
{
	struct api *api = *state;
	const char *empty = put_pathway(api, "{\"name\":\"Empty\"}");
	const char *full = put_pathway(
		api, "{\"name\":\"Full\",\"nodes\":[{\"id\":\"1\",\"type\":"
		     "\"End Call\",\"data\":{\"name\":\"Bye\",\"isStart\":true,"
		     "\"text\":\"Bye.\"}}],\"edges\":[]}");

	dispatched(api,
		   arena_printf(api->arena, ",\"pathway_id\":\"%s\"", full));
	dispatch(api,
		 arena_printf(api->arena, ",\"pathway_id\":\"%s\"", empty));
	api_expect_error(api, 400, "VALIDATION_ERROR",
			 arena_printf(api->arena,
				      "Invalid pathway data - no blocks or "
				      "links found for pathway %s",
				      empty),
			 "pathway_id");
	dispatch(api, ",\"pathway_id\":\"nope\"");
	api_expect_error(api, 404, "NOT_FOUND",
			 "Pathway with ID \"nope\" not found", NULL);
	dispatch(api, arena_printf(api->arena,
				   ",\"pathway_id\":\"%s\","
				   "\"start_node_id\":\"9\"",
				   full));
	api_expect_error(api, 400, "VALIDATION_ERROR",
			 "start_node_id names no node of the pathway.",
			 "start_node_id");
	dispatch(api, arena_printf(api->arena,
				   ",\"pathway_id\":\"%s\","
				   "\"pathway_version\":4",
				   full));
	assert_int_equal(api->status, 404);
}

static void test_pathway_of_another(void **state)
{
	struct api *api = *state;
	const char *id;

	api->key = API_OTHER_KEY;
	id = put_pathway(api, "{\"name\":\"Theirs\"}");
	api->key = API_KEY;
	api_put_trunk(api, API_ORG, OURS, TRUNK_OUTBOUND);
	dispatch(api, arena_printf(api->arena, ",\"pathway_id\":\"%s\"", id));
	api_expect_error(api, 404, "NOT_FOUND",
			 arena_printf(api->arena,
				      "Pathway with ID \"%s\" not found", id),
			 NULL);
}

/* ---- reading ---- */

static void test_unknown_call(void **state)
{
	struct api *api = *state;
	static const char *const paths[] = {
		"/v1/calls/33333333-3333-4333-8333-333333333333",
		"/v1/calls/nonsense",
		"/v1/calls/%2e%2e",
		"/v1/calls/33333333-3333-4333-8333-33333333333",
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		api_ask(api, "GET", paths[i], NULL);
		api_expect(api, 404, NO_CALL);
		api_ask(api, "POST",
			arena_printf(api->arena, "%s/stop", paths[i]), "{}");
		api_expect(api, 404, NO_CALL);
	}
}

static void test_other_organisation(void **state)
{
	struct api *api = *state;
	const char *id = api_put_call(api, (struct call_row){ 0 });

	api->key = API_OTHER_KEY;
	api_ask(api, "GET", path_of(api, id), NULL);
	api_expect(api, 404, NO_CALL);
	api_ask(api, "POST", arena_printf(api->arena, "/v1/calls/%s/stop", id),
		NULL);
	api_expect(api, 404, NO_CALL);
	api_ask(api, "GET", "/v1/calls", NULL);
	api_expect(api, 200, "{\"total_count\":0,\"count\":0,\"calls\":[]}");
	api->key = API_KEY;
	api_ask(api, "GET", path_of(api, id), NULL);
	assert_int_equal(api->status, 200);
}

/* What was rendered at the end is served as it stands. */
static void test_completed_is_verbatim(void **state)
{
	struct api *api = *state;
	const char *id = api_put_call(api, (struct call_row){ 0 });
	struct call_row row;
	struct call_end end = { 0 };

	assert_int_equal(
		calls_get(api->service.store, api->arena, API_ORG, id, &row),
		0);
	end.row = row;
	end.row.completed = true;
	end.row.body = "{\"call_id\":\"as it stands\"}";
	calls_complete(api->service.store, &end, (struct store_reply){ 0 });
	loop_advance_ms(api->service.loop, 0);
	api_ask(api, "GET", path_of(api, id), NULL);
	api_expect(api, 200, "{\"call_id\":\"as it stands\"}");
}

static void test_transcript_grows(void **state)
{
	struct api *api = *state;
	const char *id = api_put_call(
		api, (struct call_row){ .queue_status = "started" });
	struct event_row event = { .sequence = 3,
				   .type = "transcript.assistant",
				   .node_id = "1",
				   .payload = "{\"text\":\"Hello there.\"}",
				   .created_ms = API_WALL_MS };

	events_append(api->service.store, id, &event,
		      (struct store_reply){ 0 });
	loop_advance_ms(api->service.loop, 0);
	api_ask(api, "GET", path_of(api, id), NULL);
	api_expect_at(api, "transcripts[0].text", "\"Hello there.\"");
	api_expect_at(api, "transcripts[0].user", "\"assistant\"");
	api_expect_at(api, "concatenated_transcript",
		      "\"assistant: Hello there.\"");
}

/* ---- stopping ---- */

static void test_stop(void **state)
{
	struct api *api = *state;
	const char *id = api_put_call(api, (struct call_row){ 0 });
	const char *stop = arena_printf(api->arena, "/v1/calls/%s/stop", id);

	for (int i = 0; i < 2; i++) { /* once ended, the same */
		api_ask(api, "POST", stop, i ? "{}" : NULL);
		api_expect(api, 200,
			   "{\"status\":\"success\",\"message\":\"Call ended "
			   "successfully.\"}");
	}
	api_ask(api, "GET", path_of(api, id), NULL);
	api_expect_at(api, "completed", "true");
	api_expect_at(api, "status", "\"canceled\"");
}

/* ---- listing ---- */

static void put_many(struct api *api)
{
	const int64_t day_ms = 24 * 3600 * 1000;

	for (int i = 0; i < 5; i++) {
		struct call_row row = { .to = "+14155550100" };

		row.from = i % 2 ? "+14155550001" : "+14155550002";
		row.inbound = i == 4;
		row.completed = i < 2;
		row.answered_by = i ? "human" : "voicemail";
		row.times.created_ms = API_WALL_MS + i * day_ms;
		row.times.answered_ms = row.times.created_ms;
		row.times.end_ms = row.times.created_ms + i * 10 * 1000;
		api_put_call(api, row);
	}
}

static void test_list_filters(void **state)
{
	struct api *api = *state;
	static const struct {
		const char *query;
		int total, count;
		const char *first; /* created_at of the first */
	} cases[] = {
		{ "", 5, 5, "2026-01-05" },
		{ "?limit=2", 5, 2, "2026-01-05" },
		{ "?limit=0", 5, 0, NULL },
		{ "?from=1&to=3", 5, 2, "2026-01-04" },
		{ "?from=4", 5, 1, "2026-01-01" },
		{ "?ascending=true", 5, 5, "2026-01-01" },
		{ "?ascending=true&sort_by=created_at&limit=1", 5, 1,
		  "2026-01-01" },
		{ "?from_number=%2B14155550001", 2, 2, "2026-01-04" },
		{ "?from_number=+14155550001", 2, 2, "2026-01-04" },
		{ "?from_number=4155550001", 2, 2, "2026-01-04" },
		{ "?to_number=%2B14155550109", 0, 0, NULL },
		{ "?completed=true", 2, 2, "2026-01-02" },
		{ "?completed=false", 3, 3, "2026-01-05" },
		{ "?inbound=true", 1, 1, "2026-01-05" },
		{ "?batch_id=x", 0, 0, NULL },
		{ "?answered_by=voicemail", 1, 1, "2026-01-01" },
		{ "?start_date=2026-01-04", 2, 2, "2026-01-05" },
		{ "?end_date=2026-01-02", 2, 2, "2026-01-02" },
		{ "?start_date=2026-01-02T00:00:00Z&end_date="
		  "2026-01-03T00:00:00Z",
		  2, 2, "2026-01-03" },
		{ "?duration_gt=25", 2, 2, "2026-01-05" },
		{ "?duration_lt=5", 1, 1, "2026-01-01" },
	};

	put_many(api);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		print_message("%s\n", cases[i].query);
		api_ask(api, "GET",
			arena_printf(api->arena, "/v1/calls%s", cases[i].query),
			NULL);
		assert_int_equal(api->status, 200);
		api_expect_at(api, "total_count",
			      arena_printf(api->arena, "%d", cases[i].total));
		api_expect_at(api, "count",
			      arena_printf(api->arena, "%d", cases[i].count));
		if (cases[i].first)
			api_expect_at(api, "calls[0].created_at",
				      arena_printf(api->arena,
						   "\"%sT00:00:00.000Z\"",
						   cases[i].first));
	}
}

static void test_list_refusals(void **state)
{
	struct api *api = *state;
	static const char *const cases[][2] = {
		{ "limit", "limit must be a number." },
		{ "from", "from must be a position in the list." },
		{ "to", "to must be a position in the list." },
		{ "ascending", "ascending must be a boolean." },
		{ "completed", "completed must be a boolean." },
		{ "inbound", "inbound must be a boolean." },
		{ "start_date", "start_date must be a date." },
		{ "end_date", "end_date must be a date." },
		{ "duration_gt", "duration_gt must be a number of seconds." },
		{ "sort_by", "sort_by must be created_at." },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		api_ask(api, "GET",
			arena_printf(api->arena, "/v1/calls?%s=x", cases[i][0]),
			NULL);
		api_expect_error(api, 400, "VALIDATION_ERROR", cases[i][1],
				 cases[i][0]);
	}
}

static void test_list_has_no_transcripts(void **state)
{
	struct api *api = *state;

	api_put_call(api, (struct call_row){ 0 });
	api_ask(api, "GET", "/v1/calls", NULL);
	assert_null(strstr(api->text, "transcript"));
	api_expect_at(api, "calls[0].queue_status", "\"queued\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_dispatch, api_setup,
						api_teardown),
		cmocka_unit_test_setup_teardown(test_settings_are_stored,
						api_setup, api_teardown),
		cmocka_unit_test_setup_teardown(test_required_messages,
						api_setup, api_teardown),
		cmocka_unit_test_setup_teardown(test_from, api_setup,
						api_teardown),
		cmocka_unit_test_setup_teardown(test_default_from, api_setup,
						api_teardown),
		cmocka_unit_test_setup_teardown(test_webhook_rule, api_setup,
						api_teardown),
		cmocka_unit_test_setup_teardown(test_plan, api_setup,
						api_teardown),
		cmocka_unit_test_setup_teardown(test_pathway, api_setup,
						api_teardown),
		cmocka_unit_test_setup_teardown(test_pathway_of_another,
						api_setup, api_teardown),
		cmocka_unit_test_setup_teardown(test_unknown_call, api_setup,
						api_teardown),
		cmocka_unit_test_setup_teardown(test_other_organisation,
						api_setup, api_teardown),
		cmocka_unit_test_setup_teardown(test_completed_is_verbatim,
						api_setup, api_teardown),
		cmocka_unit_test_setup_teardown(test_transcript_grows,
						api_setup, api_teardown),
		cmocka_unit_test_setup_teardown(test_stop, api_setup,
						api_teardown),
		cmocka_unit_test_setup_teardown(test_list_filters, api_setup,
						api_teardown),
		cmocka_unit_test_setup_teardown(test_list_refusals, api_setup,
						api_teardown),
		cmocka_unit_test_setup_teardown(test_list_has_no_transcripts,
						api_setup, api_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
