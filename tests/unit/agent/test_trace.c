/* SPDX-License-Identifier: MIT */
/* A call's SIP messages: every one of them, in order, without secrets, stored
 * within a second and with the call's end; limits; refused calls leave none;
 * deleted when their time is over; sip.trace_days 0 keeps none. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "agent/call/trace.h"
#include "core/config.h"
#include "core/mem.h"
#include "sip/redact.h"
#include "store/traces.h"
#include "tests/unit/agent/fixture_house.h"

enum { HOUR_MS = 3600 * 1000, DAY_MS = 24 * HOUR_MS };

static int setup(void **state)
{
	int err = house_setup(state);
	struct house *house = *state;

	call_traces_open(&house->service.traces, &house->service);
	return err;
}

static void stop(struct house *house)
{
	house_stop(house);
	call_traces_close(&house->service.traces);
}

static int teardown(void **state)
{
	struct house *house = *state;

	if (house->service.dispatch)
		stop(house);
	call_traces_close(&house->service.traces);
	return house_teardown(state);
}

static struct trace trace_of(struct house *house, const char *id)
{
	struct trace trace;
	int err = traces_get(house->service.store, house->arena, id, &trace);

	assert_true(!err || err == -ENOENT);
	return trace;
}

/* ">INVITE <100 ..." */
static const char *ladder(struct house *house, const struct trace *trace)
{
	const char *out = "";

	for (size_t i = 0; i < trace->n; i++) {
		const struct trace_line *line = &trace->lines[i];
		struct sip_glance glance;

		sip_glance(&glance, slice_of(line->text));
		out = glance.status
			      ? arena_printf(house->arena, "%s%c%d ", out,
					     line->is_out ? '>' : '<',
					     glance.status)
			      : arena_printf(house->arena, "%s%c%.*s ", out,
					     line->is_out ? '>' : '<',
					     (int)glance.method.len,
					     glance.method.ptr);
	}
	return out;
}

static void expect_ladder(struct house *house, const char *id,
			  const char *wanted)
{
	struct trace trace = trace_of(house, id);

	assert_string_equal(ladder(house, &trace), wanted);
}

static const char *newest_call(struct house *house)
{
	struct calls_query query = { .org_id = HOUSE_ORG,
				     .completed = -1,
				     .inbound = 1,
				     .longer_s = -1,
				     .shorter_s = -1,
				     .limit = 10,
				     .descending = true };
	struct call_list list;

	assert_int_equal(
		calls_list(house->service.store, house->arena, &query, &list),
		0);
	return list.n ? list.rows[0].id : NULL;
}

static void expect_no_secrets(const struct trace *trace)
{
	size_t n_sdp = 0;

	for (size_t i = 0; i < trace->n; i++) {
		const char *text = trace->lines[i].text;
		const char *at = text;

		n_sdp += strstr(text, "\r\na=crypto:") != NULL;
		while ((at = strstr(at, "inline:"))) {
			assert_memory_equal(at, "inline:...removed\r", 18);
			at++;
		}
	}
	assert_int_equal(n_sdp, 2);
}

static void hears_an_outgoing_call(void **state)
{
	struct house *house = *state;
	struct trace trace;
	const char *id;

	house->manners.hangs_up_ms = 5000;
	id = house_queue(house, NULL);
	house_run(house, 900);
	expect_ladder(house, id, ""); /* heard, and not stored yet */
	house_run(house, 2000);
	trace = trace_of(house, id);
	assert_string_equal(ladder(house, &trace),
			    ">INVITE <100 <180 <200 >ACK ");
	assert_false(trace.is_complete);
	expect_no_secrets(&trace);
	assert_int_equal(trace.lines[0].leg, 1);
	assert_string_equal(trace.lines[0].peer, "127.0.0.1:5063");
	assert_true(trace.lines[4].at_ms >= trace.lines[0].at_ms);
	house_finish(house, id, 60000);
	expect_ladder(house, id, ">INVITE <100 <180 <200 >ACK <BYE >200 ");
	house_run(house, 33 * 1000);
	assert_true(trace_of(house, id).is_complete);
}

static void hears_the_answer_to_its_bye(void **state)
{
	struct house *house = *state;
	const char *id = house_queue(house, NULL);

	house_run(house, 40 * 1000);
	dispatch_stop(house->service.dispatch, HOUSE_ORG, id,
		      house_reply(house));
	house_finish(house, id, 5000);
	house_run(house, 10);
	expect_ladder(house, id, ">INVITE <100 <180 <200 >ACK >BYE <200 ");
	assert_true(trace_of(house, id).is_complete);
}

static void hears_an_incoming_call_from_its_start(void **state)
{
	struct house *house = *state;
	const char *id;

	house_put_number(house, "{'task':'Talk.'}");
	house_dial_in(house, HOUSE_NUMBER);
	house_run(house, 3000);
	id = newest_call(house);
	assert_non_null(id);
	expect_ladder(house, id, "<INVITE >100 >180 >200 <ACK ");
}

static void hears_each_leg(void **state)
{
	struct house *house = *state;
	struct trace trace;
	size_t seconds = 0;
	const char *id;

	house->manners.hangs_up_ms = 60 * 1000;
	id = house_queue(house, NULL);
	house_run(house, 3000);
	assert_int_equal(session_refer(house->legs[0].session,
				       "sip:+14155550177@trunk.test", NULL),
			 0);
	house_run(house, 3000);
	trace = trace_of(house, id);
	for (size_t i = 0; i < trace.n; i++) {
		struct sip_glance glance;

		sip_glance(&glance, slice_of(trace.lines[i].text));
		assert_in_range(trace.lines[i].leg, 1, 2);
		seconds += trace.lines[i].leg == 2;
		if (slice_eq(glance.method, SLICE("REFER")))
			assert_int_equal(trace.lines[i].leg, 1);
	}
	assert_true(seconds >= 5);
}

