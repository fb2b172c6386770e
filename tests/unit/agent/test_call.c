/* SPDX-License-Identifier: MIT */
/* A call from its queued row to its completed one: dialled over TLS, talk of
 * three turns over SRTP, End Call, record, webhook; and each way it can fail.
 * Specification 4 (calls), decisions "Calls" and "Webhooks". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/config.h"
#include "core/json.h"
#include "core/log.h"
#include "core/mem.h"
#include "store/events.h"
#include "store/recordings.h"
#include "tests/unit/agent/fixture_house.h"

/* What the record of a completed call says at each place. */
struct place {
	const char *at, *value;
};

static void expect_record(struct house *house, const char *id,
			  const struct place *places)
{
	json_t *record = house_record(house, id);

	for (; places->at; places++) {
		const char *value = house_at(house, record, places->at);

		if (strcmp(value, places->value) != 0)
			fail_msg("%s is \"%s\", wanted \"%s\"", places->at,
				 value, places->value);
	}
	json_decref(record);
}

#define EXPECT(house, id, ...)                                                 \
	expect_record(house, id,                                               \
		      (const struct place[]){ { "completed", "true" },         \
					      __VA_ARGS__,                     \
					      { NULL, NULL } })

static void expect_talk(struct house *house, const char *id, const char *talk)
{
	json_t *record = house_record(house, id);

	assert_string_equal(house_transcript(house, record), talk);
	json_decref(record);
}

static size_t count_events(struct house *house, const char *id)
{
	struct event_list list = { 0 };

	assert_int_equal(
		events_list(house->service.store, house->arena, id, 0, &list),
		0);
	for (size_t i = 1; i < list.n; i++)
		assert_true(list.rows[i].sequence > list.rows[i - 1].sequence);
	return list.n;
}

static void use_talk_of_three_turns(struct house *house)
{
	ACTOR_HEARS(&house->actor, { "yes please" }, { "a large one" },
		    { "yes" });
	SAYS(house, 600, 800, 400);
}

static void talks_three_turns_and_hangs_up(void **state)
{
	struct house *house = *state;
	const char *id;

	use_talk_of_three_turns(house);
	id = house_queue(house, NULL);
	house_run(house, 0);
	assert_string_equal(house_call(house, id).queue_status, "started");
	house_finish(house, id, 60000);
	EXPECT(house, id, { "status", "completed" },
	       { "queue_status", "complete" }, { "call_ended_by", "ASSISTANT" },
	       { "answered_by", "human" }, { "error_message", "" },
	       { "latency.turns", "3" }, { "pathway_id", HOUSE_PATHWAY },
	       { "variables.to", HOUSE_CALLEE }, { "media[0].codec", "PCMU" },
	       { "media[0].lost", "0" }, { "media[0].encrypted", "true" });
	expect_talk(house, id,
		    "assistant: Hello there, would you like a pizza?\n"
		    "user: yes please\n"
		    "assistant: What size should it be?\n"
		    "user: a large one\n"
		    "assistant: Shall I order it now?\n"
		    "user: yes\n"
		    "assistant: All right. Goodbye.\n");
	house_run(house, 1000);
	assert_int_equal(house->n_posts, 1);
	assert_string_equal(house->posts[0].url, "https://hook.test/x");
	assert_string_equal(house->posts[0].body, house_call(house, id).body);
	assert_true(house->legs[0].has_ended);
}

/* connected, ended, and the record, in this order. */
static void tells_the_client_what_happens(void **state)
{
	struct house *house = *state;
	const char *id;

	use_talk_of_three_turns(house);
	id = house_queue(house, "{'pathway_id':'" HOUSE_PATHWAY "',"
				"'webhook':'https://hook.test/x',"
				"'webhook_events':['queue','call']}");
	house_run(house, 1500);
	assert_int_equal(house->n_posts, 1);
	assert_non_null(
		strstr(house->posts[0].body, "\"message\":\"Call connected\""));
	assert_non_null(strstr(house->posts[0].body, "\"category\":\"call\""));
	assert_non_null(strstr(house->posts[0].body, id));
	house_finish(house, id, 60000);
	house_run(house, 1000);
	assert_int_equal(house->n_posts, 3);
	assert_non_null(
		strstr(house->posts[1].body, "\"message\":\"Call ended\""));
	assert_string_equal(house->posts[2].body, house_call(house, id).body);
	assert_null(strstr(house->posts[2].body, "\"category\""));
}

