/* SPDX-License-Identifier: MIT */
/* The timeline: in order of sequence whatever the order of writing, above a
 * given sequence, and no sequence twice. */
#include "fixture.h"
#include "store/events.h"

static int append(struct fixture *f, const char *call_id, int64_t sequence)
{
	struct event_row row = {
		.sequence = sequence,
		.type = "node.transition",
		.operation_id = 4,
		.payload = "{\"to\":\"n2\"}",
		.created_ms = WALL_MS,
	};

	events_append(f->store, call_id, &row, fixture_reply(f));
	return fixture_wait(f);
}

static void keeps_every_field(void **state)
{
	struct fixture *f = *state;
	struct event_list list;

	assert_int_equal(append(f, "c", 1), 0);
	assert_int_equal(events_list(f->store, f->arena, "c", 0, &list), 0);
	assert_int_equal(list.n, 1);
	assert_int_equal(list.rows[0].sequence, 1);
	assert_string_equal(list.rows[0].type, "node.transition");
	assert_null(list.rows[0].node_id);
	assert_int_equal(list.rows[0].operation_id, 4);
	assert_string_equal(list.rows[0].payload, "{\"to\":\"n2\"}");
	assert_int_equal(list.rows[0].created_ms, WALL_MS);
}

static void lists_in_order_above(void **state)
{
	static const struct {
		int64_t after;
		size_t n;
	} cases[] = { { 0, 40 }, { 1, 39 }, { 39, 1 }, { 40, 0 }, { 99, 0 } };
	struct fixture *f = *state;
	struct event_list list;
	size_t i, k;

	for (i = 40; i > 0; i--)
		append(f, "c", (int64_t)i);
	append(f, "d", 7);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		events_list(f->store, f->arena, "c", cases[i].after, &list);
		assert_int_equal(list.n, cases[i].n);
		for (k = 0; k < list.n; k++)
			assert_int_equal(list.rows[k].sequence,
					 cases[i].after + 1 + (int64_t)k);
	}
}

static void refuses_a_sequence_twice(void **state)
{
	struct fixture *f = *state;
	struct event_list list;

	assert_int_equal(append(f, "c", 1), 0);
	assert_int_equal(append(f, "c", 1), -EEXIST);
	assert_int_equal(append(f, "d", 1), 0);
	events_list(f->store, f->arena, "c", 0, &list);
	assert_int_equal(list.n, 1);
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(keeps_every_field),
		TEST(lists_in_order_above),
		TEST(refuses_a_sequence_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
