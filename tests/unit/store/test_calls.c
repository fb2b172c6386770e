/* SPDX-License-Identifier: MIT */
/* Call records: every field kept, the end of a call in one commit with its
 * events and its webhook, lists by each filter with the total, and what waits
 * or was interrupted. Each list has an index to run on. */
#include "fixture.h"
#include <pthread.h>
#include "store/calls.h"
#include "store/store_priv.h"

static struct call_row call_of(const char *id)
{
	return (struct call_row){
		.id = id,
		.org_id = "a",
		.to = "+14155550101",
		.from = "+14155550100",
		.queue_status = "queued",
		.times = { .created_ms = 1000 },
		.request = "{\"task\":\"hi\"}",
		.body = "{}",
		.brief = "{\"b\":1}",
	};
}

static int insert(struct fixture *f, struct call_row row)
{
	calls_insert(f->store, &row, fixture_reply(f));
	return fixture_wait(f);
}

static int update(struct fixture *f, struct call_row row)
{
	calls_update(f->store, &row, fixture_reply(f));
	return fixture_wait(f);
}

static int complete(struct fixture *f, const struct call_end *end)
{
	calls_complete(f->store, end, fixture_reply(f));
	return fixture_wait(f);
}

static int get(struct fixture *f, const char *id, struct call_row *out)
{
	return calls_get(f->store, f->arena, "a", id, out);
}

static struct calls_query any(void)
{
	return (struct calls_query){ .org_id = "a",
				     .completed = -1,
				     .inbound = -1,
				     .longer_s = -1,
				     .shorter_s = -1,
				     .limit = 1000 };
}

/* Ids of the rows joined, with the total in front: "3:c1 c2 c3". */
static const char *list(struct fixture *f, struct calls_query query)
{
	struct call_list out;
	const char *ids;
	size_t i;

	assert_int_equal(calls_list(f->store, f->arena, &query, &out), 0);
	ids = arena_printf(f->arena, "%d:", (int)out.total);
	for (i = 0; i < out.n; i++)
		ids = arena_printf(f->arena, "%s%s%s", ids, i ? " " : "",
				   out.rows[i].id);
	return ids;
}

static void keeps_every_field(void **state)
{
	struct fixture *f = *state;
	struct call_row row = call_of("c1"), out;

	row.inbound = true;
	row.answered_by = "human";
	row.recording = "c1.wav";
	row.times.start_at_ms = 2;
	row.times.started_ms = 3;
	row.times.end_ms = 4;
	row.times.answered_ms = 5;
	assert_int_equal(insert(f, row), 0);
	assert_int_equal(get(f, "c1", &out), 0);
	assert_int_equal(out.number, 1);
	assert_string_equal(out.to, "+14155550101");
	assert_string_equal(out.from, "+14155550100");
	assert_true(out.inbound);
	assert_false(out.completed);
	assert_string_equal(out.queue_status, "queued");
	assert_null(out.status);
	assert_string_equal(out.answered_by, "human");
	assert_memory_equal(&out.times, (&(int64_t[]){ 1000, 2, 3, 4, 5 }[0]),
			    5 * sizeof(int64_t));
	assert_string_equal(out.request, "{\"task\":\"hi\"}");
	assert_string_equal(out.body, "{}");
	assert_string_equal(out.brief, "{\"b\":1}");
	assert_string_equal(out.recording, "c1.wav");
}

static void is_got_by_its_organisation(void **state)
{
	struct fixture *f = *state;
	struct call_row out;

	insert(f, call_of("c1"));
	assert_int_equal(insert(f, call_of("c1")), -EEXIST);
	assert_int_equal(calls_get(f->store, f->arena, "b", "c1", &out),
			 -ENOENT);
	assert_int_equal(calls_get(f->store, f->arena, NULL, "c1", &out), 0);
	assert_int_equal(get(f, "c2", &out), -ENOENT);
	assert_int_equal(calls_count(f->store, "a"), 1);
	assert_int_equal(calls_count(f->store, "b"), 0);
}

