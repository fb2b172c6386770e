/* SPDX-License-Identifier: MIT */
/* The call object of GET /v1/calls/{id}, lists and post-call webhooks (decisions,
 * "Calls": the table of fields). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "agent/call/record.h"
#include "core/arena.h"
#include "core/mem.h"
#include "tests/unit/agent/fixture_pathway.h"

static const int64_t start_ms = 1767312000000; /* 2026-01-02T00:00:00Z */

static const char settings[] =
	"{'phone_number':'+14155550199','task':'Talk.','record':true,"
	"'max_duration':5,'voice':'kal','metadata':{'order':7},"
	"'request_data':{'name':'Ann'},'pathway_id':'p','pathway_version':2,"
	"'webhook':'https://hook.test/','auth_token':'s3cret',"
	"'keywords':['monkey'],"
	"'dynamic_data':{'headers':{'Authorization':'Bearer s3cret',"
	"'X-Api-Key':'s3cret','Accept':'x'}},"
	"'tools':[{'headers':[{'key':'authorization','value':'s3cret'},"
	"{'key':'Accept','value':'x'}]}]}";

static struct event_row events[] = {
	{ 1, "conversation.init", NULL, 0,
	  "{\"initial_variables\":{\"name\":\"Ann\",\"gone\":1}}",
	  1767312001000 },
	{ 3, "transcript.assistant", "a", 0, "{\"text\":\"Hello?\"}",
	  1767312002000 },
	{ 4, "node.tag", "a", 0, "{\"name\":\"hot\",\"color\":\"red\"}",
	  1767312002000 },
	{ 5, "transcript.assistant", "a", 0,
	  "{\"text\":null,\"generated_response\":\"Not heard.\"}",
	  1767312002500 },
	{ 7, "transcript.user", "a", 0, "{\"text\":\"yes\"}", 1767312003000 },
	{ 8, "node.transition", "a", 0,
	  "{\"variable_changes\":{\"added\":{\"size\":{\"to\":9}},"
	  "\"modified\":{\"name\":\"Bob\"},\"removed\":[\"gone\"]}}",
	  1767312003000 },
	{ 9, "button.press", "b", 0, "{\"button\":\"#\"}", 1767312004000 },
};

struct fixture {
	struct call_row row;
	struct event_list events;
	struct record_outcome outcome;
	struct record_input input;
	json_t *latency, *variables;
	char *request;
};

static int setup(void **state)
{
	struct fixture *f = mem_new(sizeof(*f));
	json_t *tree = rig_json(settings);

	f->request = json_text(tree);
	json_decref(tree);
	f->row = (struct call_row){
		.id = "c1",
		.org_id = "o",
		.number = 1,
		.to = "+14155550199",
		.from = "+14155550100",
		.completed = true,
		.queue_status = "complete",
		.status = "completed",
		.answered_by = "human",
		.times = { .created_ms = start_ms,
			   .started_ms = start_ms + 1000,
			   .answered_ms = start_ms + 2000,
			   .end_ms = start_ms + 92400 },
		.request = f->request,
		.recording = "c1.wav",
	};
	f->events = (struct event_list){ events,
					 sizeof(events) / sizeof(events[0]) };
	f->latency = rig_json("{'p50':600}");
	f->variables = rig_json("{'name':'Bob','size':9}");
	f->outcome = (struct record_outcome){ .ended_by = "USER",
					      .summary = "All well.",
					      .variables = f->variables,
					      .latency = f->latency };
	f->input = (struct record_input){ .row = &f->row,
					  .events = &f->events,
					  .outcome = &f->outcome,
					  .base_url = "https://node.test" };
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	json_decref(f->latency);
	json_decref(f->variables);
	mem_free(f->request);
	mem_free(f);
	return 0;
}

static void expect(const json_t *record, const char *path, const char *wanted)
{
	int err = 0;
	json_t *value = json_path(record, slice_of(path), &err);
	char *text = value ? json_text(value) : mem_dup_str("nothing");

	for (char *c = text; *c; c++)
		*c = *c == '"' ? '\'' : *c;
	if (strcmp(text, wanted) != 0)
		fail_msg("%s is %s, wanted %s", path, text, wanted);
	mem_free(text);
}

