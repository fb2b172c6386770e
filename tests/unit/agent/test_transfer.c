/* SPDX-License-Identifier: MIT */
/* The far end of a call is replaced, and the conversation goes on: REFER from
 * the peer (RFC 3515), INVITE with Replaces (RFC 3891); or the far end is sent
 * elsewhere by a Transfer node (design, "REFER in", "transfer out"). JSON is
 * written with ' for " here. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "core/config.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/message.h"
#include "store/events.h"
#include "store/recordings.h"
#include "store/trunks.h"
#include "tests/unit/agent/fixture_house.h"

#define OTHER	  "+14155550177"
#define OTHER_URI "sip:+14155550177@trunk.test"
#define LONG_TASK                                                              \
	"'task':'This is a long story of many words that goes on and on "      \
	"while "                                                               \
	"the far end does this and that and the other as well.'"

static const char *queue_long(struct house *house, const char *more)
{
	return house_queue(
		house, arena_printf(house->arena, "{%s%s}", LONG_TASK, more));
}

static void expect(struct house *house, const char *id, const char *at,
		   const char *value)
{
	json_t *record = house_record(house, id);
	const char *found = house_at(house, record, at);

	if (strcmp(found, value) != 0)
		fail_msg("%s is \"%s\", wanted \"%s\"", at, found, value);
	json_decref(record);
}

/* "type payload" of the transfer's events, a line each. */
static const char *transfers(struct house *house, const char *id)
{
	struct event_list list = { 0 };
	const char *text = "";

	assert_int_equal(
		events_list(house->service.store, house->arena, id, 0, &list),
		0);
	for (size_t i = 0; i < list.n; i++) {
		if (!strncmp(list.rows[i].type, "transfer_call.", 14))
			text = arena_printf(house->arena, "%s%s %s\n", text,
					    list.rows[i].type + 14,
					    list.rows[i].payload);
	}
	return text;
}

#define INVOKED(to, type)                                                      \
	"invoke {\"target_number\":\"" to "\",\"transfer_type\":\"" type "\"}" \
	"\n"
#define RESULT(status, success)                                                \
	"result {\"status\":\"" status "\",\"success\":" success "}\n"

static void refer(struct house *house, const char *uri)
{
	assert_int_equal(session_refer(house->legs[0].session, uri, NULL), 0);
}

static void stop(struct house *house, const char *id)
{
	dispatch_stop(house->service.dispatch, HOUSE_ORG, id,
		      house_reply(house));
	house_finish(house, id, 1000);
}

/* ---- REFER from the peer ---- */

static void goes_on_with_whom_the_peer_names(void **state)
{
	struct house *house = *state;
	struct far_leg *legs = house->legs;
	const char *id = queue_long(house, ",'webhook':'https://hook.test/x',"
					   "'webhook_events':['call']");

	house_run(house, 1000);
	refer(house, OTHER_URI);
	house_run(house, 1000);
	assert_int_equal(house->n_legs, 2);
	assert_int_equal(legs[0].n_told, 3);
	assert_int_equal(legs[0].told[0], 202);
	assert_int_equal(legs[0].told[1], 100);
	assert_int_equal(legs[0].told[2], 200);
	assert_true(legs[0].is_told_all);
	assert_true(legs[1].is_up);
	assert_non_null(strstr(far_header(house, &legs[1], "To"), OTHER));
	assert_non_null(
		strstr(far_header(house, &legs[1], "From"), HOUSE_NUMBER));
	/* The line under way goes on in the new one's ear. */
	assert_true(legs[1].voiced > 20);
	assert_false(legs[0].has_ended);
	house_run(house, 5000); /* the old one does not leave by itself */
	assert_true(legs[0].has_ended);
	assert_false(legs[1].has_ended);
	house_run(house, 3000);
	expect(house, id, "completed", "false");
	session_hangup(legs[1].session, NULL);
	house_finish(house, id, 1000);
	expect(house, id, "status", "completed");
	expect(house, id, "call_ended_by", "USER");
	expect(house, id, "transferred_to", OTHER);
	expect(house, id, "media[0].codec", "PCMU");
	expect(house, id, "media[1].codec", "PCMU");
	expect(house, id, "media[1].lost", "0");
	expect(house, id, "media[2]", "-");
	expect(house, id, "pre_transfer_duration", "0.02");
	expect(house, id, "transcripts[0].text",
	       "This is a long story of many words that goes on and on while "
	       "the far end does this and that and the other as well.");
	assert_string_equal(transfers(house, id),
			    INVOKED(OTHER, "refer") RESULT("answered", "true"));
	house_run(house, 1000);
	assert_int_equal(house->n_posts, 4);
	assert_non_null(
		strstr(house->posts[1].body, "Call transferred to " OTHER));
	assert_non_null(
		strstr(house->posts[1].body, "\"event\":\"transferred\""));
}

