/* SPDX-License-Identifier: MIT */
/* sip/session, ua, transactions, dialog: thousands of calls of each kind that
 * follow one another leave nothing behind, on either side of them: sessions,
 * dialogs, transactions and links are counted. */
#include "fixture_ua.h"
#include "core/sim.h"

enum {
	CALLS = 2000,
	STEP_MS = 50, /* for what one step makes both sides say */
	LATE_MS = 130 * 1000 /* no transaction lasts that long */
};

/* One call from near to far (or to nobody), to its end. */
typedef void call_fn(struct world *world);

static struct session *dial(struct world *world, uint16_t port)
{
	assert_int_equal(side_call(world, port, &(struct session_call){ 0 }),
			 0);
	return world->near.session;
}

static void let_go(struct world *world)
{
	session_close(&world->near.session);
	session_close(&world->far.session);
	world_run(world, STEP_MS);
	buffer_clear(&world->near.log);
	buffer_clear(&world->far.log);
}

static void expect_end(struct side *side, const char *end)
{
	if (!strstr(buffer_str(&side->log), end))
		fail_msg("no \"%s\" in %s", end, buffer_str(&side->log));
}

static void caller_hangs_up(struct world *world)
{
	struct session *session = dial(world, FAR_PORT);

	world_run(world, STEP_MS);
	session_hangup(session, NULL);
	world_run(world, STEP_MS);
	expect_end(&world->near, "end hangup 0;");
	expect_end(&world->far, "end hangup 0 remote;");
}

static void callee_hangs_up(struct world *world)
{
	dial(world, FAR_PORT);
	world_run(world, STEP_MS);
	session_hangup(world->far.session, "SIP;cause=200");
	world_run(world, STEP_MS);
	expect_end(&world->near, "end hangup 0 remote;");
	expect_end(&world->far, "end hangup 0;");
}

static void caller_lets_go(struct world *world)
{
	dial(world, FAR_PORT);
	world_run(world, STEP_MS);
	session_close(&world->near.session);
	world_run(world, STEP_MS);
	expect_end(&world->far, "end hangup 0 remote;");
}

static void caller_cancels(struct world *world)
{
	struct session *session;

	world->far.answer = NULL;
	session = dial(world, FAR_PORT);
	world_run(world, STEP_MS);
	session_ring(world->far.session);
	world_run(world, STEP_MS);
	session_hangup(session, NULL);
	world_run(world, STEP_MS);
	expect_end(&world->near, "end canceled 487;");
	expect_end(&world->far, "end canceled ");
}

static void callee_refuses(struct world *world)
{
	world->far.invite_status = 486;
	dial(world, FAR_PORT);
	world_run(world, STEP_MS);
	expect_end(&world->near, "end rejected 486 remote;");
}

static void caller_thinks_better_at_once(struct world *world)
{
	session_hangup(dial(world, FAR_PORT), NULL);
	world_run(world, STEP_MS);
	expect_end(&world->near, "end canceled ");
}

/* CANCEL and the 200 to INVITE meet: taken back with BYE. */
static void cancel_comes_too_late(struct world *world)
{
	struct session *session = dial(world, FAR_PORT);

	world_run(world, 3); /* the INVITE is there, no answer here */
	session_hangup(session, NULL);
	world_run(world, STEP_MS);
	expect_end(&world->near, "end canceled ");
	expect_end(&world->far, "answer [];end hangup 0 remote;");
}

static void nobody_is_there(struct world *world)
{
	dial(world, RAW_PORT);
	world_run(world, STEP_MS);
	expect_end(&world->near, "end unreachable ");
}

static void assert_nothing(const struct ua *ua, unsigned links)
{
	struct ua_stats stats;

	ua_stats(ua, &stats);
	assert_int_equal(stats.sessions, 0);
	assert_int_equal(stats.dialogs, 0);
	assert_int_equal(stats.client_transactions, 0);
	assert_int_equal(stats.server_transactions, 0);
	assert_int_equal(stats.links, links);
	assert_int_equal(stats.parse_errors, 0);
}

static void many(struct world *world, call_fn *call, unsigned links)
{
	struct ua_stats near;

	for (unsigned i = 0; i < CALLS; i++) {
		world->far.answer = "answer";
		world->far.invite_status = 0;
		call(world);
		let_go(world);
	}
	ua_stats(world->near.ua, &near);
	assert_true(near.invites_out >= CALLS);
	world_run(world, LATE_MS);
	assert_nothing(world->near.ua, links);
	assert_nothing(world->far.ua, links);
}

static void test_caller_hangs_up(void **state)
{
	many(*state, caller_hangs_up, 1);
}

static void test_callee_hangs_up(void **state)
{
	many(*state, callee_hangs_up, 1);
}

static void test_caller_lets_go(void **state)
{
	many(*state, caller_lets_go, 1);
}

static void test_caller_cancels(void **state)
{
	many(*state, caller_cancels, 1);
}

static void test_callee_refuses(void **state)
{
	many(*state, callee_refuses, 1);
}

static void test_caller_thinks_better_at_once(void **state)
{
	many(*state, caller_thinks_better_at_once, 0);
}

static void test_cancel_comes_too_late(void **state)
{
	struct world *world = *state;

	sim_set_delay_us(world->loop, 2000);
	world->far.answer = "answer";
	callee_hangs_up(world); /* opens the link: INVITEs go out at once */
	let_go(world);
	many(world, cancel_comes_too_late, 1);
}

static void test_nobody_is_there(void **state)
{
	many(*state, nobody_is_there, 0);
}

#define MANY(test)                                                             \
	cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MANY(test_caller_hangs_up),
		MANY(test_callee_hangs_up),
		MANY(test_caller_lets_go),
		MANY(test_caller_cancels),
		MANY(test_callee_refuses),
		MANY(test_caller_thinks_better_at_once),
		MANY(test_cancel_comes_too_late),
		MANY(test_nobody_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
