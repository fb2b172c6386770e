/* SPDX-License-Identifier: MIT */
/* Delivery of what the outbox holds (decisions, "Webhooks"): signature, headers,
 * retries over 24 h, order per call, restart. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "core/id.h"
#include "core/mem.h"
#include "core/secret.h"
#include "core/timer.h"
#include "store/outbox.h"
#include "tests/unit/agent/fixture_house.h"

/* Puts a row into the outbox; its id lives in the arena. */
static const char *put(struct house *house, const char *call_id,
		       const char *url, const char *body)
{
	char id[ID_UUID_SIZE];
	struct outbox_row row = {
		.id = id,
		.org_id = HOUSE_ORG,
		.call_id = call_id,
		.url = url,
		.body = body,
		.send_type = "spawn",
		.created_ms = loop_wall_ms(house->service.loop),
	};

	id_uuid(id);
	outbox_insert(house->service.store, &row, house_reply(house));
	webhook_wake(house->service.webhook);
	return arena_dup_str(house->arena, id);
}

static struct webhook_stats stats_of(const struct house *house)
{
	struct webhook_stats stats;

	webhook_stats(house->service.webhook, &stats);
	return stats;
}

#define RESULTS(house, ...)                                                    \
	do {                                                                   \
		static const struct fetch_result results_[] = { __VA_ARGS__ }; \
		(house)->results = results_;                                   \
		(house)->n_results = sizeof(results_) / sizeof(results_[0]);   \
	} while (0)
#define STATUS(code)                                                           \
	{                                                                      \
		.status = (code), .reason = "", .duration_ms = 10              \
	}
#define ERROR(number)                                                          \
	{                                                                      \
		.error = (number), .reason = "why", .duration_ms = 10          \
	}

static void delivers_signed(void **state)
{
	struct house *house = *state;
	char signature[SECRET_HMAC_HEX_SIZE];
	struct outbox_history history;
	const char *id = put(house, "c", "https://hook.test/", "{\"a\":1}");

	house_run(house, 100);
	assert_int_equal(house->n_posts, 1);
	secret_hmac_hex(signature, SLICE("hush"), SLICE("{\"a\":1}"));
	assert_string_equal(house->posts[0].body, "{\"a\":1}");
	assert_string_equal(house->posts[0].signature, signature);
	assert_string_equal(house->posts[0].id, id);
	assert_string_equal(house->posts[0].attempt, "1");
	assert_null(house->posts[0].previous);
	assert_int_equal(stats_of(house).delivered, 1);
	assert_int_equal(stats_of(house).in_flight, 0);
	assert_int_equal(outbox_history(house->service.store, house->arena, "c",
					&history),
			 0);
	assert_int_equal(history.n, 1);
	assert_true(history.attempts[0].delivered);
	assert_int_equal(history.attempts[0].response_code, 200);
	assert_int_equal(history.attempts[0].duration_ms, 10);
	house_run(house, 86400000);
	assert_int_equal(house->n_posts, 1);
}

/* After a rotation both secrets sign, for a while. */
static void signs_with_the_secret_before(void **state)
{
	struct house *house = *state;
	char signature[SECRET_HMAC_HEX_SIZE];
	struct buffer now, old;
	struct org_row org;

	assert_int_equal(
		orgs_get(house->service.store, house->arena, HOUSE_ORG, &org),
		0);
	buffer_init(&now, 512);
	buffer_init(&old, 512);
	secret_seal(house->service.box, &now, SLICE("new"));
	secret_seal(house->service.box, &old, SLICE("hush"));
	org.webhook_secret = buffer_slice(&now);
	org.previous_secret = buffer_slice(&old);
	org.previous_until_ms = loop_wall_ms(house->service.loop) + 3600000;
	orgs_put(house->service.store, &org, house_reply(house));
	put(house, "c", "https://hook.test/", "x");
	house_run(house, 100);
	secret_hmac_hex(signature, SLICE("new"), SLICE("x"));
	assert_string_equal(house->posts[0].signature, signature);
	secret_hmac_hex(signature, SLICE("hush"), SLICE("x"));
	assert_string_equal(house->posts[0].previous, signature);
	house_run(house, 3600000);
	put(house, "c", "https://hook.test/", "x");
	house_run(house, 100);
	assert_non_null(house->posts[1].signature);
	assert_null(house->posts[1].previous);
	buffer_reset(&now);
	buffer_reset(&old);
}

