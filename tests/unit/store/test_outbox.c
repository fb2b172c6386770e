/* SPDX-License-Identifier: MIT */
/* Webhooks stay until delivered or given up, in order per call: a later row is
 * due only once all earlier ones of its call are closed; calls do not wait for
 * each other, nor do organisations. Attempts are kept and read back with their
 * row. */
#include "fixture.h"
#include <sqlite3.h>
#include <stdio.h>
#include "store/outbox.h"
#include "store/store_priv.h"

static int insert(struct fixture *f, const char *id, const char *call_id,
		  const char *send_type)
{
	struct outbox_row row = {
		.id = id,
		.org_id = "a",
		.call_id = call_id,
		.url = "https://example.com/hook",
		.body = "{\"x\":1}",
		.send_type = send_type,
		.created_ms = 10,
	};

	outbox_insert(f->store, &row, fixture_reply(f));
	return fixture_wait(f);
}

/* next_ms 0: the last try. */
static int attempt(struct fixture *f, const char *id, bool delivered,
		   int64_t next_ms)
{
	struct outbox_attempt what = {
		.id = id,
		.sent_ms = 20,
		.response_code = delivered ? 200 : 0,
		.duration_ms = 120,
		.error = delivered ? NULL : "refused",
		.next_ms = next_ms,
		.delivered = delivered,
	};

	outbox_attempted(f->store, &what, fixture_reply(f));
	return fixture_wait(f);
}

/* Ids due, joined by spaces. */
static const char *due(struct fixture *f, int64_t now_ms, size_t max)
{
	struct outbox_list list;
	const char *ids = "";
	size_t i;

	assert_int_equal(outbox_due(f->store, f->arena, now_ms, max, &list), 0);
	for (i = 0; i < list.n; i++)
		ids = arena_printf(f->arena, "%s%s%s", ids, *ids ? " " : "",
				   list.rows[i].id);
	return ids;
}

static void keeps_every_field(void **state)
{
	struct fixture *f = *state;
	struct outbox_list list;

	insert(f, "w1", "c", "spawn");
	outbox_due(f->store, f->arena, 100, 10, &list);
	assert_int_equal(list.n, 1);
	assert_string_equal(list.rows[0].org_id, "a");
	assert_string_equal(list.rows[0].call_id, "c");
	assert_string_equal(list.rows[0].url, "https://example.com/hook");
	assert_string_equal(list.rows[0].body, "{\"x\":1}");
	assert_string_equal(list.rows[0].send_type, "spawn");
	assert_int_equal(list.rows[0].number, 1);
	assert_int_equal(list.rows[0].attempts, 0);
	assert_int_equal(list.rows[0].created_ms, 10);
	assert_int_equal(insert(f, "w1", "d", "spawn"), -EEXIST);
}

static void is_in_order_per_call(void **state)
{
	struct fixture *f = *state;

	insert(f, "c1", "c", NULL);
	insert(f, "c2", "c", NULL);
	insert(f, "d1", "d", NULL);
	insert(f, "c3", "c", "spawn");
	assert_string_equal(due(f, 100, 10), "c1 d1");
	assert_string_equal(due(f, 100, 1), "c1");
	attempt(f, "c1", false, 500);
	assert_string_equal(due(f, 499, 10), "d1");
	assert_string_equal(due(f, 500, 10), "d1 c1");
	attempt(f, "c1", true, 0);
	assert_string_equal(due(f, 100, 10), "c2 d1");
	attempt(f, "c2", false, 0);
	assert_string_equal(due(f, 100, 10), "d1 c3");
	attempt(f, "c3", true, 0);
	attempt(f, "d1", true, 0);
	assert_string_equal(due(f, 100, 10), "");
}

static void rows_without_a_call_do_not_wait(void **state)
{
	struct fixture *f = *state;

	insert(f, "w1", NULL, NULL);
	insert(f, "w2", NULL, NULL);
	assert_string_equal(due(f, 100, 10), "w1 w2");
}

/* So many open rows of organisation "a", a call each: a1, a2 and so on. */
static void fill(struct fixture *f, unsigned n)
{
	fixture_sql(f, arena_printf(f->arena,
				    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL"
				    " SELECT i + 1 FROM n WHERE i < %u)"
				    " INSERT INTO outbox SELECT NULL, 'a' || i,"
				    " 'a', 'ca' || i, 'https://a.test/',"
				    " 'spawn', 'open', 0, 0, 10, '' FROM n",
				    n));
}