/* A talk that began with one caller is heard out by the next. */
static void hears_the_new_one(void **state)
{
	struct house *house = *state;
	const char *id;
	json_t *record;

	ACTOR_HEARS(&house->actor, { "yes please" });
	id = house_queue(house, NULL);
	house_run(house, 3000);
	refer(house, OTHER_URI);
	house_run(house, 500);
	SAYS(house, 600);
	house->legs[1].has_heard = true;
	house_run(house, 4000);
	stop(house, id);
	record = house_record(house, id);
	assert_string_equal(house_transcript(house, record),
			    "assistant: Hello there, would you like a pizza?\n"
			    "user: yes please\n"
			    "assistant: What size should it be?\n");
	json_decref(record);
	expect(house, id, "latency.turns", "1");
}

static void records_both_in_one_file(void **state)
{
	struct house *house = *state;
	struct recording_row row;
	struct stat st;
	const char *id = queue_long(house, ",'record':true");

	house_run(house, 2000);
	refer(house, OTHER_URI);
	house_run(house, 6000);
	assert_true(house->legs[0].has_ended);
	stop(house, id);
	assert_int_equal(recordings_get(house->service.store, house->arena,
					HOUSE_ORG, id, &row),
			 0);
	assert_true(row.complete);
	assert_in_range(row.duration_ms, 7900, 8060);
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

static void calls_only_where_its_trunk_may(void **state)
{
	static const struct {
		const char *uri, *countries;
		int status;
	} rows[] = {
		{ "tel:+14155550177", "", 100 },
		{ "sip:14155550177@TRUNK.test", "US", 100 },
		{ "sip:+14155550177@trunk.test:5063", "", 100 },
		{ "sip:101@trunk.test", "", 100 },
		{ "sip:*8@trunk.test", "", 100 },
		{ "sip:101@trunk.test", "US", 403 },
		{ "sip:+14155550177@trunk.test:5099", "", 403 },
		{ "sip:+14155550177@elsewhere.test", "", 403 },
		{ "sip:+14155550177@127.0.0.1", "", 403 },
		{ "sip:+4930123456@trunk.test", "US,CA", 403 },
		{ "sip:0114930123456@trunk.test", "", 403 },
		{ "sip:alice@trunk.test", "", 403 },
		{ "sip:trunk.test", "", 403 },
	};
	struct house *house = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t leg = house->n_legs;
		const char *id;

		house_sql(house, arena_printf(house->arena,
					      "UPDATE orgs SET countries = "
					      "'%s'",
					      rows[i].countries));
		id = queue_long(house, "");
		house_run(house, 500);
		assert_int_equal(session_refer(house->legs[leg].session,
					       rows[i].uri, NULL),
				 0);
		house->manners.status = 486; /* that is enough */
		house_run(house, 500);
		house->manners.status = 0;
		if (house->legs[leg].told[rows[i].status == 100] !=
		    rows[i].status)
			fail_msg("%s: %d", rows[i].uri,
				 house->legs[leg].told[0]);
		stop(house, id);
	}
}

