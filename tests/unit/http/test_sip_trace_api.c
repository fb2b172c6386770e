/* SPDX-License-Identifier: MIT */
/* GET /v1/calls/{call_id}/sip: shape of the answer, calls without messages, and
 * that other organisations see nothing. */
#include "fixture_api.h"
#include "core/arena.h"
#include "core/loop.h"
#include "store/traces.h"

static const char *path_of(struct api *api, const char *id)
{
	return arena_printf(api->arena, "/v1/calls/%s/sip", id);
}

static const char *put_trace(struct api *api)
{
	static const struct trace_line lines[] = {
		{ API_WALL_MS, true, 1, "192.0.2.1:5061",
		  "INVITE sip:a SIP/2.0\r\nCall-ID: x\r\nCSeq: 1 INVITE\r\n"
		  "\r\n\"\xc3\xa4\"" },
		{ API_WALL_MS + 7, false, 2, "[2001:db8::1]:5061",
		  "SIP/2.0 200 OK\r\nCSeq: 2 BYE\r\n\r\n" },
	};
	const char *id = api_put_call(api, (struct call_row){ 0 });
	struct trace_batch batch = { .call_id = id,
				     .written_ms = API_WALL_MS,
				     .messages = 2,
				     .is_over = true,
				     .lines = lines,
				     .n = 2 };

	traces_append(api->service.store, &batch, (struct store_reply){ 0 });
	loop_advance_ms(api->service.loop, 0);
	return id;
}

static void gives_the_ladder(void **state)
{
	struct api *api = *state;
	const char *id = put_trace(api);

	api_ask(api, "GET", path_of(api, id), NULL);
	api_expect(
		api, 200,
		arena_printf(
			api->arena,
			"{\"data\":{\"call_id\":\"%s\",\"complete\":true,"
			"\"dropped\":0,\"messages\":["
			"{\"at\":\"2026-01-01T00:00:00.000Z\","
			"\"direction\":\"out\",\"peer\":\"192.0.2.1:5061\","
			"\"leg\":1,\"sip_call_id\":\"x\",\"start_line\":"
			"\"INVITE sip:a SIP/2.0\",\"method\":\"INVITE\","
			"\"status\":null,\"cseq\":\"1 INVITE\",\"text\":"
			"\"INVITE sip:a SIP/2.0\\r\\nCall-ID: x\\r\\n"
			"CSeq: 1 INVITE\\r\\n\\r\\n\\\"\xc3\xa4\\\"\"},"
			"{\"at\":\"2026-01-01T00:00:00.007Z\","
			"\"direction\":\"in\",\"peer\":\"[2001:db8::1]:5061\","
			"\"leg\":2,\"sip_call_id\":\"\",\"start_line\":"
			"\"SIP/2.0 200 OK\",\"method\":\"BYE\","
			"\"status\":200,\"cseq\":\"2 BYE\",\"text\":"
			"\"SIP/2.0 200 OK\\r\\nCSeq: 2 BYE\\r\\n\\r\\n\"}]},"
			"\"errors\":null}",
			id));
}

static void a_call_may_have_none(void **state)
{
	struct api *api = *state;
	const char *id = api_put_call(api, (struct call_row){ 0 });

	api_ask(api, "GET", path_of(api, id), NULL);
	api_expect(api, 200,
		   arena_printf(api->arena,
				"{\"data\":{\"call_id\":\"%s\",\"complete\":"
				"false,\"dropped\":0,\"messages\":[]},"
				"\"errors\":null}",
				id));
}

static void others_see_no_call(void **state)
{
	struct api *api = *state;
	const char *id = put_trace(api);
	const char *const ids[] = { id, "nonsense",
				    "44444444-4444-4444-8444-444444444444" };

	for (size_t i = 0; i < 3; i++) {
		api->key = i ? API_KEY : API_OTHER_KEY;
		api_ask(api, "GET", path_of(api, ids[i]), NULL);
		api_expect_error(api, 404, "CALL_NOT_FOUND", "Call not found",
				 NULL);
	}
	api->key = NULL;
	api_ask(api, "GET", path_of(api, id), NULL);
	api_expect_error(api, 401, "AUTH_FAILURE", "Unauthorized", NULL);
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, api_setup, api_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(gives_the_ladder),
		TEST(a_call_may_have_none),
		TEST(others_see_no_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
