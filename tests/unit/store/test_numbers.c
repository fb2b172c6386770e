/* SPDX-License-Identifier: MIT */
/* Settings of inbound numbers, per organisation: put keeps created_ms, others
 * neither see nor delete them. */
#include "fixture.h"
#include "store/numbers.h"

static void put(struct fixture *f, const char *org_id, const char *number,
		const char *settings, int64_t at_ms)
{
	struct number_row row = { .number = number, .org_id = org_id };

	row.settings = settings;
	row.created_ms = row.updated_ms = at_ms;
	numbers_put(f->store, &row, fixture_reply(f));
	assert_int_equal(fixture_wait(f), 0);
}

static void replaces_in_place(void **state)
{
	struct fixture *f = *state;
	struct number_row out;

	put(f, "a", "+1", "{}", 1);
	put(f, "a", "+1", "{\"prompt\":\"hi\"}", 2);
	assert_int_equal(numbers_get(f->store, f->arena, "a", "+1", &out), 0);
	assert_string_equal(out.settings, "{\"prompt\":\"hi\"}");
	assert_string_equal(out.number, "+1");
	assert_string_equal(out.org_id, "a");
	assert_int_equal(out.created_ms, 1);
	assert_int_equal(out.updated_ms, 2);
}

static void organisations_are_apart(void **state)
{
	struct fixture *f = *state;
	struct number_row out;

	put(f, "a", "+1", "{}", 1);
	assert_int_equal(numbers_get(f->store, f->arena, "b", "+1", &out),
			 -ENOENT);
	numbers_delete(f->store, "b", "+1", fixture_reply(f));
	assert_int_equal(fixture_wait(f), -ENOENT);
	assert_int_equal(numbers_get(f->store, f->arena, "a", "+1", &out), 0);
}

static void deletes(void **state)
{
	struct fixture *f = *state;
	struct number_row out;

	put(f, "a", "+1", "{}", 1);
	numbers_delete(f->store, "a", "+1", fixture_reply(f));
	assert_int_equal(fixture_wait(f), 0);
	assert_int_equal(numbers_get(f->store, f->arena, "a", "+1", &out),
			 -ENOENT);
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(replaces_in_place),
		TEST(organisations_are_apart),
		TEST(deletes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