static void updates_all_but_its_origin(void **state)
{
	struct fixture *f = *state;
	struct call_row row = call_of("c1"), out;

	insert(f, row);
	row.org_id = "b";
	row.from = "+14155550199";
	row.queue_status = "started";
	row.times.created_ms = 1;
	row.times.started_ms = 77;
	row.request = "other";
	row.body = "{\"now\":1}";
	row.brief = "{\"b\":2}";
	assert_int_equal(update(f, row), 0);
	assert_int_equal(get(f, "c1", &out), 0);
	assert_string_equal(out.from, "+14155550199");
	assert_string_equal(out.queue_status, "started");
	assert_int_equal(out.times.created_ms, 1000);
	assert_int_equal(out.times.started_ms, 77);
	assert_string_equal(out.request, "{\"task\":\"hi\"}");
	assert_string_equal(out.body, "{\"now\":1}");
	assert_string_equal(out.brief, "{\"b\":2}");
	assert_int_equal(update(f, call_of("none")), -ENOENT);
}

static struct call_end end_of(const char *id)
{
	static const struct event_row events[] = {
		{ .sequence = 1, .type = "call.ended" },
		{ .sequence = 2, .type = "summary" },
	};
	struct call_end end = { .row = call_of(id) };

	end.row.status = "completed";
	end.row.queue_status = "complete";
	end.events = events;
	end.n_events = 2;
	end.webhook = (struct outbox_row){ .id = "w",
					   .org_id = "a",
					   .call_id = id,
					   .url = "https://x.example/",
					   .body = "{}",
					   .send_type = "spawn" };
	return end;
}

static void ends_in_one_commit(void **state)
{
	struct fixture *f = *state;
	struct call_end end = end_of("c1");
	struct call_row out;
	struct event_list events;
	struct outbox_list due;

	insert(f, call_of("c1"));
	assert_int_equal(complete(f, &end), 0);
	get(f, "c1", &out);
	assert_true(out.completed);
	assert_string_equal(out.status, "completed");
	events_list(f->store, f->arena, "c1", 0, &events);
	assert_int_equal(events.n, 2);
	outbox_due(f->store, f->arena, 1, 9, &due);
	assert_int_equal(due.n, 1);
	end.webhook.id = "w2";
	assert_int_equal(complete(f, &end), -EALREADY);
	outbox_due(f->store, f->arena, 1, 9, &due);
	assert_int_equal(due.n, 1);
}

static void half_an_end_is_none(void **state)
{
	struct fixture *f = *state;
	struct call_end end = end_of("c1"), none = end_of("none");
	struct call_row out;
	struct event_list events;

	insert(f, call_of("c0"));
	insert(f, call_of("c1"));
	complete(f, &(struct call_end){ .row = call_of("c0"),
					.webhook = end.webhook });
	assert_int_equal(complete(f, &end), -EEXIST);
	get(f, "c1", &out);
	assert_false(out.completed);
	events_list(f->store, f->arena, "c1", 0, &events);
	assert_int_equal(events.n, 0);
	end.webhook.url = NULL;
	assert_int_equal(complete(f, &end), 0);
	assert_int_equal(complete(f, &none), -ENOENT);
}

/* c1 .. c4 of organisation a, created at 1000 .. 4000, and one of b. */
static void insert_some(struct fixture *f)
{
	struct call_row row;
	int i;

	for (i = 1; i <= 4; i++) {
		row = call_of(arena_printf(f->arena, "c%d", i));
		row.times.created_ms = i * 1000;
		row.inbound = i == 2;
		row.completed = i <= 2;
		row.to = i == 3 ? "+3" : "+1";
		row.from = i == 4 ? "+4" : "+1";
		row.answered_by = i == 1 ? "human" : NULL;
		row.times.answered_ms = i <= 2 ? 10000 : 0;
		row.times.end_ms = 10000 + i * 30000;
		assert_int_equal(insert(f, row), 0);
	}
	row = call_of("x1");
	row.org_id = "b";
	insert(f, row);
}