static void holds_each_field_of_the_table(void **state)
{
	static const char *const rows[][2] = {
		{ "call_id", "'c1'" },
		{ "c_id", "'c1'" },
		{ "to", "'+14155550199'" },
		{ "from", "'+14155550100'" },
		{ "inbound", "false" },
		{ "batch_id", "null" },
		{ "created_at", "'2026-01-02T00:00:00.000Z'" },
		{ "started_at", "'2026-01-02T00:00:01.000Z'" },
		{ "end_at", "'2026-01-02T00:01:32.400Z'" },
		{ "max_duration", "5" },
		{ "completed", "true" },
		{ "queue_status", "'complete'" },
		{ "status", "'completed'" },
		{ "error_message", "null" },
		{ "call_length", "1.51" },
		{ "corrected_duration", "'90'" },
		{ "metadata", "{'order':7}" },
		{ "variables", "{'name':'Bob','size':9}" },
		{ "answered_by", "'human'" },
		{ "call_ended_by", "'USER'" },
		{ "record", "true" },
		{ "recording_url", "'https://node.test/v1/recordings/c1'" },
		{ "recording_expiration", "null" },
		{ "concatenated_transcript",
		  "'assistant: Hello? \\n user: yes \\n user: Button pressed: "
		  "#'" },
		{ "summary", "'All well.'" },
		{ "disposition_tag", "null" },
		{ "price", "0" },
		{ "voice_id", "'kal'" },
		{ "pathway_id", "'p'" },
		{ "pathway_version", "2" },
		{ "pathway_tags", "[{'name':'hot','color':'red'}]" },
		{ "analysis", "null" },
		{ "transferred_to", "null" },
		{ "transferred_at", "null" },
		{ "pre_transfer_duration", "null" },
		{ "post_transfer_duration", "null" },
		{ "warm_transfer_call", "null" },
		{ "latency", "{'p50':600}" },
		{ "media", "null" },
		{ "request_data.request_data", "{'name':'Ann'}" },
		{ "request_data.phone_number", "'+14155550199'" },
	};
	struct fixture *f = *state;
	json_t *record = record_json(&f->input);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect(record, rows[i][0], rows[i][1]);
	json_decref(record);
}

static void lists_what_was_said(void **state)
{
	struct fixture *f = *state;
	json_t *record = record_json(&f->input);

	expect(record, "transcripts",
	       "[{'id':3,'created_at':'2026-01-02T00:00:02.000Z','text':"
	       "'Hello?','user':'assistant','c_id':'c1','status':null,"
	       "'transcript_id':'c1-3'},"
	       "{'id':7,'created_at':'2026-01-02T00:00:03.000Z','text':'yes',"
	       "'user':'user','c_id':'c1','status':null,"
	       "'transcript_id':'c1-7'},"
	       "{'id':9,'created_at':'2026-01-02T00:00:04.000Z','text':"
	       "'Button pressed: #','user':'user','c_id':'c1','status':null,"
	       "'transcript_id':'c1-9'}]");
	expect(record, "pathway_logs[0].text", "'<Call Connected>'");
	expect(record, "pathway_logs[0].role", "'user'");
	expect(record, "pathway_logs[1].node_id", "'a'");
	expect(record, "pathway_logs[3].text", "'Button pressed: #'");
	expect(record, "pathway_logs[4]", "nothing");
	json_decref(record);
}

/* A poller prints by index: what it has seen never changes. */
static void only_grows(void **state)
{
	struct fixture *f = *state;
	json_t *before = NULL;

	for (size_t n = 0; n <= sizeof(events) / sizeof(events[0]); n++) {
		json_t *record, *now, *turn;
		size_t i;

		f->events.n = n;
		record = record_json(&f->input);
		now = json_object_get(record, "transcripts");
		assert_true(json_array_size(now) >= json_array_size(before));
		json_array_foreach(before, i, turn)
			assert_true(json_equal(turn, json_array_get(now, i)));
		for (i = 1; i < json_array_size(now); i++)
			assert_true(json_integer_value(json_object_get(
					    json_array_get(now, i), "id")) >
				    json_integer_value(json_object_get(
					    json_array_get(now, i - 1), "id")));
		json_decref(before);
		before = json_incref(now);
		json_decref(record);
	}
	json_decref(before);
}

static void hides_secrets_of_the_request(void **state)
{
	struct fixture *f = *state;
	json_t *record = record_json(&f->input);
	char *text = json_text(record);

	assert_null(strstr(text, "s3cret"));
	expect(record, "request_data.auth_token", "'********'");
	expect(record, "request_data.dynamic_data.headers",
	       "{'Authorization':'********','X-Api-Key':'********',"
	       "'Accept':'x'}");
	expect(record, "request_data.tools[0].headers",
	       "[{'key':'authorization','value':'********'},"
	       "{'key':'Accept','value':'x'}]");
	expect(record, "request_data.keywords", "['monkey']");
	mem_free(text);
	json_decref(record);
}

