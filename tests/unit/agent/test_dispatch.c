/* SPDX-License-Identifier: MIT */
/* Who is dialled when: in order, exactly as many as the plan allows, also in a
 * burst and with incoming calls; stop, drain, restart (decisions, "Calls":
 * concurrency). */
#include <errno.h>
#include <string.h>
#include "core/json.h"
#include "core/mem.h"
#include "tests/unit/agent/fixture_house.h"

static unsigned live(const struct house *house)
{
	return dispatch_live(house->service.dispatch, HOUSE_ORG);
}

static struct dispatch_stats stats_of(const struct house *house)
{
	struct dispatch_stats stats;

	dispatch_stats(house->service.dispatch, &stats);
	return stats;
}

static void holds_the_limit_in_a_burst(void **state)
{
	struct house *house = *state;
	const char *id[9];
	unsigned most = 0;

	house_put_org(house, 3);
	house->manners.hangs_up_ms = 1000;
	for (size_t i = 0; i < 9; i++)
		id[i] = house_queue(house, "{'task':'Talk.'}");
	for (unsigned ms = 0; ms < 20000; ms += 5) {
		house_run(house, 5);
		assert_true(live(house) <= 3);
		most = live(house) > most ? live(house) : most;
	}
	assert_int_equal(most, 3);
	for (size_t i = 0; i < 9; i++)
		assert_true(house_call(house, id[i]).completed);
	for (size_t i = 3; i < 9; i++) /* first come, first served */
		assert_true(house_call(house, id[i]).times.started_ms >=
			    house_call(house, id[i - 1]).times.started_ms);
	assert_int_equal(stats_of(house).started, 9);
	assert_int_equal(stats_of(house).completed, 9);
	assert_int_equal(stats_of(house).live, 0);
}

static void fills_the_house_and_no_more(void **state)
{
	struct house *house = *state;

	house_put_org(house, 100);
	house->manners.is_silent = true;
	for (size_t i = 0; i < 14; i++)
		house_queue(house, NULL);
	house_run(house, 1000);
	assert_int_equal(live(house), 12); /* agent.max_calls */
	house_run(house, 25000);
	assert_int_equal(live(house), 2);
}

static void waits_for_the_start_time(void **state)
{
	struct house *house = *state;
	const char *id = house_queue(house, NULL);

	house_sql(house, "UPDATE calls SET start_at_ms = created_ms + 60000");
	house_run(house, 59900);
	assert_string_equal(house_call(house, id).queue_status, "queued");
	house_run(house, 200);
	assert_string_equal(house_call(house, id).queue_status, "started");
}

static void counts_incoming_calls(void **state)
{
	struct house *house = *state;
	struct far_leg *third;
	const char *id;

	house_put_org(house, 2);
	house_put_number(house, "{'task':'Talk.'}");
	house_dial_in(house, HOUSE_NUMBER);
	house_dial_in(house, HOUSE_NUMBER);
	house_run(house, 500);
	id = house_queue(house, NULL);
	third = house_dial_in(house, HOUSE_NUMBER);
	house_run(house, 500);
	assert_int_equal(live(house), 2);
	assert_string_equal(house_call(house, id).queue_status, "queued");
	assert_true(third->has_ended);
	assert_false(third->is_up);
	session_hangup(house->legs[0].session, NULL);
	session_hangup(house->legs[1].session, NULL);
	house_run(house, 500);
	assert_string_equal(house_call(house, id).queue_status, "started");
}

static void knows_the_variables_of_a_live_call(void **state)
{
	struct house *house = *state;
	const struct dispatch *dispatch = house->service.dispatch;
	const char *id = house_queue(house, "{'task':'Talk.',"
					    "'request_data':{'name':'Ann'}}");

	assert_null(dispatch_variables(dispatch, id));
	house_run(house, 1000);
	assert_string_equal(json_str(dispatch_variables(dispatch, id), "name"),
			    "Ann");
	dispatch_stop(house->service.dispatch, HOUSE_ORG, id,
		      house_reply(house));
	house_finish(house, id, 5000);
	house_run(house, 0);
	assert_null(dispatch_variables(dispatch, id));
}

static void counts_turns_by_latency(void **state)
{
	struct house *house = *state;
	const char *id;

	ACTOR_HEARS(&house->actor, { "yes please" }, { "a large one" },
		    { "yes", "yes", 400 });
	SAYS(house, 600, 800, 400);
	id = house_queue(house, NULL);
	house_finish(house, id, 60000);
	house_run(house, 0);
	assert_int_equal(stats_of(house).turns, 3);
	assert_int_equal(stats_of(house).turn_bucket[3], 2); /* to 700 ms */
	assert_int_equal(stats_of(house).turn_bucket[2], 1); /* after "yes" */
	assert_true(stats_of(house).turn_ms_total > 1000);
	assert_int_equal(stats_of(house).failed, 0);
}