static void lists_by_each_filter(void **state)
{
	struct fixture *f = *state;
	struct calls_query q[14];
	static const char *const expected[] = {
		"4:c1 c2 c3 c4", "4:c4 c3 c2 c1", "4:c2 c3", "4:",
		"1:c3",		 "1:c4",	  "2:c3 c4", "2:c1 c2",
		"1:c2",		 "3:c1 c3 c4",	  "1:c1",    "2:c2 c3",
		"1:c2",		 "3:c1 c3 c4",
	};
	size_t i;

	insert_some(f);
	for (i = 0; i < 14; i++)
		q[i] = any();
	q[1].descending = true;
	q[2].offset = 1, q[2].limit = 2;
	q[3].limit = 0;
	q[4].to = "+3";
	q[5].from = "+4";
	q[6].completed = 0;
	q[7].completed = 1;
	q[8].inbound = 1;
	q[9].inbound = 0;
	q[10].answered_by = "human";
	q[11].start_ms = 2000, q[11].end_ms = 4000;
	q[12].longer_s = 30;
	q[13].shorter_s = 60;
	for (i = 0; i < 14; i++)
		assert_string_equal(list(f, q[i]), expected[i]);
}

static void lists_have_briefs_and_states(void **state)
{
	struct fixture *f = *state;
	struct calls_query query = any();
	struct call_list out;

	insert_some(f);
	query.to = "+1";
	query.completed = 1;
	query.inbound = 1;
	assert_string_equal(list(f, query), "1:c2");
	calls_list(f->store, f->arena, &query, &out);
	assert_string_equal(out.rows[0].brief, "{\"b\":1}");
	assert_string_equal(out.rows[0].queue_status, "queued");
	assert_int_equal(out.rows[0].times.created_ms, 2000);
	assert_null(out.rows[0].body);
	query = any();
	query.org_id = NULL;
	assert_string_equal(list(f, query), "5:c1 c2 c3 c4 x1");
	query.org_id = "'; DROP TABLE calls; --";
	assert_string_equal(list(f, query), "0:");
}

static const char *next(struct fixture *f, int64_t after, int64_t now_ms)
{
	struct call_row key = { .org_id = "a", .number = after }, out;

	if (calls_next_queued(f->store, f->arena, &key, now_ms, &out))
		return "none";
	assert_non_null(out.request);
	return out.id;
}

static void finds_the_next_to_dial(void **state)
{
	struct fixture *f = *state;
	struct call_row row = call_of("c1");

	assert_string_equal(next(f, 0, 9999), "none");
	row.times.start_at_ms = 5000;
	insert(f, row);
	row = call_of("c2");
	row.queue_status = "started";
	insert(f, row);
	insert(f, call_of("c3"));
	row = call_of("c4");
	row.completed = true;
	insert(f, row);
	assert_string_equal(next(f, 0, 4999), "c3");
	assert_string_equal(next(f, 0, 5000), "c1");
	assert_string_equal(next(f, 1, 5000), "c3");
	assert_string_equal(next(f, 3, 5000), "none");
	assert_int_equal(calls_next_due(f->store, 4999), 5000);
	assert_int_equal(calls_next_due(f->store, 5000), 0);
}

static void names_organisations_that_wait(void **state)
{
	static const struct {
		const char *org_id;
		int64_t start_at_ms;
		const char *queue_status;
	} calls[] = {
		{ "b", 0, "queued" },	 { "b", 0, "queued" },
		{ "c", 9000, "queued" }, { "d", 0, "started" },
		{ "e", 0, "queued" },
	};
	struct fixture *f = *state;
	const char **ids;
	struct call_row row;
	size_t i, n;

	for (i = 0; i < 5; i++) {
		row = call_of(arena_printf(f->arena, "c%zu", i));
		row.org_id = calls[i].org_id;
		row.times.start_at_ms = calls[i].start_at_ms;
		row.queue_status = calls[i].queue_status;
		insert(f, row);
	}
	calls_queued_orgs(f->store, f->arena, 8999, &ids, &n);
	assert_int_equal(n, 2);
	assert_string_equal(ids[0], "b");
	assert_string_equal(ids[1], "e");
	calls_queued_orgs(f->store, f->arena, 9000, &ids, &n);
	assert_int_equal(n, 3);
}