/* A row of organisation org, tried before and due at next_ms. */
static void add(struct fixture *f, const char *id, const char *org,
		int64_t next_ms)
{
	fixture_sql(f, arena_printf(f->arena,
				    "INSERT INTO outbox VALUES(NULL, '%s',"
				    " '%s', 'c%s', 'https://b.test/', 'spawn',"
				    " 'open', 1, %lld, 10, '')",
				    id, org, id, (long long)next_ms));
}

static void organisations_do_not_wait_for_each_other(void **state)
{
	struct fixture *f = *state;

	fill(f, 100);
	add(f, "b1", "b", 60);
	add(f, "c1", "c", 50);
	add(f, "d1", "d", 200);
	assert_string_equal(due(f, 100, 64), "a1 a2 a3 a4 a5 a6 a7 a8 c1 b1");
	assert_string_equal(due(f, 200, 64),
			    "a1 a2 a3 a4 a5 a6 a7 a8 c1 b1 d1");
	assert_string_equal(due(f, 200, 9), "a1 a2 a3 a4 a5 a6 a7 a8 c1");
	attempt(f, "a2", true, 0);
	attempt(f, "a3", false, 70);
	assert_string_equal(due(f, 100, 64), "a1 a4 a5 a6 a7 a8 a9 a10 c1 b1");
}

static int count_step(void *arg)
{
	(*(unsigned *)arg)++;
	return 0;
}

/* In steps of the database's machine: a backlog is not read. */
static void a_backlog_costs_nothing(void **state)
{
	struct fixture *f = *state;
	sqlite3 *reader = db_handle(f->store->reader);
	unsigned steps = 0;

	fill(f, 10000);
	add(f, "b1", "b", 50);
	sqlite3_progress_handler(reader, 1, count_step, &steps);
	assert_string_equal(due(f, 100, 64), "a1 a2 a3 a4 a5 a6 a7 a8 b1");
	sqlite3_progress_handler(reader, 0, NULL, NULL);
	assert_in_range(steps, 1, 2000);
}

static void says_when_the_next_is_due(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(outbox_next_due(f->store), 0);
	insert(f, "w1", "c", "spawn");
	assert_int_equal(outbox_next_due(f->store), 10);
	attempt(f, "w1", false, 700);
	insert(f, "w2", "c", "resend");
	assert_int_equal(outbox_next_due(f->store), 700);
	attempt(f, "w1", true, 0);
	assert_int_equal(outbox_next_due(f->store), 10);
	attempt(f, "w2", true, 0);
	assert_int_equal(outbox_next_due(f->store), 0);
}

static void refuses_attempts_of_what_is_closed(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(attempt(f, "none", true, 0), -ENOENT);
	insert(f, "w1", "c", "spawn");
	assert_int_equal(attempt(f, "w1", true, 900), 0);
	assert_int_equal(attempt(f, "w1", true, 0), -ENOENT);
	assert_string_equal(due(f, 1000, 10), "");
}

static void tells_the_history_of_the_post_call_webhook(void **state)
{
	struct fixture *f = *state;
	struct outbox_history history;

	assert_int_equal(outbox_history(f->store, f->arena, "c", &history),
			 -ENOENT);
	insert(f, "e1", "c", "event");
	insert(f, "w1", "c", "spawn");
	attempt(f, "e1", true, 0);
	attempt(f, "w1", false, 50);
	attempt(f, "w1", true, 0);
	insert(f, "w2", "c", "resend");
	attempt(f, "w2", true, 0);
	assert_int_equal(outbox_history(f->store, f->arena, "c", &history), 0);
	assert_string_equal(history.row.id, "w2");
	assert_int_equal(history.row.attempts, 1);
	assert_int_equal(history.n, 3);
	assert_string_equal(history.attempts[0].id, "w1");
	assert_string_equal(history.attempts[0].error, "refused");
	assert_int_equal(history.attempts[0].response_code, 0);
	assert_int_equal(history.attempts[0].next_ms, 50);
	assert_int_equal(history.attempts[1].response_code, 200);
	assert_true(history.attempts[1].delivered);
	assert_int_equal(history.attempts[1].duration_ms, 120);
	assert_string_equal(history.attempts[1].send_type, "spawn");
	assert_string_equal(history.attempts[2].send_type, "resend");
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(keeps_every_field),
		TEST(is_in_order_per_call),
		TEST(rows_without_a_call_do_not_wait),
		TEST(organisations_do_not_wait_for_each_other),
		TEST(a_backlog_costs_nothing),
		TEST(says_when_the_next_is_due),
		TEST(refuses_attempts_of_what_is_closed),
		TEST(tells_the_history_of_the_post_call_webhook),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
