/* SPDX-License-Identifier: MIT */
/* http/auth and the resources around a call: timelines, recordings, post-call
 * webhooks, the account, health and metrics. Keys in both forms, x-api-key not
 * read, revoked keys refused; nothing of another organisation is seen. */
#include <stdio.h>
#include <stdlib.h>
#include "core/config.h"
#include "core/loop.h"
#include "fixture_api.h"
#include "store/events.h"
#include "store/outbox.h"
#include "store/recordings.h"

/* ---- keys ---- */

static void test_keys(void **state)
{
	struct api *api = *state;
	static const struct {
		const char *key, *headers;
		int status;
	} cases[] = {
		{ API_KEY, NULL, 200 },
		{ "Bearer " API_KEY, NULL, 200 },
		{ "bearer   " API_KEY, NULL, 200 },
		{ NULL, NULL, 401 },
		{ "Bearer", NULL, 401 },
		{ "Bearer ", NULL, 401 },
		{ "Basic " API_KEY, NULL, 401 },
		{ "org_cccccccccccccccccccccccccccccccccccccccc", NULL, 401 },
		{ API_KEY "x", NULL, 401 },
		{ NULL, "x-api-key: " API_KEY "\r\n", 401 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		api->key = cases[i].key;
		api->headers = cases[i].headers;
		api_ask(api, "GET", "/v1/me", NULL);
		assert_int_equal(api->status, cases[i].status);
		if (cases[i].status == 401)
			api_expect(api, 401,
				   "{\"data\":null,\"errors\":[{\"error\":"
				   "\"AUTH_FAILURE\",\"message\":"
				   "\"Unauthorized\"}]}");
	}
}

static void test_revoked_key(void **state)
{
	struct api *api = *state;
	struct key_row *rows;
	size_t n;

	assert_int_equal(
		keys_list(api->service.store, api->arena, API_ORG, &rows, &n),
		0);
	keys_revoke(api->service.store, API_ORG, rows[0].id, API_WALL_MS,
		    (struct store_reply){ 0 });
	loop_advance_ms(api->service.loop, 0);
	api_ask(api, "GET", "/v1/me", NULL);
	assert_int_equal(api->status, 401);
}

static void test_account(void **state)
{
	struct api *api = *state;

	api_put_call(api, (struct call_row){ 0 });
	api_put_call(api, (struct call_row){ .org_id = API_OTHER });
	api_ask(api, "GET", "/v1/me", NULL);
	api_expect(api, 200,
		   "{\"status\":\"active\",\"billing\":{\"current_balance\":0,"
		   "\"refill_to\":null},\"total_calls\":1}");
}

/* ---- timeline ---- */

static void put_event(struct api *api, const char *call_id,
		      const struct event_row *row)
{
	events_append(api->service.store, call_id, row,
		      (struct store_reply){ 0 });
	loop_advance_ms(api->service.loop, 0);
}

static const char *put_timeline(struct api *api)
{
	const char *id = api_put_call(
		api, (struct call_row){ .queue_status = "started" });
	const struct event_row rows[] = {
		{ 1, "conversation.init", NULL, 0, "{\"pathway_id\":null}",
		  API_WALL_MS },
		{ 4, "webhook.result", "n\"1", 3, "{\"status\":200}",
		  API_WALL_MS + 5 },
		{ 9, "transcript.user", "2", 0, "{\"text\":\"hi\"}",
		  API_WALL_MS + 6 },
		{ 10, "kb.invoke", "2", 0, NULL, API_WALL_MS + 7 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		put_event(api, id, &rows[i]);
	return id;
}

#define EVENT                                                                  \
	"{\"conversation_id\":\"%s\",\"sequence\":%d,\"event_type\":\"%s\","   \
	"\"node_id\":%s,\"operation_id\":%s,\"payload\":%s,\"created_at\":"    \
	"\"2026-01-01T00:00:00.00%dZ\"}"

static void test_timeline(void **state)
{
	struct api *api = *state;
	const char *id = put_timeline(api);

	api_ask(api, "GET",
		arena_printf(api->arena, "/v1/pathway_calls/%s?v=2", id), NULL);
	api_expect(api, 200,
		   arena_printf(api->arena,
				"[" EVENT "," EVENT "," EVENT "," EVENT "]", id,
				1, "conversation.init", "null", "null",
				"{\"pathway_id\":null}", 0, id, 4,
				"webhook.result", "\"n\\\"1\"", "3",
				"{\"status\":200}", 5, id, 9, "transcript.user",
				"\"2\"", "null", "{\"text\":\"hi\"}", 6, id, 10,
				"kb.invoke", "\"2\"", "null", "null", 7));
}

static void test_logs(void **state)
{
	struct api *api = *state;
	const char *id = put_timeline(api);

	api_ask(api, "GET",
		arena_printf(api->arena, "/v1/pathway_calls/%s", id), NULL);
	api_expect_at(api, "[0].text", "\"<Call Connected>\"");
	api_expect_at(api, "[1].role", "\"user\"");
	api_expect_at(api, "[1].text", "\"hi\"");
	api_ask(api, "GET",
		arena_printf(api->arena, "/v1/pathway_calls/%s?v=3", id), NULL);
	api_expect_error(api, 400, "VALIDATION_ERROR", "v must be 2.", "v");
}

/* ---- recordings ---- */

static const char *put_recording(struct api *api, bool is_complete)
{
	const char *id = api_put_call(api, (struct call_row){ 0 });
	struct recording_row row = { .call_id = id,
				     .org_id = API_ORG,
				     .file = "audio.wav",
				     .bytes = 10,
				     .complete = is_complete,
				     .created_ms = API_WALL_MS };

	recordings_put(api->service.store, &row, (struct store_reply){ 0 });
	loop_advance_ms(api->service.loop, 0);
	return id;
}

static int recordings_setup(void **state)
{
	static char folder[] = "/tmp/parley-rec-XXXXXX";
	char setting[128], file[160];
	char *env[] = { setting, NULL };
	FILE *out;

	memcpy(folder + sizeof(folder) - 7, "XXXXXX", 6);
	assert_non_null(mkdtemp(folder));
	snprintf(setting, sizeof(setting), "PARLEY_RECORDINGS_PATH=%s", folder);
	snprintf(file, sizeof(file), "%s/audio.wav", folder);
	out = fopen(file, "w");
	assert_non_null(out);
	fputs("0123456789", out);
	fclose(out);
	return api_setup_with(state, env);
}

static int recordings_teardown(void **state)
{
	struct api *api = *state;
	char *folder =
		strdup(config_text(api->service.config, "recordings.path"));
	char file[160];

	snprintf(file, sizeof(file), "%s/audio.wav", folder);
	remove(file);
	remove(folder);
	free(folder);
	return api_teardown(state);
}

static void test_recording(void **state)
{
	struct api *api = *state;
	const char *id = put_recording(api, true);
	static const char *const paths[] = { "/v1/recordings/%s",
					     "/v1/recording/%s" };

	api_ask(api, "GET", arena_printf(api->arena, paths[0], id), NULL);
	assert_non_null(strstr(api->head, "audio/wav"));
	api_expect(api, 200, "0123456789");
	api->headers = "Range: bytes=2-4\r\n";
	api_ask(api, "GET", arena_printf(api->arena, paths[1], id), NULL);
	api_expect(api, 206, "234");
}

static void test_no_recording(void **state)
{
	struct api *api = *state;
	const char *open = put_recording(api, false); /* being written */
	const char *none = api_put_call(api, (struct call_row){ 0 });
	const char *theirs = put_recording(api, true);
	const char *const ids[] = { open, none, "nonsense", theirs };

	for (size_t i = 0; i < 4; i++) {
		api->key = i == 3 ? API_OTHER_KEY : API_KEY;
		api_ask(api, "GET",
			arena_printf(api->arena, "/v1/recordings/%s", ids[i]),
			NULL);
		api_expect_error(api, 404, "CALL_RECORDING_NOT_FOUND",
				 "Call recording not found", NULL);
	}
}

/* ---- webhooks of a call ---- */

static void test_postcall(void **state)
{
	struct api *api = *state;
	const char *id = api_put_call(api, (struct call_row){ 0 });
	struct outbox_row row = { .id = "44444444-4444-4444-8444-444444444444",
				  .org_id = API_ORG,
				  .call_id = id,
				  .url = "https://example.com/h",
				  .body = "{\"call_id\":\"x\"}",
				  .send_type = "spawn",
				  .created_ms = API_WALL_MS };
	struct outbox_attempt attempt = { .id = row.id,
					  .sent_ms = API_WALL_MS + 1,
					  .response_code = 200,
					  .duration_ms = 120,
					  .delivered = true };
	const char *path =
		arena_printf(api->arena, "/v1/postcall/webhooks/%s", id);

	api_ask(api, "GET", path, NULL);
	api_expect_error(api, 404, "NOT_FOUND",
			 "No webhook was sent for this call", NULL);
	outbox_insert(api->service.store, &row, (struct store_reply){ 0 });
	outbox_attempted(api->service.store, &attempt,
			 (struct store_reply){ 0 });
	loop_advance_ms(api->service.loop, 0);
	api_ask(api, "GET", path, NULL);
	api_expect(api, 200,
		   arena_printf(api->arena,
				"{\"data\":{\"payload\":{\"call_id\":\"x\"},"
				"\"url\":\"https://example.com/h\","
				"\"created_at\":\"2026-01-01T00:00:00.000Z\","
				"\"call_id\":\"%s\",\"user_id\":\"" API_ORG
				"\",\"metadata\":[{\"sent_at\":"
				"\"2026-01-01T00:00:00.001Z\","
				"\"response_code\":200,\"response_time\":"
				"\"120ms\",\"send_type\":\"spawn\"}]},"
				"\"errors\":null}",
				id));
}

static void test_other_organisation(void **state)
{
	struct api *api = *state;
	const char *id = put_timeline(api);
	static const char *const paths[] = { "/v1/pathway_calls/%s?v=2",
					     "/v1/pathway_calls/%s",
					     "/v1/postcall/webhooks/%s" };

	for (size_t i = 0; i < 6; i++) {
		char path[128];

		api->key = i < 3 ? API_OTHER_KEY : API_KEY;
		snprintf(path, sizeof(path), "%.*s%s%s",
			 (int)(strstr(paths[i % 3], "%s") - paths[i % 3]),
			 paths[i % 3], i < 3 ? id : "nonsense",
			 strstr(paths[i % 3], "%s") + 2);
		api_ask(api, "GET", path, NULL);
		api_expect_error(api, 404, "CALL_NOT_FOUND", "Call not found",
				 NULL);
	}
}

/* ---- health and metrics ---- */

static void test_health(void **state)
{
	struct api *api = *state;

	api->key = NULL;
	api_ask(api, "GET", "/healthz", NULL);
	api_expect(api, 200,
		   "{\"status\":\"ok\",\"live\":true,"
		   "\"ready\":true}");
	api->service.started_ms = 0;
	api_ask(api, "GET", "/healthz", NULL);
	api_expect(api, 503,
		   "{\"status\":\"starting\",\"live\":true,"
		   "\"ready\":false}");
}

static void test_metrics(void **state)
{
	struct api *api = *state;
	static const char *const wanted[] = {
		"# TYPE parley_calls_live gauge\nparley_calls_live 0\n",
		"parley_turn_latency_seconds_bucket{le=\"+Inf\"} 0\n",
		"parley_sip_sessions 0\n",
		"parley_media_streams 0\n",
		"# TYPE parley_store_writes_total counter\n",
		"parley_process_open_files ",
		"parley_process_start_seconds 1767225600\n",
	};

	api->key = NULL;
	api_ask(api, "GET", "/metrics", NULL);
	assert_int_equal(api->status, 200);
	assert_non_null(strstr(api->head, "Content-Type: text/plain"));
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		if (!strstr(api->text, wanted[i]))
			fail_msg("%s is not in %s", wanted[i], api->text);
	}
}

/* Over a reverse proxy everybody comes from this machine. */
static void test_metrics_over_proxy(void **state)
{
	struct api *api = *state;

	api->headers = "X-Forwarded-For: 192.0.2.1\r\n";
	api_ask(api, "GET", "/metrics", NULL);
	api_expect_error(api, 401, "AUTH_FAILURE", "Unauthorized", NULL);
}

static int token_setup(void **state)
{
	char setting[] = "PARLEY_HTTP_METRICS_TOKEN=secret";
	char *const env[] = { setting, NULL };

	return api_setup_with(state, env);
}

static void test_metrics_token(void **state)
{
	struct api *api = *state;
	static const struct {
		const char *key;
		int status;
	} cases[] = {
		{ NULL, 401 },
		{ "secret", 401 },
		{ "Bearer secre", 401 },
		{ "Bearer " API_KEY, 401 },
		{ "Bearer secret", 200 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		api->key = cases[i].key;
		api_ask(api, "GET", "/metrics", NULL);
		assert_int_equal(api->status, cases[i].status);
	}
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, api_setup, api_teardown)
#define RECORDING(name)                                                        \
	cmocka_unit_test_setup_teardown(name, recordings_setup,                \
					recordings_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_keys),
		TEST(test_revoked_key),
		TEST(test_account),
		TEST(test_timeline),
		TEST(test_logs),
		RECORDING(test_recording),
		RECORDING(test_no_recording),
		TEST(test_postcall),
		TEST(test_other_organisation),
		TEST(test_health),
		TEST(test_metrics),
		TEST(test_metrics_over_proxy),
		cmocka_unit_test_setup_teardown(test_metrics_token, token_setup,
						api_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