static void stops_a_call_that_waits(void **state)
{
	struct house *house = *state;
	struct dispatch *dispatch = house->service.dispatch;
	const char *id;
	json_t *record;

	house_put_org(house, 0);
	id = house_queue(house, NULL);
	house_run(house, 100);
	house->replies = 0;
	/* Twice at once: both wait for the same end. */
	dispatch_stop(dispatch, HOUSE_ORG, id, house_reply(house));
	dispatch_stop(dispatch, HOUSE_ORG, id, house_reply(house));
	assert_int_equal(house->replies, 0);
	house_run(house, 0);
	assert_int_equal(house->replies, 2);
	assert_int_equal(house->reply_err, 0);
	record = house_record(house, id);
	assert_string_equal(house_at(house, record, "status"), "canceled");
	assert_string_equal(house_at(house, record, "error_message"),
			    "The call was stopped before it was dialed.");
	json_decref(record);
	house_put_org(house, 10);
	dispatch_wake(dispatch);
	house_run(house, 1000);
	assert_int_equal(house->n_legs, 0);
	assert_int_equal(house->n_posts, 1);
	/* Once more: it had ended, which is fine. */
	dispatch_stop(dispatch, HOUSE_ORG, id, house_reply(house));
	assert_int_equal(house->replies, 3); /* of house_put_org() */
	house_run(house, 0);
	assert_int_equal(house->replies, 4);
	assert_int_equal(house->reply_err, 0);
}

static void stops_nothing_of_others(void **state)
{
	struct house *house = *state;
	struct dispatch *dispatch = house->service.dispatch;
	const char *id = house_queue(house, NULL);

	house_run(house, 500);
	dispatch_stop(dispatch, "another", id, house_reply(house));
	house_run(house, 0);
	assert_int_equal(house->reply_err, -ENOENT);
	dispatch_stop(dispatch, HOUSE_ORG, "nobody", house_reply(house));
	house_run(house, 0);
	assert_int_equal(house->reply_err, -ENOENT);
	assert_int_equal(live(house), 1);
}

static void on_stopped(void *owner, int err)
{
	unsigned *counts = owner; /* told, of them busy */

	counts[0]++;
	counts[1] += err == -EBUSY;
}

static void bounds_those_who_wait(void **state)
{
	struct house *house = *state;
	const char *id = house_queue(house, NULL);
	unsigned counts[2] = { 0 };

	house_run(house, 500);
	for (unsigned i = 0; i < 10; i++)
		dispatch_stop(house->service.dispatch, HOUSE_ORG, id,
			      (struct store_reply){ on_stopped, counts });
	assert_int_equal(counts[0], 0);
	house_finish(house, id, 1000);
	house_run(house, 0);
	assert_int_equal(counts[0], 10);
	assert_int_equal(counts[1], 2);
}

/* The store fails: the call stays queued and whoever asked is told. */
static void tells_that_a_stop_was_not_stored(void **state)
{
	struct house *house = *state;
	struct dispatch *dispatch = house->service.dispatch;
	const char *id;

	house_put_org(house, 0);
	id = house_queue(house, NULL);
	house_sql(house, "CREATE TRIGGER t BEFORE UPDATE ON calls"
			 " BEGIN SELECT RAISE(ABORT, 'no'); END");
	dispatch_stop(dispatch, HOUSE_ORG, id, house_reply(house));
	house_run(house, 0);
	assert_int_not_equal(house->reply_err, 0);
	house_sql(house, "DROP TRIGGER t");
	dispatch_stop(dispatch, HOUSE_ORG, id, house_reply(house));
	house_run(house, 0);
	assert_int_equal(house->reply_err, 0);
	assert_true(house_call(house, id).completed);
}

static void on_idle(void *owner)
{
	(*(unsigned *)owner)++;
}

static void drains_until_the_last_call_ends(void **state)
{
	struct house *house = *state;
	struct far_leg *late;
	const char *id[2];
	unsigned idle = 0;

	id[0] = house_queue(house, "{'task':'Talk.'}");
	house->manners.hangs_up_ms = 3000;
	house_run(house, 500);
	dispatch_drain(house->service.dispatch, 10000, on_idle, &idle);
	id[1] = house_queue(house, "{'task':'Talk.'}");
	late = house_dial_in(house, HOUSE_NUMBER);
	house_run(house, 1000);
	assert_true(late->has_ended); /* 503 */
	assert_string_equal(house_call(house, id[1]).queue_status, "queued");
	assert_int_equal(idle, 0);
	house_finish(house, id[0], 5000);
	house_run(house, 0);
	assert_int_equal(idle, 1);
	house_run(house, 20000);
	assert_int_equal(idle, 1);
	/* The next start dials what was left. */
	house_stop(house);
	house_start(house);
	house_finish(house, id[1], 10000);
}

