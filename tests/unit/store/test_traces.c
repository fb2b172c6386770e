/* SPDX-License-Identifier: MIT */
/* SIP messages of calls: written in batches, read in order, complete only when
 * nothing is missing, deleted by age a few calls at a time. */
#include <stdio.h>
#include "fixture.h"
#include "store/traces.h"

static const struct trace_line lines[] = {
	{ 1000, true, 1, "192.0.2.1:5061", "INVITE sip:a SIP/2.0\r\n\r\n" },
	{ 1010, false, 1, "192.0.2.1:5061", "SIP/2.0 100 Trying\r\n\r\n" },
	{ 2000, false, 2, "[2001:db8::1]:5061", "BYE sip:b SIP/2.0\r\n" },
};

static void append(struct fixture *f, const struct trace_batch *batch)
{
	traces_append(f->store, batch, fixture_reply(f));
	assert_int_equal(fixture_wait(f), 0);
}

static void append_line(struct fixture *f, const char *call_id,
			int64_t written_ms)
{
	struct trace_batch batch = { .call_id = call_id,
				     .written_ms = written_ms,
				     .messages = 1,
				     .is_over = true,
				     .lines = lines,
				     .n = 1 };

	append(f, &batch);
}

static void keeps_batches_in_order(void **state)
{
	struct fixture *f = *state;
	struct trace_batch batch = { .call_id = "c",
				     .written_ms = 1000,
				     .messages = 2,
				     .lines = lines,
				     .n = 2 };
	struct trace trace;

	assert_int_equal(traces_get(f->store, f->arena, "c", &trace), -ENOENT);
	append(f, &batch);
	assert_int_equal(traces_get(f->store, f->arena, "c", &trace), 0);
	assert_int_equal(trace.n, 2);
	assert_false(trace.is_complete);
	batch.messages = 3;
	batch.lines = &lines[2];
	batch.n = 1;
	append(f, &batch);
	append_line(f, "another", 1);
	batch.is_over = true;
	batch.n = 0;
	append(f, &batch);
	assert_int_equal(traces_get(f->store, f->arena, "c", &trace), 0);
	assert_int_equal(trace.n, 3);
	assert_true(trace.is_complete);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(trace.lines[i].at_ms, lines[i].at_ms);
		assert_int_equal(trace.lines[i].is_out, lines[i].is_out);
		assert_int_equal(trace.lines[i].leg, lines[i].leg);
		assert_string_equal(trace.lines[i].peer, lines[i].peer);
		assert_string_equal(trace.lines[i].text, lines[i].text);
	}
}

static void is_not_complete_when_some_are_missing(void **state)
{
	struct fixture *f = *state;
	struct trace_batch batch = { .call_id = "c",
				     .messages = 3, /* two were lost */
				     .is_over = true,
				     .lines = lines,
				     .n = 1 };
	struct trace trace;

	append(f, &batch);
	assert_int_equal(traces_get(f->store, f->arena, "c", &trace), 0);
	assert_int_equal(trace.n, 1);
	assert_false(trace.is_complete);
	batch = (struct trace_batch){ .call_id = "d",
				      .messages = 1,
				      .dropped = 7,
				      .is_over = true,
				      .lines = lines,
				      .n = 1 };
	append(f, &batch);
	assert_int_equal(traces_get(f->store, f->arena, "d", &trace), 0);
	assert_int_equal(trace.dropped, 7);
	assert_false(trace.is_complete);
}

static void purge(struct fixture *f, int64_t before_ms, int64_t after_ms)
{
	traces_purge(f->store, before_ms, after_ms, fixture_reply(f));
	assert_int_equal(fixture_wait(f), 0);
}

static void deletes_the_old_a_few_at_a_time(void **state)
{
	struct fixture *f = *state;
	struct trace trace;
	char id[16];

	assert_int_equal(traces_first_ms(f->store), 0);
	for (int i = 0; i < TRACES_PURGE_MAX + 2; i++) {
		snprintf(id, sizeof(id), "old-%d", i);
		append_line(f, id, 100 + i);
	}
	append_line(f, "young", 5000);
	assert_int_equal(traces_first_ms(f->store), 100);
	purge(f, 5000, 9000);
	assert_int_equal(traces_first_ms(f->store), 100 + TRACES_PURGE_MAX);
	assert_int_equal(traces_get(f->store, f->arena, "old-0", &trace),
			 -ENOENT);
	purge(f, 5000, 9000);
	assert_int_equal(traces_first_ms(f->store), 5000);
	purge(f, 5000, 9000);
	assert_int_equal(traces_get(f->store, f->arena, "young", &trace), 0);
	purge(f, 1000, 4999); /* it was written with a wrong clock */
	assert_int_equal(traces_get(f->store, f->arena, "young", &trace),
			 -ENOENT);
}

/* Another program's hand in the file costs its rows, not the service. */
static void passes_over_what_it_cannot_read(void **state)
{
	static const char *const texts[] = {
		"NULL",
		"''",
		"'x'",
		"char(30, 30)",
		"'1 > 1' || char(30)",
		"'x > 1 p' || char(10) || 'text' || char(30)",
		"'1 > x p' || char(10) || 'text' || char(30)",
	};
	struct fixture *f = *state;
	struct trace trace;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char sql[256];

		snprintf(sql, sizeof(sql),
			 "INSERT INTO sip_traces VALUES(NULL, 'c', 1, 1, 0, 1,"
			 " %s)",
			 texts[i]);
		fixture_sql(f, sql);
	}
	assert_int_equal(traces_get(f->store, f->arena, "c", &trace), 0);
	assert_int_equal(trace.n, 0);
	assert_false(trace.is_complete);
}

static void stays_over_a_reopening(void **state)
{
	struct fixture *f = *state;
	struct trace trace;

	append_line(f, "c", 1000);
	store_close(&f->store);
	assert_int_equal(fixture_reopen(f, false, &f->store), 0);
	assert_int_equal(traces_get(f->store, f->arena, "c", &trace), 0);
	assert_int_equal(trace.n, 1);
	assert_true(trace.is_complete);
}

static int folder_setup(void **state)
{
	static struct fixture f;

	fixture_open_folder(&f, true);
	*state = &f;
	return 0;
}

static int folder_teardown(void **state)
{
	fixture_close(*state);
	return 0;
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(keeps_batches_in_order),
		TEST(is_not_complete_when_some_are_missing),
		TEST(deletes_the_old_a_few_at_a_time),
		TEST(passes_over_what_it_cannot_read),
		cmocka_unit_test_setup_teardown(stays_over_a_reopening,
						folder_setup, folder_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
