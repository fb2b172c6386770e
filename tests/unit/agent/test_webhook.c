/* SPDX-License-Identifier: MIT */
/* Delivery of what the outbox holds (decisions, "Webhooks"): signature, headers,
 * retries over 24 h, order per call, room for each organisation, restart. */
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
static const char *put_row(struct house *house, const char *org_id,
			   const char *call_id, const char *url,
			   const char *body)
{
	char id[ID_UUID_SIZE];
	struct outbox_row row = {
		.id = id,
		.org_id = org_id,
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

static const char *put(struct house *house, const char *call_id,
		       const char *url, const char *body)
{
	return put_row(house, HOUSE_ORG, call_id, url, body);
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

/* All posts are answered after so long, with status 0 not at all. */
static void answer_slowly(struct house *house, struct fetch_result *slow,
			  int status, unsigned ms)
{
	for (size_t i = 0; i < HOUSE_POSTS; i++)
		slow[i] = (struct fetch_result){
			.status = status,
			.error = status ? 0 : -ETIMEDOUT,
			.reason = "",
			.duration_ms = ms,
		};
	house->results = slow;
	house->n_results = HOUSE_POSTS;
}

/* n rows of a new organisation, a call each, all with the body. */
static void put_of(struct house *house, const char *org_id, unsigned n,
		   const char *body)
{
	struct org_row org = { .id = org_id, .name = org_id };

	if (strcmp(org_id, HOUSE_ORG) != 0)
		orgs_put(house->service.store, &org, house_reply(house));
	for (unsigned i = 0; i < n; i++)
		put_row(house, org_id,
			arena_printf(house->arena, "%s-%u", org_id, i),
			"https://hook.test/", body);
}

static void sends_many_side_by_side(void **state)
{
	struct house *house = *state;
	struct fetch_result slow[HOUSE_POSTS];

	answer_slowly(house, slow, 200, 5000);
	put_of(house, HOUSE_ORG, 20, "x");
	house_run(house, 100);
	assert_int_equal(house->n_posts, 8);
	assert_int_equal(stats_of(house).in_flight, 8);
	house_run(house, 4000);
	assert_int_equal(house->n_posts, 8);
	house_run(house, 2000);
	assert_int_equal(house->n_posts, 16);
	house_run(house, 5000);
	assert_int_equal(house->n_posts, 20);
	house_run(house, 6000);
	assert_int_equal(stats_of(house).delivered, 20);
	assert_int_equal(stats_of(house).in_flight, 0);
}

static void sends_so_many_in_all(void **state)
{
	struct house *house = *state;
	struct fetch_result slow[HOUSE_POSTS];

	answer_slowly(house, slow, 200, 5000);
	for (unsigned i = 0; i < 9; i++)
		put_of(house, arena_printf(house->arena, "o%u", i), 8, "x");
	house_run(house, 4000);
	assert_int_equal(house->n_posts, 64);
	assert_int_equal(stats_of(house).in_flight, 64);
	webhook_close(&house->service.webhook); /* no more than HOUSE_POSTS */
}

/* One organisation's receiver hangs; another's is served at once. */
static void organisations_do_not_wait_for_each_other(void **state)
{
	struct house *house = *state;
	struct fetch_result slow[HOUSE_POSTS];

	answer_slowly(house, slow, 0, 10000);
	put_of(house, HOUSE_ORG, 40, "a");
	house_run(house, 100);
	assert_int_equal(house->n_posts, 8);
	house->n_results = 0;
	put_of(house, "b", 1, "b");
	house_run(house, 100);
	assert_int_equal(house->n_posts, 9);
	assert_string_equal(house->posts[8].body, "b");
	assert_int_equal(stats_of(house).delivered, 1);
	assert_int_equal(stats_of(house).in_flight, 8);
	house_run(house, 60000);
	assert_int_equal(stats_of(house).delivered, 41);
	assert_int_equal(stats_of(house).failed_attempts, 8);
}

/* New rows are due before those that are tried again, and still wait. */
static void counts_what_is_tried_again(void **state)
{
	struct house *house = *state;
	struct fetch_result slow[HOUSE_POSTS];

	answer_slowly(house, slow, 200, 5000);
	for (size_t i = 0; i < 8; i++)
		slow[i] = (struct fetch_result)STATUS(500);
	put_of(house, HOUSE_ORG, 8, "x");
	house_run(house, 3000);
	assert_int_equal(house->n_posts, 16);
	for (unsigned i = 0; i < 8; i++)
		put(house, arena_printf(house->arena, "new%u", i),
		    "https://hook.test/", "y");
	house_run(house, 2000);
	assert_int_equal(house->n_posts, 16);
	assert_int_equal(stats_of(house).in_flight, 8);
	house_run(house, 10000);
	assert_int_equal(stats_of(house).delivered, 16);
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
		CASE(sends_so_many_in_all),
		CASE(organisations_do_not_wait_for_each_other),
		CASE(counts_what_is_tried_again),
		CASE(goes_on_after_a_restart),
		CASE(closes_at_any_moment),
		CASE(closes_before_the_outcome_is_noted),
		CASE(waits_for_a_store_that_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