/* It was no call of the organisation: nothing to look at it with. */
static void a_refused_call_leaves_nothing(void **state)
{
	struct house *house = *state;

	house_put_number(house, "{'pathway_id':'nobody'}");
	house_dial_in(house, HOUSE_NUMBER);
	house_run(house, 3000);
	assert_true(house->legs[0].has_ended);
	assert_null(newest_call(house));
	stop(house);
	assert_int_equal(traces_first_ms(house->service.store), 0);
}

static void has_limits(void **state)
{
	struct house *house = *state;
	struct far_leg *far = &house->legs[0];
	struct trace trace;
	const char *id = house_queue(house, NULL);

	house_run(house, 1000);
	for (unsigned i = 0; i < 200; i++) {
		assert_int_equal(
			session_offer(far->session, buffer_slice(&far->sdp)),
			0);
		house_run(house, 60);
	}
	session_hangup(far->session, NULL);
	house_finish(house, id, 5000);
	house_run(house, 33 * 1000);
	trace = trace_of(house, id);
	assert_in_range(trace.n, 300, 500);
	assert_true(trace.dropped > 3);
	assert_false(trace.is_complete);
}

/* Messages are no reason for a call to fail. */
static void a_store_that_refuses_them_breaks_no_call(void **state)
{
	struct house *house = *state;
	const char *id;

	house_sql(house, "CREATE TRIGGER no BEFORE INSERT ON sip_traces"
			 " BEGIN SELECT RAISE(ABORT, 'no'); END");
	house->manners.hangs_up_ms = 5000;
	id = house_queue(house, NULL);
	house_finish(house, id, 60000);
	assert_string_equal(house_call(house, id).status, "completed");
	house_run(house, 33 * 1000);
	assert_false(trace_of(house, id).is_complete);
}

static void a_stop_of_the_service_keeps_what_was_heard(void **state)
{
	struct house *house = *state;
	const char *id = house_queue(house, NULL);

	house_run(house, 900);
	dispatch_close(&house->service.dispatch);
	call_traces_close(&house->service.traces);
	expect_ladder(house, id, ">INVITE <100 <180 <200 >ACK >BYE ");
	assert_false(trace_of(house, id).is_complete);
	house_stop(house);
}

/* ---- age ---- */

static struct config *config_of(struct house *house, const char *days)
{
	char *env[] = { arena_printf(house->arena, "PARLEY_SIP_TRACE_DAYS=%s",
				     days),
			NULL };
	struct config *config;
	struct buffer why;

	buffer_init(&why, 512);
	assert_int_equal(config_open(&config, NULL, env, &why), 0);
	buffer_reset(&why);
	return config;
}

static void put_trace(struct house *house, const char *id, int64_t written_ms)
{
	static const struct trace_line line = { 0, true, 1, "p", "t" };
	struct trace_batch batch = {
		.call_id = id, .written_ms = written_ms, .lines = &line, .n = 1
	};

	traces_append(house->service.store, &batch, house_reply(house));
}

static void is_deleted_when_its_time_is_over(void **state)
{
	struct house *house = *state;
	int64_t now_ms = loop_wall_ms(house->service.loop);
	char id[32];

	stop(house);
	for (int i = 0; i < 600; i++) { /* more than are deleted at once */
		snprintf(id, sizeof(id), "old-%d", i);
		put_trace(house, id, now_ms - 8 * (int64_t)DAY_MS + i);
	}
	put_trace(house, "young", now_ms);
	call_traces_open(&house->service.traces, &house->service);
	house_run(house, 59 * 1000);
	assert_int_equal(trace_of(house, "old-0").n, 1);
	house_run(house, 10 * 1000);
	assert_int_equal(trace_of(house, "old-599").n, 0);
	assert_int_equal(trace_of(house, "young").n, 1);
	house_run(house, 7 * (int64_t)DAY_MS - HOUR_MS);
	assert_int_equal(trace_of(house, "young").n, 1);
	house_run(house, 2 * HOUR_MS);
	assert_int_equal(trace_of(house, "young").n, 0);
}

static void no_days_keep_nothing(void **state)
{
	struct house *house = *state;
	const struct config *preset = house->service.config;
	struct config *none = config_of(house, "0");
	const char *id;

	put_trace(house, "before", loop_wall_ms(house->service.loop));
	call_traces_close(&house->service.traces);
	house->service.config = none;
	call_traces_open(&house->service.traces, &house->service);
	house->service.config = preset;
	house->manners.hangs_up_ms = 2000;
	id = house_queue(house, NULL);
	house_finish(house, id, 30000);
	house_run(house, 2000);
	assert_int_equal(trace_of(house, id).n, 0);
	assert_int_equal(trace_of(house, "before").n, 1); /* for a minute */
	house_run(house, 61 * 1000);
	assert_int_equal(trace_of(house, id).n, 0);
	assert_int_equal(traces_first_ms(house->service.store), 0);
	stop(house);
	config_close(&none);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(hears_an_outgoing_call),
		CASE(hears_the_answer_to_its_bye),
		CASE(hears_an_incoming_call_from_its_start),
		CASE(hears_each_leg),
		CASE(a_refused_call_leaves_nothing),
		CASE(has_limits),
		CASE(a_store_that_refuses_them_breaks_no_call),
		CASE(a_stop_of_the_service_keeps_what_was_heard),
		CASE(is_deleted_when_its_time_is_over),
		CASE(no_days_keep_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