static void tries_nine_times_in_a_day(void **state)
{
	static const int64_t waits_s[] = { 1,	5,    30,    120,
					   600, 3600, 21600, 57600 };
	struct house *house = *state;

	RESULTS(house, STATUS(500), STATUS(502), STATUS(408), STATUS(425),
		ERROR(-ECONNREFUSED), ERROR(-ETIMEDOUT), STATUS(503),
		ERROR(-EKEYREJECTED), STATUS(500), STATUS(200));
	put(house, "c", "https://hook.test/", "x");
	house_run(house, 3 * 86400000ULL);
	assert_int_equal(house->n_posts, 9);
	for (size_t i = 0; i < 8; i++) {
		int64_t waited_ms =
			house->posts[i + 1].at_ms - house->posts[i].at_ms - 10;
		char attempt[8];

		assert_in_range(waited_ms, waits_s[i] * 1000,
				waits_s[i] * 1100 + 20);
		snprintf(attempt, sizeof(attempt), "%zu", i + 2);
		assert_string_equal(house->posts[i + 1].attempt, attempt);
		assert_string_equal(house->posts[i + 1].id, house->posts[0].id);
		assert_string_equal(house->posts[i + 1].signature,
				    house->posts[0].signature);
	}
	assert_int_equal(stats_of(house).failed_attempts, 9);
	assert_int_equal(stats_of(house).given_up, 1);
	assert_int_equal(stats_of(house).delivered, 0);
}

static void stops_where_trying_is_useless(void **state)
{
	static const struct fetch_result rows[] = {
		STATUS(400), STATUS(401),    STATUS(404),    STATUS(410),
		STATUS(301), ERROR(-EACCES), ERROR(-EINVAL),
	};
	struct house *house = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fetch_result results[HOUSE_POSTS];

		results[i] = rows[i];
		house->results = results;
		house->n_results = i + 1;
		put(house, "c", "https://hook.test/", "x");
		house_run(house, 3600000);
		assert_int_equal(house->n_posts, i + 1);
		assert_int_equal(stats_of(house).given_up, i + 1);
	}
	house->n_results = 0;
	put(house, "c", "ftp://hook.test/", "x");
	house_run(house, 3600000);
	assert_int_equal(stats_of(house).given_up, 8);
	assert_int_equal(stats_of(house).in_flight, 0);
}

static void waits_as_long_as_it_is_asked_to(void **state)
{
	struct house *house = *state;

	RESULTS(house,
		{ .status = 429, .reason = "", .retry_after = { "120", 3 } },
		{ .status = 429,
		  .reason = "",
		  .retry_after = { "Fri, 02 Jan 2026 00:00:00 GMT", 29 } },
		{ .status = 429, .reason = "", .retry_after = { "1", 1 } });
	put(house, "c", "https://hook.test/", "x");
	house_run(house, 119900);
	assert_int_equal(house->n_posts, 1);
	house_run(house, 200);
	assert_int_equal(house->n_posts, 2);
	house_run(house, 5600); /* not understood: as any other */
	assert_int_equal(house->n_posts, 3);
	house_run(house, 29000); /* shorter than ours: ours */
	assert_int_equal(house->n_posts, 3);
	house_run(house, 5000);
	assert_int_equal(house->n_posts, 4);
	assert_int_equal(stats_of(house).delivered, 1);
}

/* What belongs to one call arrives in order; other calls do not wait. */
static void keeps_the_order_of_a_call(void **state)
{
	struct house *house = *state;

	RESULTS(house, STATUS(500));
	put(house, "a", "https://hook.test/", "1");
	put(house, "a", "https://hook.test/", "2");
	put(house, "b", "https://hook.test/", "3");
	put(house, "a", "https://hook.test/", "4");
	house_run(house, 500);
	assert_int_equal(house->n_posts, 2);
	assert_string_equal(house->posts[0].body, "1");
	assert_string_equal(house->posts[1].body, "3");
	house_run(house, 5000);
	assert_int_equal(house->n_posts, 5);
	assert_string_equal(house->posts[2].body, "1");
	assert_string_equal(house->posts[3].body, "2");
	assert_string_equal(house->posts[4].body, "4");
}