static void says_little_of_a_call_that_waits(void **state)
{
	static const char *const nulls[] = {
		"started_at",	 "end_at",	  "status",
		"answered_by",	 "call_length",	  "corrected_duration",
		"error_message", "call_ended_by", "summary",
		"price",	 "latency",	  "recording_url",
	};
	struct fixture *f = *state;
	json_t *record;

	f->row = (struct call_row){ .id = "c1",
				    .to = "+1",
				    .from = "+2",
				    .queue_status = "queued",
				    .times = { .created_ms = start_ms },
				    .request = "{}" };
	f->input.events = NULL;
	f->input.outcome = NULL;
	f->input.base_url = NULL;
	record = record_json(&f->input);
	for (size_t i = 0; i < sizeof(nulls) / sizeof(nulls[0]); i++)
		expect(record, nulls[i], "null");
	expect(record, "completed", "false");
	expect(record, "record", "false");
	expect(record, "transcripts", "[]");
	expect(record, "concatenated_transcript", "''");
	expect(record, "variables", "{}");
	json_decref(record);
}

/* Nobody saw its end: the events tell the variables. */
static void gathers_variables_from_events(void **state)
{
	struct fixture *f = *state;
	json_t *record;

	f->outcome.variables = NULL;
	record = record_json(&f->input);
	expect(record, "variables", "{'name':'Bob','size':{'to':9}}");
	json_decref(record);
}

static void bears_damaged_rows(void **state)
{
	static struct event_row damaged[] = {
		{ 1, "transcript.user", NULL, 0, NULL, 0 },
		{ 2, "transcript.user", NULL, 0, "[]", 0 },
		{ 3, "transcript.user", NULL, 0, "{\"text\":7}", 0 },
		{ 4, "button.press", NULL, 0, "{}", 0 },
		{ 5, "node.tag", NULL, 0, "nothing", 0 },
		{ 6, "conversation.init", NULL, 0, "{}", 0 },
	};
	struct fixture *f = *state;
	json_t *record;

	f->row.request = "garbage";
	f->events = (struct event_list){ damaged, 6 };
	record = record_json(&f->input);
	expect(record, "request_data", "null");
	expect(record, "transcripts[0].text", "'Button pressed: '");
	expect(record, "transcripts[1]", "nothing");
	expect(record, "pathway_tags", "[]");
	json_decref(record);
}

static void renders_the_row_and_its_brief(void **state)
{
	struct fixture *f = *state;
	struct arena *arena = arena_open();
	struct call_row row = f->row;
	json_t *record = record_json(&f->input), *brief;
	char *text = json_text(record);

	record_render(&row, arena, &f->input);
	assert_string_equal(row.body, text);
	brief = json_parse(slice_of(row.brief), NULL);
	assert_null(json_object_get(brief, "transcripts"));
	assert_null(json_object_get(brief, "pathway_logs"));
	assert_null(json_object_get(brief, "concatenated_transcript"));
	expect(brief, "call_id", "'c1'");
	expect(brief, "summary", "'All well.'");
	json_decref(brief);
	json_decref(record);
	mem_free(text);
	arena_close(&arena);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

/* The last that came about; one that failed later changes nothing. */
static void tells_of_the_transfer(void **state)
{
	static struct event_row rows[] = {
		{ 1, "transfer_call.invoke", NULL, 0,
		  "{\"target_number\":\"+1\"}", 1767312010000 },
		{ 2, "transfer_call.result", NULL, 1,
		  "{\"status\":\"busy\",\"success\":false}", 1767312012000 },
		{ 3, "transfer_call.invoke", NULL, 0,
		  "{\"target_number\":\"+2\"}", 1767312030000 },
		{ 4, "transfer_call.result", NULL, 3,
		  "{\"status\":\"answered\",\"success\":true}", 1767312032000 },
		{ 5, "transfer_call.invoke", NULL, 0,
		  "{\"target_number\":\"+3\"}", 1767312040000 },
		{ 6, "transfer_call.result", NULL, 5,
		  "{\"status\":\"failed\",\"success\":false}", 1767312041000 },
	};
	struct fixture *f = *state;
	json_t *record;

	f->events = (struct event_list){ rows, 2 };
	record = record_json(&f->input);
	expect(record, "transferred_to", "null");
	expect(record, "transferred_at", "null");
	expect(record, "pre_transfer_duration", "null");
	expect(record, "post_transfer_duration", "null");
	json_decref(record);
	f->events.n = 6;
	record = record_json(&f->input);
	expect(record, "transferred_to", "'+2'");
	expect(record, "transferred_at", "'2026-01-02T00:00:32.000Z'");
	expect(record, "pre_transfer_duration", "0.5");
	expect(record, "post_transfer_duration", "1.01");
	expect(record, "warm_transfer_call", "null");
	json_decref(record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(holds_each_field_of_the_table),
		CASE(lists_what_was_said),
		CASE(only_grows),
		CASE(hides_secrets_of_the_request),
		CASE(says_little_of_a_call_that_waits),
		CASE(gathers_variables_from_events),
		CASE(bears_damaged_rows),
		CASE(renders_the_row_and_its_brief),
		CASE(tells_of_the_transfer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
