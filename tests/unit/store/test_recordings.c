/* SPDX-License-Identifier: MIT */
/* Index of recordings: replaced when the file is closed, read by its own
 * organisation. */
#include "fixture.h"
#include "store/recordings.h"

static void put(struct fixture *f, int64_t bytes, bool complete)
{
	struct recording_row row = {
		.call_id = "c",
		.org_id = "a",
		.file = "c.wav",
		.bytes = bytes,
		.duration_ms = bytes / 16,
		.complete = complete,
		.created_ms = 1,
	};

	recordings_put(f->store, &row, fixture_reply(f));
	assert_int_equal(fixture_wait(f), 0);
}

static void replaces_by_call(void **state)
{
	struct fixture *f = *state;
	struct recording_row out;

	put(f, 0, false);
	assert_int_equal(recordings_get(f->store, f->arena, "a", "c", &out), 0);
	assert_false(out.complete);
	put(f, 1600, true);
	assert_int_equal(recordings_get(f->store, f->arena, "a", "c", &out), 0);
	assert_true(out.complete);
	assert_int_equal(out.bytes, 1600);
	assert_int_equal(out.duration_ms, 100);
	assert_string_equal(out.file, "c.wav");
}

static void is_not_shown_to_others(void **state)
{
	struct fixture *f = *state;
	struct recording_row out;

	put(f, 1, true);
	assert_int_equal(recordings_get(f->store, f->arena, "b", "c", &out),
			 -ENOENT);
	assert_int_equal(recordings_get(f->store, f->arena, "a", "d", &out),
			 -ENOENT);
	assert_int_equal(recordings_get(f->store, f->arena, NULL, "c", &out),
			 0);
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(replaces_by_call),
		TEST(is_not_shown_to_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