static void sends_many_side_by_side(void **state)
{
	struct house *house = *state;
	struct fetch_result slow[HOUSE_POSTS];

	for (size_t i = 0; i < HOUSE_POSTS; i++)
		slow[i] = (struct fetch_result){ .status = 200,
						 .reason = "",
						 .duration_ms = 5000 };
	house->results = slow;
	house->n_results = HOUSE_POSTS;
	for (unsigned i = 0; i < 40; i++)
		put(house, arena_printf(house->arena, "c%u", i),
		    "https://hook.test/", "x");
	house_run(house, 100);
	assert_int_equal(house->n_posts, 32);
	assert_int_equal(stats_of(house).in_flight, 32);
	house_run(house, 4000);
	assert_int_equal(house->n_posts, 32);
	house_run(house, 2000);
	assert_int_equal(house->n_posts, 40);
	house_run(house, 6000);
	assert_int_equal(stats_of(house).delivered, 40);
	assert_int_equal(stats_of(house).in_flight, 0);
}

static void goes_on_after_a_restart(void **state)
{
	struct house *house = *state;

	RESULTS(house, STATUS(500), STATUS(500));
	put(house, "c", "https://hook.test/", "x");
	house_run(house, 2000);
	assert_int_equal(house->n_posts, 2);
	webhook_close(&house->service.webhook);
	house_run(house, 60000);
	assert_int_equal(house->n_posts, 2);
	assert_int_equal(webhook_open(&house->service.webhook, &house->service),
			 0);
	house_run(house, 100);
	assert_int_equal(house->n_posts, 3);
	assert_string_equal(house->posts[2].attempt, "3");
	assert_int_equal(stats_of(house).delivered, 1);
}

/* Closed at each stage of a delivery: no callback after, nothing leaks, and
 * it is delivered by the next. */
static void closes_at_any_moment(void **state)
{
	struct house *house = *state;

	for (unsigned ms = 0; ms < 25; ms++) {
		put(house, "c", "https://hook.test/", "x");
		house_run(house, ms);
		webhook_close(&house->service.webhook);
		house_run(house, 50);
		assert_int_equal(
			webhook_open(&house->service.webhook, &house->service),
			0);
		house_run(house, 50);
		assert_int_equal(stats_of(house).in_flight, 0);
		assert_int_equal(outbox_next_due(house->service.store), 0);
	}
}

struct closer {
	struct house *house;
	struct timer *timer;
	unsigned in_flight; /* when it was closed */
};

static void close_delivered(void *arg)
{
	struct closer *closer = arg;

	closer->in_flight = stats_of(closer->house).in_flight;
	if (stats_of(closer->house).delivered)
		webhook_close(&closer->house->service.webhook);
	else
		timer_start(closer->timer, 0, close_delivered, closer);
}

/* Delivered, and the store's reply is under way. */
static void closes_before_the_outcome_is_noted(void **state)
{
	struct house *house = *state;
	struct closer closer = { house, timer_new(house->service.loop), 0 };

	put(house, "c", "https://hook.test/", "x");
	house_run(house, 0);
	timer_start(closer.timer, 10, close_delivered, &closer);
	house_run(house, 1000);
	assert_null(house->service.webhook);
	assert_int_equal(closer.in_flight, 1);
	assert_int_equal(house->n_posts, 1);
	assert_int_equal(outbox_next_due(house->service.store), 0);
	timer_close(&closer.timer);
}

/* The store cannot note the outcome: tried again, not forgotten. */
static void waits_for_a_store_that_fails(void **state)
{
	struct house *house = *state;

	house_sql(house, "CREATE TRIGGER t BEFORE INSERT ON outbox_attempts"
			 " BEGIN SELECT RAISE(ABORT, 'no'); END");
	put(house, "c", "https://hook.test/", "x");
	house_run(house, 4000);
	assert_int_equal(house->n_posts, 1);
	house_sql(house, "DROP TRIGGER t");
	house_run(house, 2000);
	assert_int_equal(house->n_posts, 2);
	assert_string_equal(house->posts[1].id, house->posts[0].id);
	house_run(house, 86400000);
	assert_int_equal(house->n_posts, 2);
}

#define CASE(fn)                                                               \
	cmocka_unit_test_setup_teardown(fn, house_setup, house_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(delivers_signed),
		CASE(signs_with_the_secret_before),
		CASE(tries_nine_times_in_a_day),
		CASE(stops_where_trying_is_useless),
		CASE(waits_as_long_as_it_is_asked_to),
		CASE(keeps_the_order_of_a_call),
		CASE(sends_many_side_by_side),
		CASE(goes_on_after_a_restart),
		CASE(closes_at_any_moment),
		CASE(closes_before_the_outcome_is_noted),
		CASE(waits_for_a_store_that_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