static void tells_why_it_was_refused(void **state)
{
	static const struct {
		int code;
		const char *status, *queue_status, *message;
	} rows[] = {
		{ 486, "busy", "complete",
		  "The number you dialed is busy. Please try again later." },
		{ 600, "busy", "complete",
		  "The number you dialed is busy. Please try again later." },
		{ 404, "failed", "call_error",
		  "The number you dialed is not found." },
		{ 480, "no-answer", "complete",
		  "The number you dialed is temporarily unavailable." },
		{ 603, "failed", "call_error", "The call was declined." },
		{ 488, "failed", "call_error",
		  "The trunk does not accept our secure media (SRTP)." },
		{ 499, "failed", "call_error",
		  "The trunk answered 499 Unknown." },
	};
	struct house *house = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *id;

		house->manners.status = rows[i].code;
		id = house_queue(house, NULL);
		house_finish(house, id, 5000);
		EXPECT(house, id, { "status", rows[i].status },
		       { "queue_status", rows[i].queue_status },
		       { "error_message", rows[i].message },
		       { "call_ended_by", "" }, { "latency", "" },
		       { "media", "" }, { "call_length", "0" },
		       { "corrected_duration", "0" });
	}
}

static void gives_up_ringing(void **state)
{
	struct house *house = *state;
	const char *id;

	house->manners.is_silent = true;
	id = house_queue(house, NULL);
	house_run(house, 19500);
	assert_false(house_call(house, id).completed);
	house_finish(house, id, 2000);
	EXPECT(house, id, { "status", "no-answer" },
	       { "answered_by", "no-answer" },
	       { "error_message",
		 "The number you dialed did not answer in time." });
	assert_true(house->legs[0].has_ended);
}

static void fails_before_it_dials(void **state)
{
	static const struct {
		const char *settings, *sql, *message;
	} rows[] = {
		{ "{'pathway_id':'nobody'}", NULL,
		  "The call's pathway no longer exists." },
		{ "{}", NULL, "The call has neither task nor pathway_id." },
		{ "[]", NULL, "The call's stored settings are damaged." },
		{ "{'task':'x'}",
		  "UPDATE trunks SET password = x'00' WHERE direction = 1",
		  "The trunk's password cannot be read: it was sealed under "
		  "another store.key." },
		{ "{'task':'x'}", "DELETE FROM trunks WHERE direction = 1",
		  "No outbound SIP configuration is attached to the from "
		  "number." },
		{ "{'pathway_id':'" HOUSE_PATHWAY "'}",
		  "UPDATE pathway_versions SET nodes = '[]'",
		  "The call's pathway is not valid: " },
	};
	struct house *house = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *id;
		json_t *record;

		if (rows[i].sql)
			house_sql(house, rows[i].sql);
		id = house_queue(house, rows[i].settings);
		house_finish(house, id, 5000);
		EXPECT(house, id, { "status", "failed" },
		       { "queue_status", "call_error" });
		record = house_record(house, id);
		assert_memory_equal(house_at(house, record, "error_message"),
				    rows[i].message, strlen(rows[i].message));
		json_decref(record);
	}
	assert_int_equal(house->n_legs, 0);
}

static void fails_where_the_start_is_missing(void **state)
{
	struct house *house = *state;
	const char *id = house_queue(house, "{'pathway_id':'" HOUSE_PATHWAY "',"
					    "'start_node_id':'nowhere'}");

	house_finish(house, id, 5000);
	EXPECT(house, id, { "status", "failed" },
	       { "error_message",
		 "start_node_id names no node of the pathway." });
}