static void calls_nowhere_without_a_trunk(void **state)
{
	struct house *house = *state;

	house_put_number(house, "{" LONG_TASK "}");
	house_sql(house, "DELETE FROM trunks WHERE direction = 1");
	house_dial_in(house, HOUSE_NUMBER);
	house_run(house, 500);
	refer(house, OTHER_URI);
	house_run(house, 500);
	assert_int_equal(house->legs[0].told[0], 403);
	assert_false(house->legs[0].has_ended);
}

/* The number that was called is the one that calls on. */
static void sends_on_a_caller_who_called_in(void **state)
{
	struct house *house = *state;

	house_put_number(house, "{" LONG_TASK "}");
	house_put_mapping(house, true,
			  "{'headers':[{'type':'custom','key':'caller_id',"
			  "'value':'X-Caller'},{'type':'custom',"
			  "'key':'call_duration','value':'X-Up'}]}");
	house_dial_in(house, HOUSE_NUMBER);
	house_run(house, 3500);
	refer(house, OTHER_URI);
	house_run(house, 500);
	assert_true(house->legs[1].is_up);
	assert_non_null(strstr(far_header(house, &house->legs[1], "From"),
			       HOUSE_NUMBER));
	assert_string_equal(far_header(house, &house->legs[1], "X-Caller"),
			    HOUSE_CALLEE);
	assert_string_equal(far_header(house, &house->legs[1], "X-Up"), "3");
}

static void goes_on_with_the_old_one_on_failure(void **state)
{
	struct house *house = *state;
	const char *id = queue_long(house, "");

	house_run(house, 500);
	house->manners.status = 486;
	refer(house, OTHER_URI);
	house_run(house, 500);
	assert_int_equal(house->legs[0].n_told, 3);
	assert_int_equal(house->legs[0].told[2], 486);
	assert_string_equal(transfers(house, id),
			    INVOKED(OTHER, "refer") RESULT("busy", "false"));
	house_run(house, 1000);
	assert_false(house->legs[0].has_ended);
	/* And may try again. */
	house->manners.status = 0;
	refer(house, OTHER_URI);
	house_run(house, 500);
	assert_true(house->legs[1].is_up);
	stop(house, id);
	expect(house, id, "status", "completed");
	expect(house, id, "transferred_to", OTHER);
}

/* Many a telephone hangs up as soon as its REFER is taken (RFC 5589). */
static void waits_for_the_new_one_alone(void **state)
{
	struct house *house = *state;
	const char *id = queue_long(house, "");

	house_run(house, 500);
	house->manners.answer_ms = 3000;
	refer(house, OTHER_URI);
	house_run(house, 100);
	session_hangup(house->legs[0].session, NULL);
	house_run(house, 1000);
	assert_true(house->legs[0].has_ended);
	assert_false(house_call(house, id).completed);
	house_run(house, 3000);
	assert_true(house->legs[1].is_up);
	assert_false(house_call(house, id).completed);
	stop(house, id);
	assert_true(house->legs[1].has_ended);
	expect(house, id, "status", "completed");
	expect(house, id, "call_ended_by", "ASSISTANT");
}

static void ends_when_both_are_gone(void **state)
{
	struct house *house = *state;
	const char *id = queue_long(house, "");

	house_run(house, 500);
	house->manners.is_silent = true;
	refer(house, OTHER_URI);
	house_run(house, 100);
	session_hangup(house->legs[0].session, NULL);
	house_run(house, 1000);
	session_refuse(house->legs[1].session, 480);
	session_close(&house->legs[1].session);
	house_finish(house, id, 1000);
	expect(house, id, "status", "completed");
	expect(house, id, "call_ended_by", "USER");
	expect(house, id, "transferred_to", "");
}

