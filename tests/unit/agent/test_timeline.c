/* SPDX-License-Identifier: MIT */
/* The envelope of events, their order, operations, and what is cut or hidden on
 * the way in (specification 6.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "agent/pathway/operation.h"
#include "agent/pathway/timeline.h"
#include "core/json.h"
#include "core/loop.h"
#include "core/mem.h"
#include "tests/unit/agent/fixture_pathway.h"

struct seen {
	size_t n;
	int64_t last;
	struct loop *loop;
	struct timeline *timeline;
};

static void on_event(void *owner, const struct timeline_event *event)
{
	struct seen *seen = owner;

	assert_true(event->sequence > seen->last);
	seen->last = event->sequence;
	seen->n++;
}

static void set_up(struct seen *seen)
{
	*seen = (struct seen){ 0 };
	loop_open_sim(&seen->loop, 1757684340000);
	seen->timeline = timeline_open(seen->loop, on_event, seen);
}

static void tear_down(struct seen *seen)
{
	timeline_close(&seen->timeline);
	timeline_close(&seen->timeline);
	loop_close(&seen->loop);
}

static const json_t *payload(const struct seen *seen, size_t index)
{
	return json_object_get(
		json_array_get(timeline_json(seen->timeline), index),
		"payload");
}

static void envelope(void **state)
{
	struct operation operation = { 0 };
	struct seen seen;
	char *text;

	set_up(&seen);
	operation.timeline = seen.timeline;
	timeline_add(seen.timeline, "conversation.init", 0, NULL);
	timeline_set_conversation(seen.timeline, "call-1");
	timeline_enter_node(seen.timeline, "n1");
	operation_invoke(&operation, "webhook", 1000, rig_json("{'a':1}"));
	loop_advance_ms(seen.loop, 5);
	operation_error(&operation, "broken", rig_json("{'url':'u'}"));
	assert_int_equal(operation_ms(&operation, 8000), 7);
	assert_int_equal(seen.n, 3);
	text = json_text(timeline_json(seen.timeline));
	assert_string_equal(
		text,
		"[{\"conversation_id\":\"call-1\",\"sequence\":1,\"event_type\""
		":\"conversation.init\",\"node_id\":null,\"operation_id\":null,"
		"\"payload\":null,\"created_at\":\"2025-09-12T13:39:00.000Z\"},"
		"{\"conversation_id\":\"call-1\",\"sequence\":2,\"event_type\":"
		"\"webhook.invoke\",\"node_id\":\"n1\",\"operation_id\":null,"
		"\"payload\":{\"a\":1},\"created_at\":\"2025-09-12T13:39:00."
		"000Z\"},{\"conversation_id\":\"call-1\",\"sequence\":3,"
		"\"event_type\":\"webhook.error\",\"node_id\":\"n1\","
		"\"operation_id\":2,\"payload\":{\"message\":\"broken\","
		"\"url\":\"u\"},\"created_at\":\"2025-09-12T13:39:00.005Z\"}]");
	mem_free(text);
	tear_down(&seen);
}

static void secrets_are_hidden(void **state)
{
	struct seen seen;
	json_t *given = rig_json("{'headers':{'AUTHORIZATION':'a','Set-Cookie':"
				 "'b','x-api-KEY':'c','My-Token':'d','Secret':"
				 "'e','Accept':'f'},'token':'not a header'}");
	char *text;

	set_up(&seen);
	timeline_add(seen.timeline, "webhook.invoke", 0, json_incref(given));
	text = json_text(payload(&seen, 0));
	assert_string_equal(
		text, "{\"headers\":{\"AUTHORIZATION\":\"[redacted]\","
		      "\"Set-Cookie\":\"[redacted]\",\"x-api-KEY\":"
		      "\"[redacted]\",\"My-Token\":\"[redacted]\",\"Secret\":"
		      "\"[redacted]\",\"Accept\":\"f\"},\"token\":\"not a "
		      "header\"}");
	mem_free(text);
	/* the caller's own value is as it was */
	assert_string_equal(
		json_str(json_object_get(given, "headers"), "Secret"), "e");
	json_decref(given);
	tear_down(&seen);
}

static void long_values_are_cut(void **state)
{
	enum { MAX = 64 * 1024 };
	char *text = mem_new(MAX + 8);
	json_t *given = json_object();
	struct seen seen;
	const char *cut;

	set_up(&seen);
	memset(text, 'x', MAX);
	json_put_str(given, "whole", text);
	/* a two-byte character across the limit stays out */
	memcpy(text + MAX - 1, "\xC3\xA9", 3);
	json_put_str(given, "cut", text);
	json_put(given, "list", json_pack("[ss]", text, "y"));
	timeline_add(seen.timeline, "tool.result", 0, given);
	assert_int_equal(strlen(json_str(payload(&seen, 0), "whole")), MAX);
	cut = json_str(payload(&seen, 0), "cut");
	assert_int_equal(strlen(cut), MAX - 1 + 3);
	assert_string_equal(cut + MAX - 2, "x\xE2\x80\xA6");
	cut = json_str(payload(&seen, 0), "list"); /* as text, cut */
	assert_int_equal(strncmp(cut, "[\"xxx", 5), 0);
	assert_true(strlen(cut) <= MAX + 3);
	mem_free(text);
	tear_down(&seen);
}

static void long_secrets_stay_hidden(void **state)
{
	char *text = mem_new(70 * 1024);
	struct seen seen;
	json_t *given;

	set_up(&seen);
	memset(text, 'x', 70 * 1024 - 1);
	given = json_pack("{s:{s:s,s:s}}", "headers", "Cookie", "sesame", "A",
			  text);
	timeline_add(seen.timeline, "webhook.invoke", 0, given);
	assert_null(strstr(json_str(payload(&seen, 0), "headers"), "sesame"));
	mem_free(text);
	tear_down(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(envelope),
		cmocka_unit_test(secrets_are_hidden),
		cmocka_unit_test(long_values_are_cut),
		cmocka_unit_test(long_secrets_stay_hidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