static void fails_without_secure_media(void **state)
{
	static const struct {
		const char *answer, *message;
	} rows[] = {
		{ "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\n"
		  "c=IN IP4 127.0.0.1\r\nt=0 0\r\n"
		  "m=audio 4000 RTP/AVP 0\r\n",
		  "The trunk answered without secure media (SRTP) that we can "
		  "do." },
		{ "nothing like SDP", "The trunk answered with a body that is "
				      "not valid SDP." },
	};
	struct house *house = *state;

	for (size_t i = 0; i < 2; i++) {
		const char *id;

		house->manners.answer = rows[i].answer;
		id = house_queue(house, NULL);
		house_finish(house, id, 5000);
		EXPECT(house, id, { "status", "failed" },
		       { "error_message", rows[i].message },
		       { "call_ended_by", "" });
		assert_true(house->legs[i].has_ended);
	}
}

static void ends_when_no_audio_comes(void **state)
{
	struct house *house = *state;
	const char *id = house_queue(house, NULL);

	house_run(house, 1000);
	stream_close(&house->legs[0].stream);
	house_finish(house, id, 40000);
	EXPECT(house, id, { "status", "failed" },
	       { "queue_status", "call_error" },
	       { "error_message",
		 "No audio arrived from the far end for too long." });
	assert_true(house->legs[0].has_ended);
}

/* The line under way is on record as far as it was heard. */
static void ends_when_the_caller_hangs_up(void **state)
{
	struct house *house = *state;
	const char *id;
	json_t *record;

	house->manners.hangs_up_ms = 300;
	id = house_queue(house, NULL);
	house_finish(house, id, 5000);
	EXPECT(house, id, { "status", "completed" },
	       { "call_ended_by", "USER" }, { "answered_by", "unknown" },
	       { "transcripts[1]", "-" });
	record = house_record(house, id);
	assert_memory_equal(house_at(house, record, "transcripts[0].text"),
			    "Hello there", 11);
	json_decref(record);
}

static void ends_at_its_longest(void **state)
{
	struct house *house = *state;
	const char *id = house_queue(house, "{'pathway_id':'" HOUSE_PATHWAY "',"
					    "'max_duration':0.05}");

	house_run(house, 2900);
	assert_false(house_call(house, id).completed);
	house_finish(house, id, 1000);
	EXPECT(house, id, { "status", "completed" },
	       { "call_ended_by", "ASSISTANT" }, { "call_length", "0.05" },
	       { "corrected_duration", "3" });
}

static void is_stopped_at_any_stage(void **state)
{
	static const struct {
		unsigned ms;
		bool is_silent;
		const char *status, *ended_by;
	} rows[] = {
		{ 0, true, "canceled", "" },
		{ 1, true, "canceled", "" },
		{ 5000, true, "canceled", "" },
		{ 1000, false, "completed", "ASSISTANT" },
	};
	struct house *house = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned replies;
		const char *id;

		house->manners.is_silent = rows[i].is_silent;
		id = house_queue(house, NULL);
		house_run(house, rows[i].ms);
		replies = house->replies;
		dispatch_stop(house->service.dispatch, HOUSE_ORG, id,
			      house_reply(house));
		assert_int_equal(house->replies, replies);
		house_finish(house, id, 5000);
		house_run(house, 0);
		assert_int_equal(house->replies, replies + 1);
		EXPECT(house, id, { "status", rows[i].status },
		       { "call_ended_by", rows[i].ended_by });
		house_run(house, 1000);
		assert_int_equal(house->n_posts, i + 1);
	}
}

/* It waits in the queue and does not fail. */
static void waits_for_a_free_port(void **state)
{
	struct house *house = *state;
	const char *first, *second;

	house_stop(house);
	house->media_ports = 2;
	house_start(house);
	first = house_queue(house, NULL);
	second = house_queue(house, NULL);
	house_run(house, 1000);
	assert_string_equal(house_call(house, second).queue_status, "queued");
	dispatch_stop(house->service.dispatch, HOUSE_ORG, first,
		      house_reply(house));
	house_finish(house, first, 1000);
	house_run(house, 1000);
	assert_string_equal(house_call(house, second).queue_status, "started");
	assert_int_equal(house->n_legs, 2);
}