static void finds_what_was_interrupted(void **state)
{
	struct fixture *f = *state;
	struct call_row row = call_of("c1");
	struct call_list out;

	insert(f, call_of("c0"));
	row.queue_status = "started";
	insert(f, row);
	row.id = "c2";
	row.org_id = "b";
	row.queue_status = "allocated";
	insert(f, row);
	row.id = "c3";
	row.completed = true;
	insert(f, row);
	assert_int_equal(calls_interrupted(f->store, f->arena, &out), 0);
	assert_int_equal(out.n, 2);
	assert_string_equal(out.rows[0].id, "c1");
	assert_string_equal(out.rows[1].id, "c2");
	assert_string_equal(out.rows[1].request, "{\"task\":\"hi\"}");
}

static void *list_often(void *arg)
{
	struct fixture *f = arg;
	struct calls_query query = any();
	struct arena *arena = arena_open();
	struct call_list out;
	int64_t last = 0;
	int i;

	for (i = 0; i < 100; i++) {
		if (calls_list(f->store, arena, &query, &out) ||
		    out.total < last || (size_t)out.total != out.n)
			break;
		last = out.total;
	}
	arena_close(&arena);
	return i == 100 ? f : NULL;
}

static void lists_on_another_thread(void **state)
{
	struct fixture f;
	pthread_t thread;
	void *result;
	int i;

	fixture_open_folder(&f, false);
	pthread_create(&thread, NULL, list_often, &f);
	for (i = 0; i < 100; i++)
		insert(&f, call_of(arena_printf(f.arena, "c%d", i)));
	pthread_join(thread, &result);
	assert_ptr_equal(result, &f);
	fixture_close(&f);
}

/* What a plan's first step reads. */
static void plan_is(struct fixture *f, const char *sql, const char *expected)
{
	sqlite3_stmt *stmt;
	const char *step;

	sql = arena_printf(f->arena, "EXPLAIN QUERY PLAN %s", sql);
	assert_int_equal(sqlite3_prepare_v2(db_handle(f->store->main), sql, -1,
					    &stmt, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	step = (const char *)sqlite3_column_text(stmt, 3);
	if (!strstr(step, expected))
		fail_msg("%s: %s", sql, step);
	sqlite3_finalize(stmt);
}

static void each_list_has_an_index(void **state)
{
	static const struct {
		const char *where, *index;
	} cases[] = {
		{ "org_id = 'a'", "calls_org" },
		{ "org_id = 'a' AND \"to\" = 'x'", "calls_to" },
		{ "org_id = 'a' AND \"from\" = 'x'", "calls_from" },
		{ "id = 'x'", "sqlite_autoindex_calls_1" },
	};
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		plan_is(f,
			arena_printf(f->arena,
				     "SELECT * FROM calls WHERE %s"
				     " ORDER BY number",
				     cases[i].where),
			cases[i].index);
	plan_is(f,
		"SELECT * FROM outbox WHERE state = 'open' AND next_ms < 5"
		" ORDER BY next_ms, number",
		"outbox_due");
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(keeps_every_field),
		TEST(is_got_by_its_organisation),
		TEST(updates_all_but_its_origin),
		TEST(ends_in_one_commit),
		TEST(half_an_end_is_none),
		TEST(lists_by_each_filter),
		TEST(lists_have_briefs_and_states),
		TEST(finds_the_next_to_dial),
		TEST(names_organisations_that_wait),
		TEST(finds_what_was_interrupted),
		cmocka_unit_test(lists_on_another_thread),
		TEST(each_list_has_an_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