static void hangs_up_after_the_deadline(void **state)
{
	struct house *house = *state;
	unsigned idle = 0;
	const char *id[2];
	json_t *record;

	id[0] = house_queue(house, NULL);
	house_run(house, 500);
	house->manners.is_silent = true;
	id[1] = house_queue(house, NULL);
	house_run(house, 500);
	dispatch_drain(house->service.dispatch, 2000, on_idle, &idle);
	house_run(house, 1900);
	assert_int_equal(live(house), 2);
	house_run(house, 400);
	assert_int_equal(idle, 1);
	assert_int_equal(live(house), 0);
	record = house_record(house, id[0]);
	assert_string_equal(house_at(house, record, "status"), "completed");
	json_decref(record);
	record = house_record(house, id[1]);
	assert_string_equal(house_at(house, record, "status"), "canceled");
	assert_string_equal(house_at(house, record, "error_message"),
			    "The service was shut down.");
	json_decref(record);
	assert_string_equal(house->legs[0].reason,
			    "SIP;cause=503;text=\"The service was shut "
			    "down.\"");
	assert_string_equal(house->legs[1].reason, house->legs[0].reason);
}

static void is_idle_at_once_without_calls(void **state)
{
	struct house *house = *state;
	unsigned idle = 0;

	dispatch_drain(house->service.dispatch, 10000, on_idle, &idle);
	assert_int_equal(idle, 0);
	house_run(house, 0);
	assert_int_equal(idle, 1);
}

static void close_now(struct house *house)
{
	dispatch_close(&house->service.dispatch);
	house_start(house);
}

/* Replies of the store that come after the end find nobody, and nothing
 * leaks. */
static void closes_while_the_store_writes(void **state)
{
	struct house *house = *state;
	const char *id;

	house_put_org(house, 0);
	id = house_queue(house, NULL);
	house_run(house, 0);
	dispatch_stop(house->service.dispatch, HOUSE_ORG, id,
		      house_reply(house));
	dispatch_stop(house->service.dispatch, HOUSE_ORG, "nobody",
		      house_reply(house));
	house->replies = 0;
	webhook_close(&house->service.webhook);
	ua_close(&house->service.ua);
	media_close(&house->service.media);
	close_now(house);
	house_run(house, 0);
	assert_int_equal(house->replies, 0);
	assert_true(house_call(house, id).completed);
}

static void completes_what_a_crash_interrupted(void **state)
{
	struct house *house = *state;
	const char *queued, *started;
	json_t *record;

	house_put_org(house, 0);
	started = house_queue(house, NULL);
	queued = house_queue(house, NULL);
	house_run(house, 0);
	house_sql(house,
		  arena_printf(house->arena,
			       "UPDATE calls SET queue_status = 'started',"
			       " started_ms = created_ms,"
			       " answered_ms = created_ms WHERE id = '%s';"
			       "INSERT INTO events VALUES('%s', 1,"
			       " 'transcript.assistant', 'a', 0,"
			       " '{\"text\":\"Hello\"}', 1767312000000)",
			       started, started));
	house_stop(house);
	house_start(house);
	house_run(house, 100);
	record = house_record(house, started);
	assert_string_equal(house_at(house, record, "status"), "failed");
	assert_string_equal(house_at(house, record, "queue_status"),
			    "call_error");
	assert_string_equal(house_at(house, record, "error_message"),
			    "The service was restarted during the call.");
	assert_string_equal(house_transcript(house, record),
			    "assistant: Hello\n");
	json_decref(record);
	assert_int_equal(house->n_posts, 1);
	assert_string_equal(house_call(house, queued).queue_status, "queued");
}

#define CASE(fn)                                                               \
	cmocka_unit_test_setup_teardown(fn, house_setup, house_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(holds_the_limit_in_a_burst),
		CASE(fills_the_house_and_no_more),
		CASE(waits_for_the_start_time),
		CASE(counts_incoming_calls),
		CASE(knows_the_variables_of_a_live_call),
		CASE(counts_turns_by_latency),
		CASE(stops_a_call_that_waits),
		CASE(stops_nothing_of_others),
		CASE(bounds_those_who_wait),
		CASE(tells_that_a_stop_was_not_stored),
		CASE(drains_until_the_last_call_ends),
		CASE(hangs_up_after_the_deadline),
		CASE(is_idle_at_once_without_calls),
		CASE(closes_while_the_store_writes),
		CASE(completes_what_a_crash_interrupted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