static void records_the_call(void **state)
{
	struct house *house = *state;
	struct recording_row row;
	struct stat st;
	const char *id, *url;

	use_talk_of_three_turns(house);
	id = house_queue(house, "{'pathway_id':'" HOUSE_PATHWAY "',"
				"'record':true}");
	house_finish(house, id, 60000);
	url = arena_printf(house->arena, "https://node.test/v1/recordings/%s",
			   id);
	EXPECT(house, id, { "record", "true" }, { "recording_url", url });
	assert_int_equal(recordings_get(house->service.store, house->arena,
					HOUSE_ORG, id, &row),
			 0);
	assert_true(row.complete);
	assert_true(row.duration_ms > 5000);
	assert_int_equal(stat(arena_printf(house->arena, "%s/%s",
					   config_text(house->service.config,
						       "recordings.path"),
					   row.file),
			      &st),
			 0);
	assert_int_equal(row.bytes, st.st_size);
	assert_in_range(st.st_size, row.duration_ms * 32 - 1000,
			row.duration_ms * 32 + 1000);
}

/* A link to a file that is not there, or not whole, helps nobody. */
static void links_no_recording_that_failed(void **state)
{
	struct house *house = *state;
	const char *folder =
		config_text(house->service.config, "recordings.path");
	struct recording_row row;
	const char *id, *file;

	house_put_org(house, 0);
	id = house_queue(house, "{'task':'Talk.','record':true}");
	file = arena_printf(house->arena, "%s/%s.wav", folder, id);
	assert_int_equal(mkdir(file, 0700), 0); /* stands in the way */
	house_put_org(house, 10);
	house->manners.hangs_up_ms = 2000;
	dispatch_wake(house->service.dispatch);
	house_run(house, 1000);
	assert_null(house_call(house, id).recording);
	house_finish(house, id, 5000);
	EXPECT(house, id, { "status", "completed" }, { "record", "true" },
	       { "recording_url", "" });
	assert_int_equal(recordings_get(house->service.store, house->arena,
					HOUSE_ORG, id, &row),
			 0);
	assert_false(row.complete);
	assert_int_equal(rmdir(file), 0);
}

static void takes_keys_for_words(void **state)
{
	struct house *house = *state;
	const char *id;

	id = house_queue(house, "{'task':'Please press a key.'}");
	house_run(house, 1500);
	stream_send_digits(house->legs[0].stream, "7");
	house_run(house, 3500);
	dispatch_stop(house->service.dispatch, HOUSE_ORG, id,
		      house_reply(house));
	house_finish(house, id, 1000);
	EXPECT(house, id, { "answered_by", "human" },
	       { "transcripts[1].text", "Button pressed: 7" },
	       { "transcripts[1].user", "user" });
}

static unsigned count_complaints(int fd)
{
	char text[20000];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	const char *at = text;
	unsigned found = 0;

	assert_true(n >= 0);
	text[n] = 0;
	while ((at = strstr(at, "its end could not be stored"))) {
		found++;
		at++;
	}
	return found;
}

static void complains_once_a_minute(void **state)
{
	struct house *house = *state;
	char name[] = "/tmp/parley-log-XXXXXX";
	int fd = mkstemp(name);
	struct log_options loud = { .level = LOG_ERROR, .fd = fd };
	struct log_options quiet = { .level = LOG_OFF, .fd = 2 };

	unlink(name);
	house_sql(house, "CREATE TRIGGER t BEFORE UPDATE ON calls WHEN"
			 " NEW.completed BEGIN SELECT RAISE(ABORT, 'no'); END");
	house->manners.hangs_up_ms = 1000;
	house_queue(house, NULL);
	log_setup(&loud);
	house_run(house, 50 * 1000);
	assert_int_equal(count_complaints(fd), 1);
	house_run(house, 100 * 1000);
	assert_int_equal(count_complaints(fd), 3);
	log_setup(&quiet);
	house_sql(house, "DROP TRIGGER t");
	house_run(house, 1100);
	close(fd);
}