/* Also when the leg that could be hung up is gone. */
static void is_stopped_while_it_waits(void **state)
{
	struct house *house = *state;

	for (unsigned i = 0; i < 2; i++) {
		struct far_leg *leg = &house->legs[house->n_legs];
		const char *id = queue_long(house, "");

		house->manners.is_silent = false;
		house_run(house, 500);
		house->manners.is_silent = true;
		assert_int_equal(session_refer(leg->session, OTHER_URI, NULL),
				 0);
		house_run(house, 100);
		if (i)
			session_hangup(leg->session, NULL);
		house_run(house, 100);
		stop(house, id);
		house_run(house, 100);
		assert_true(leg[0].has_ended);
		assert_true(leg[1].has_ended);
		expect(house, id, "status", "completed");
		assert_string_equal(transfers(house, id),
				    INVOKED(OTHER, "refer")
					    RESULT("canceled", "false"));
	}
}

static void is_transferred_again_and_again(void **state)
{
	struct house *house = *state;
	const char *id = queue_long(house, "");

	house_run(house, 500);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(
			session_refer(house->legs[i].session, OTHER_URI, NULL),
			0);
		house_run(house, 500);
		assert_true(house->legs[i + 1].is_up);
	}
	house_run(house, 100);
	for (unsigned i = 0; i < 3; i++)
		assert_true(house->legs[i].has_ended);
	stop(house, id);
	expect(house, id, "media[4].codec", "PCMU");
}

/* A peer that asks without end leaves no events without end. */
static void is_not_asked_for_ever(void **state)
{
	struct house *house = *state;
	struct far_leg *leg = &house->legs[0];
	const char *id = queue_long(house, "");

	house_run(house, 500);
	house->manners.status = 486;
	for (unsigned i = 0; i < 33; i++) {
		leg->n_told = 0;
		refer(house, OTHER_URI);
		house_run(house, 40);
		assert_true(leg->is_told_all);
		assert_int_equal(leg->told[leg->n_told - 1],
				 i < 32 ? 486 : 603);
	}
	stop(house, id);
}

/* ---- INVITE with Replaces ---- */

static struct far_leg *take_over(struct house *house, const char *to,
				 const struct far_leg *leg)
{
	struct session_call call = { .to_number = to,
				     .from_number = OTHER,
				     .replaces = house_replaces(house, leg) };
	struct far_leg *next = house_dial_with(house, &call);

	house_run(house, 1000);
	return next;
}

static void is_taken_over(void **state)
{
	static const char *const numbers[] = { HOUSE_NUMBER, "somebody" };
	struct house *house = *state;

	for (unsigned i = 0; i < 2; i++) {
		struct far_leg *old = &house->legs[house->n_legs], *next;
		const char *id = queue_long(house, "");

		house_run(house, 500);
		next = take_over(house, numbers[i], old);
		assert_true(next->is_up);
		assert_true(next->voiced > 20);
		assert_true(old->has_ended);
		assert_int_equal(
			dispatch_live(house->service.dispatch, HOUSE_ORG), 1);
		assert_false(house_call(house, id).completed);
		stop(house, id);
		assert_true(next->has_ended);
		expect(house, id, "status", "completed");
		expect(house, id, "transferred_to", OTHER);
		assert_string_equal(transfers(house, id),
				    INVOKED(OTHER, "replaces")
					    RESULT("answered", "true"));
	}
}

static void is_taken_over_when_it_rings(void **state)
{
	struct house *house = *state;
	struct far_leg *next;
	const char *id;

	house->manners.is_silent = true;
	id = queue_long(house, "");
	house_run(house, 500);
	assert_false(house->legs[0].is_up);
	next = take_over(house, HOUSE_NUMBER, &house->legs[0]);
	assert_true(next->is_up);
	assert_true(house->legs[0].has_ended);
	assert_true(next->voiced > 10);
	stop(house, id);
	expect(house, id, "status", "completed");
	expect(house, id, "media[1]", "-");
}

static void put_number_of_another(struct house *house)
{
	struct trunk_row row = {
		.id = "0b9f1c3e-0000-4000-8000-0000000000bb",
		.org_id = "0b9f1c3e-0000-4000-8000-000000000002",
		.number = "+14155550111",
		.direction = TRUNK_INBOUND,
	};

	trunks_put(house->service.store, &row, house_reply(house));
	house_run(house, 0);
	assert_int_equal(house->reply_err, 0);
}

static void is_taken_over_by_its_own_alone(void **state)
{
	struct house *house = *state;
	const char *id = queue_long(house, "");
	struct far_leg *next;

	put_number_of_another(house);
	house_run(house, 500);
	/* Over another organisation's number. */
	next = take_over(house, "+14155550111", &house->legs[0]);
	assert_false(next->is_up);
	assert_true(next->has_ended);
	/* From where its own number takes no calls. */
	house_put_trunk(house, false, NULL, "{\"allowed_ips\":[\"10.0.0.1\"]}");
	next = take_over(house, HOUSE_NUMBER, &house->legs[0]);
	assert_true(next->has_ended);
	next = take_over(house, "somebody", &house->legs[0]);
	assert_true(next->has_ended);
	/* Where nobody calls in at all. */
	house_sql(house, "DELETE FROM trunks WHERE direction = 0");
	next = take_over(house, HOUSE_NUMBER, &house->legs[0]);
	assert_true(next->has_ended);
	assert_false(house->legs[0].has_ended);
	assert_string_equal(transfers(house, id), "");
}

/* ---- Transfer nodes ---- */

static const char pathway_nodes[] =
	"[{\"id\":\"a\",\"type\":\"Transfer Call\",\"data\":{\"name\":\"T\","
	"\"isStart\":true,\"text\":\"I connect you.\"%s}}%s]";

static const char *queue_node(struct house *house, const char *data,
			      bool has_edge, const char *more)
{
	const char *second = ",{\"id\":\"b\",\"type\":\"End Call\",\"data\":{"
			     "\"text\":\"Bye.\"}}";
	const char *edge = "{\"id\":\"1\",\"source\":\"a\",\"target\":\"b\","
			   "\"label\":\"done\"}";
	const char *nodes = arena_printf(house->arena, pathway_nodes, data,
					 has_edge ? second : "");

	house_sql(house,
		  arena_printf(house->arena,
			       "UPDATE pathway_versions SET nodes = '%s',"
			       " edges = '[%s]'",
			       nodes, has_edge ? edge : ""));
	return house_queue(house,
			   arena_printf(house->arena,
					"{'pathway_id':'" HOUSE_PATHWAY "'%s}",
					more));
}

static void sends_the_far_end_away(void **state)
{
	static const struct {
		const char *data, *settings;
	} rows[] = {
		{ ",\"transferNumber\":\"+14155550177\"", "" },
		{ ",\"transferNumber\":\"{{desk}}\"",
		  ",'request_data':{'desk':'(415) 555-0177'}" },
		{ ",\"transferNumber\":\"sales\"",
		  ",'transfer_list':{'sales':'+14155550177'}" },
		{ "", ",'transfer_list':{'default':'+14155550177'}" },
		{ "", ",'transfer_phone_number':'+14155550177'" },
		{ ",\"warmTransferFields\":{\"isEnabled\":false}",
		  ",'transfer_phone_number':'+14155550177'" },
	};
	struct house *house = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct far_leg *leg = &house->legs[house->n_legs];
		const char *id;

		house->manners.refer_final = 200;
		id = queue_node(house, rows[i].data, false, rows[i].settings);
		house_finish(house, id, 10000);
		assert_string_equal(leg->refer_to, OTHER);
		assert_true(leg->has_ended);
		expect(house, id, "status", "completed");
		expect(house, id, "call_ended_by", "ASSISTANT");
		expect(house, id, "transferred_to", OTHER);
		expect(house, id, "transcripts[0].text", "I connect you.");
		expect(house, id, "transcripts[1]", "-");
		assert_string_equal(transfers(house, id),
				    INVOKED(OTHER, "refer")
					    RESULT("answered", "true"));
	}
}