/* A poller sees the transcript of completed calls whole, or nothing. */
static void waits_for_a_store_that_fails_at_the_end(void **state)
{
	struct house *house = *state;
	const char *id;

	house_sql(house, "CREATE TRIGGER t BEFORE UPDATE ON calls WHEN"
			 " NEW.completed BEGIN SELECT RAISE(ABORT, 'no'); END");
	house->manners.hangs_up_ms = 1000;
	id = house_queue(house, NULL);
	house_run(house, 8000);
	assert_false(house_call(house, id).completed);
	assert_int_equal(dispatch_live(house->service.dispatch, NULL), 1);
	house_sql(house, "DROP TRIGGER t");
	house_finish(house, id, 1100);
	EXPECT(house, id, { "status", "completed" });
	house_run(house, 1000);
	assert_int_equal(house->n_posts, 1);
	assert_int_equal(dispatch_live(house->service.dispatch, NULL), 0);
}

static void stores_late_what_could_not_be_stored_in_time(void **state)
{
	struct house *house = *state;
	const char *id;
	size_t n;

	house_sql(house, "CREATE TRIGGER t BEFORE INSERT ON events WHEN"
			 " NEW.sequence > 1"
			 " BEGIN SELECT RAISE(ABORT, 'no'); END");
	use_talk_of_three_turns(house);
	id = house_queue(house, NULL);
	house_run(house, 5000);
	assert_int_equal(count_events(house, id), 1);
	house_sql(house, "DROP TRIGGER t");
	house_finish(house, id, 60000);
	n = count_events(house, id);
	assert_true(n > 10);
	EXPECT(house, id, { "transcripts[6].text", "All right. Goodbye." },
	       { "transcripts[0].user", "assistant" });
}

static void cannot_start_without_the_store(void **state)
{
	struct house *house = *state;
	const char *id;

	house_sql(house, "CREATE TRIGGER t BEFORE UPDATE ON calls WHEN"
			 " NOT NEW.completed"
			 " BEGIN SELECT RAISE(ABORT, 'no'); END");
	id = house_queue(house, NULL);
	house_finish(house, id, 5000);
	EXPECT(house, id, { "status", "failed" },
	       { "error_message", "The call could not be stored as started." });
	assert_int_equal(house->n_legs, 0);
	house_run(house, 100);
	assert_int_equal(house->n_posts, 1);
}

static void takes_a_call(void **state)
{
	struct house *house = *state;
	struct calls_query query = { .completed = -1,
				     .inbound = 1,
				     .longer_s = -1,
				     .shorter_s = -1,
				     .limit = 10,
				     .org_id = HOUSE_ORG };
	struct call_list list;
	struct far_leg *leg;

	use_talk_of_three_turns(house);
	house_put_number(house, "{'pathway_id':'" HOUSE_PATHWAY "',"
				"'webhook':'https://hook.test/in'}");
	leg = house_dial_in(house, HOUSE_NUMBER);
	house_run(house, 500);
	assert_true(leg->is_up);
	assert_int_equal(
		calls_list(house->service.store, house->arena, &query, &list),
		0);
	assert_int_equal(list.n, 1);
	house_finish(house, list.rows[0].id, 60000);
	EXPECT(house, list.rows[0].id, { "status", "completed" },
	       { "inbound", "true" }, { "from", HOUSE_CALLEE },
	       { "to", HOUSE_NUMBER }, { "call_ended_by", "ASSISTANT" },
	       { "variables.phone_number", HOUSE_CALLEE },
	       { "transcripts[1].text", "yes please" });
	house_run(house, 1000);
	assert_int_equal(house->n_posts, 1);
	assert_true(leg->has_ended);
}

static void greets_on_a_number_without_configuration(void **state)
{
	struct house *house = *state;
	struct far_leg *leg = house_dial_in(house, HOUSE_NUMBER);

	house_run(house, 8000);
	assert_true(leg->has_ended);
	assert_true(leg->voiced > 20);
	assert_non_null(strstr(buffer_str(&house->actor.log),
			       "say Hello. This number is not set up"));
}