static void comes_back_when_nobody_is_there(void **state)
{
	static const struct {
		int status, final;
		const char *number, *result;
	} rows[] = {
		{ 0, 486, "+14155550177",
		  INVOKED(OTHER, "refer") RESULT("486", "false") },
		{ 603, 0, "+14155550177",
		  INVOKED(OTHER, "refer") RESULT("603", "false") },
		{ 0, 200, "nobody",
		  INVOKED("nobody", "refer") RESULT("refused", "false") },
		{ 0, 200, "", "" },
	};
	struct house *house = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *id;

		house->manners.refer_status = rows[i].status;
		house->manners.refer_final = rows[i].final;
		id = queue_node(house,
				arena_printf(house->arena,
					     ",\"transferNumber\":\"%s\"",
					     rows[i].number),
				false, "");
		house_finish(house, id, 15000);
		expect(house, id, "status", "completed");
		expect(house, id, "transferred_to", "");
		expect(house, id, "transcripts[1].text",
		       "I am sorry, I could not transfer you. Goodbye.");
		assert_string_equal(transfers(house, id), rows[i].result);
	}
}

static void talks_on_where_the_node_leads(void **state)
{
	struct house *house = *state;
	const char *id;

	house->manners.refer_status = 486;
	SAYS(house, 300, 300);
	ACTOR_HEARS(&house->actor, { "hm" }, { "done" });
	house->manners.patience_ms = 4000;
	id = queue_node(house, ",\"transferNumber\":\"+14155550177\"", true,
			"");
	house_finish(house, id, 40000);
	expect(house, id, "transcripts[1].text",
	       "I am sorry, I could not transfer you. How else can I help "
	       "you?");
}

/* The far end that took the REFER may hang up before it tells more. */
static void is_left_by_whom_it_sent_away(void **state)
{
	struct house *house = *state;
	const char *id = queue_node(
		house, ",\"transferNumber\":\"+14155550177\"", false, "");

	house_run(house, 4000);
	assert_string_equal(house->legs[0].refer_to, OTHER);
	session_hangup(house->legs[0].session, NULL);
	house_finish(house, id, 1000);
	expect(house, id, "status", "completed");
	expect(house, id, "transferred_to", OTHER);
	assert_string_equal(transfers(house, id),
			    INVOKED(OTHER, "refer") RESULT("left", "true"));
}

/* ---- at any moment ---- */

static void survives_an_end_at_any_moment(void **state)
{
	struct house *house = *state;

	house_put_number(house, "{" LONG_TASK "}");
	for (unsigned ms = 0; ms < 60; ms += 4) {
		queue_long(house, ",'record':true");
		house->manners.answer_ms = 20;
		house_run(house, 500);
		refer(house, OTHER_URI);
		house_run(house, ms);
		house_stop(house);
		for (size_t i = 0; i < house->n_legs; i++) {
			session_close(&house->legs[i].session);
			stream_close(&house->legs[i].stream);
			timer_close(&house->legs[i].timer);
			buffer_reset(&house->legs[i].sdp);
			if (house->legs[i].invite)
				sip_message_unref(&house->legs[i].invite);
			house->legs[i] = (struct far_leg){ 0 };
		}
		house->n_legs = 0;
		house_start(house);
		house_run(house, 0);
	}
}

#define CASE(fn)                                                               \
	cmocka_unit_test_setup_teardown(fn, house_setup, house_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(goes_on_with_whom_the_peer_names),
		CASE(hears_the_new_one),
		CASE(records_both_in_one_file),
		CASE(calls_only_where_its_trunk_may),
		CASE(calls_nowhere_without_a_trunk),
		CASE(sends_on_a_caller_who_called_in),
		CASE(goes_on_with_the_old_one_on_failure),
		CASE(waits_for_the_new_one_alone),
		CASE(ends_when_both_are_gone),
		CASE(is_stopped_while_it_waits),
		CASE(is_transferred_again_and_again),
		CASE(is_not_asked_for_ever),
		CASE(is_taken_over),
		CASE(is_taken_over_when_it_rings),
		CASE(is_taken_over_by_its_own_alone),
		CASE(sends_the_far_end_away),
		CASE(comes_back_when_nobody_is_there),
		CASE(talks_on_where_the_node_leads),
		CASE(is_left_by_whom_it_sent_away),
		CASE(survives_an_end_at_any_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