/* The row of an incoming call did not reach the store: it does at the end. */
static void stores_an_incoming_call_late(void **state)
{
	struct house *house = *state;
	struct calls_query query = { .completed = 1,
				     .inbound = 1,
				     .longer_s = -1,
				     .shorter_s = -1,
				     .limit = 10,
				     .org_id = HOUSE_ORG };
	struct call_list list;

	house_put_number(house, "{'task':'Talk.',"
				"'webhook':'https://hook.test/in'}");
	house_sql(house, "CREATE TRIGGER t BEFORE INSERT ON calls"
			 " BEGIN SELECT RAISE(ABORT, 'no'); END");
	house->manners.hangs_up_ms = 2000;
	house_dial_in(house, HOUSE_NUMBER);
	house_run(house, 5000);
	house_sql(house, "DROP TRIGGER t");
	house_run(house, 5000);
	assert_int_equal(
		calls_list(house->service.store, house->arena, &query, &list),
		0);
	assert_int_equal(list.n, 1);
	EXPECT(house, list.rows[0].id, { "status", "completed" },
	       { "call_ended_by", "USER" });
	assert_true(count_events(house, list.rows[0].id) >= 2);
	assert_int_equal(house->n_posts, 1);
	assert_int_equal(dispatch_live(house->service.dispatch, NULL), 0);
}

static void refuses_a_number_that_cannot_be_served(void **state)
{
	struct house *house = *state;
	struct far_leg *leg;

	house_put_number(house, "{'pathway_id':'nobody'}");
	leg = house_dial_in(house, HOUSE_NUMBER);
	house_run(house, 1000);
	assert_true(leg->has_ended);
	assert_false(leg->is_up);
	assert_int_equal(dispatch_live(house->service.dispatch, NULL), 0);
}

/* As when the process dies at that moment: nothing leaks, and the next start
 * completes the call. */
static void survives_an_end_at_any_moment(void **state)
{
	static const unsigned moments[] = { 0,	  1,	2,    3,    5,
					    10,	  30,	100,  500,  1500,
					    2500, 4000, 6000, 9000, 10800 };
	struct house *house = *state;
	size_t posts = 0;

	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		const char *id;
		bool was_queued, was_completed;
		size_t n_events;

		use_talk_of_three_turns(house);
		id = house_queue(house, NULL);
		house_run(house, moments[i]);
		house_stop(house);
		was_completed = house_call(house, id).completed;
		was_queued =
			!strcmp(house_call(house, id).queue_status, "queued");
		n_events = count_events(house, id);
		house_start(house);
		house_finish(house, id, 60000);
		house_run(house, 1000);
		assert_int_equal(house->n_posts, ++posts);
		if (was_queued || was_completed)
			continue;
		EXPECT(house, id, { "status", "failed" },
		       { "error_message",
			 "The service was restarted during the call." });
		assert_int_equal(count_events(house, id), n_events);
	}
}

#define CASE(fn)                                                               \
	cmocka_unit_test_setup_teardown(fn, house_setup, house_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(talks_three_turns_and_hangs_up),
		CASE(tells_the_client_what_happens),
		CASE(tells_why_it_was_refused),
		CASE(gives_up_ringing),
		CASE(fails_before_it_dials),
		CASE(fails_where_the_start_is_missing),
		CASE(fails_without_secure_media),
		CASE(ends_when_no_audio_comes),
		CASE(ends_when_the_caller_hangs_up),
		CASE(ends_at_its_longest),
		CASE(is_stopped_at_any_stage),
		CASE(waits_for_a_free_port),
		CASE(records_the_call),
		CASE(links_no_recording_that_failed),
		CASE(takes_keys_for_words),
		CASE(complains_once_a_minute),
		CASE(waits_for_a_store_that_fails_at_the_end),
		CASE(stores_late_what_could_not_be_stored_in_time),
		CASE(cannot_start_without_the_store),
		CASE(takes_a_call),
		CASE(greets_on_a_number_without_configuration),
		CASE(stores_an_incoming_call_late),
		CASE(refuses_a_number_that_cannot_be_served),
		CASE(survives_an_end_at_any_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
