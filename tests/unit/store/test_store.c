/* SPDX-License-Identifier: MIT */
/* The folder and its file: private, one service at a time, tools beside it,
 * migrated, refused when newer or not ours; what is kept over a reopening; a
 * backup that is a database of its own. */
#include "fixture.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "store/numbers.h"
#include "store/schema.h"
#include "store/store_priv.h"

static const char *path(struct fixture *f, const char *name)
{
	return arena_printf(f->arena, "%s/%s", f->folder, name);
}

static int put(struct fixture *f, struct store *store, const char *number)
{
	struct number_row row = { .number = number, .org_id = "a" };

	row.settings = "{}";
	numbers_put(store, &row, fixture_reply(f));
	return fixture_wait(f);
}

static bool has(struct fixture *f, struct store *store, const char *number)
{
	struct number_row out;

	return numbers_get(store, f->arena, "a", number, &out) == 0;
}

static int setup(void **state)
{
	*state = test_malloc(sizeof(struct fixture));
	fixture_open_folder(*state, true);
	return 0;
}

static int teardown(void **state)
{
	fixture_close(*state);
	test_free(*state);
	return 0;
}

static void is_private(void **state)
{
	static const struct {
		const char *name;
		mode_t mode;
	} cases[] = { { "", 0700 },
		      { "parley.db", 0600 },
		      { "parley.db-wal", 0600 },
		      { "lock", 0600 } };
	struct fixture *f = *state;
	struct store_options options = { .loop = f->loop };
	struct store *store;
	struct stat st;
	size_t i;

	options.folder = path(f, "made");
	assert_int_equal(store_open(&store, &options, &f->why), 0);
	for (i = 0; i < 4; i++) {
		const char *name = arena_printf(f->arena, "%s/%s",
						options.folder, cases[i].name);

		assert_int_equal(stat(name, &st), 0);
		assert_int_equal(st.st_mode & 07777, cases[i].mode);
	}
	store_close(&store);
	assert_null(store);
}

static void keeps_over_a_reopening(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(put(f, f->store, "+1"), 0);
	store_close(&f->store);
	assert_int_equal(access(path(f, "parley.db-wal"), F_OK), -1);
	assert_int_equal(fixture_reopen(f, false, &f->store), 0);
	assert_true(has(f, f->store, "+1"));
}

static void second_service_is_refused(void **state)
{
	struct fixture *f = *state;
	struct store *second;
	char expected[128];

	assert_int_equal(fixture_reopen(f, false, &second), -EBUSY);
	assert_null(second);
	snprintf(expected, sizeof(expected),
		 "%s is in use by another parleyd (pid %d)", f->folder,
		 (int)getpid());
	assert_string_equal(buffer_str(&f->why), expected);
	store_close(&f->store);
	assert_int_equal(fixture_reopen(f, false, &f->store), 0);
}

static void tool_writes_beside_a_service(void **state)
{
	struct fixture *f = *state;
	struct store *tool;

	assert_int_equal(put(f, f->store, "+1"), 0);
	assert_int_equal(fixture_reopen(f, true, &tool), 0);
	assert_true(has(f, tool, "+1"));
	assert_int_equal(put(f, tool, "+2"), 0);
	assert_true(has(f, f->store, "+2"));
	assert_int_equal(put(f, f->store, "+3"), 0);
	store_close(&tool);
	assert_int_equal(access(path(f, "parley.db-wal"), F_OK), 0);
	assert_true(has(f, f->store, "+3"));
}

static void tool_makes_the_folder_and_leaves_no_lock(void **state)
{
	struct fixture *f = *state;
	struct store_options options = { .loop = f->loop, .is_tool = true };
	struct store *tool, *service;

	options.folder = path(f, "new");
	assert_int_equal(store_open(&tool, &options, &f->why), 0);
	options.is_tool = false;
	assert_int_equal(store_open(&service, &options, &f->why), 0);
	assert_int_equal(put(f, tool, "+1"), 0);
	assert_true(has(f, service, "+1"));
	store_close(&tool);
	store_close(&service);
}

static void newer_schema_is_refused(void **state)
{
	struct fixture *f = *state;

	fixture_sql(f, "PRAGMA user_version = 999");
	store_close(&f->store);
	assert_int_equal(fixture_reopen(f, false, &f->store), -EPROTO);
	assert_non_null(strstr(buffer_str(&f->why), "schema version 999"));
	assert_non_null(strstr(buffer_str(&f->why), "install the newer"));
	assert_int_equal(fixture_reopen(f, true, &f->store), -EPROTO);
}

static void tool_does_not_migrate_under_a_service(void **state)
{
	struct fixture *f = *state;
	struct store *tool;

	fixture_sql(f, "PRAGMA user_version = 0");
	assert_int_equal(fixture_reopen(f, true, &tool), -EBUSY);
	assert_non_null(strstr(buffer_str(&f->why), "restart it"));
}

static void other_programs_file_is_refused(void **state)
{
	struct fixture *f = *state;

	fixture_sql(f, "PRAGMA application_id = 7");
	store_close(&f->store);
	assert_int_equal(fixture_reopen(f, false, &f->store), -EPROTO);
	assert_non_null(strstr(buffer_str(&f->why), "another program"));
}

static void garbage_is_refused(void **state)
{
	struct fixture *f = *state;
	char junk[8192];
	int fd;

	store_close(&f->store);
	memset(junk, 'x', sizeof(junk));
	fd = open(path(f, "parley.db"), O_WRONLY | O_TRUNC);
	assert_int_equal(write(fd, junk, sizeof(junk)), sizeof(junk));
	close(fd);
	assert_int_equal(fixture_reopen(f, false, &f->store), -EIO);
	assert_non_null(strstr(buffer_str(&f->why), "not a database"));
}

static void bad_folders_are_refused_with_a_remedy(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *name;
		int err;
		const char *remedy;
	} cases[] = {
		{ "no/such", -ENOENT, "make the folder above" },
		{ "parley.db", -ENOTDIR, "store.path" },
		{ "open", -EPERM, "chmod 700" },
	};
	struct store_options options = { .loop = f->loop };
	struct store *store;
	size_t i;

	mkdir(path(f, "open"), 0700);
	assert_int_equal(chmod(path(f, "open"), 0777), 0);
	for (i = 0; i < 3; i++) {
		options.folder = path(f, cases[i].name);
		buffer_clear(&f->why);
		assert_int_equal(store_open(&store, &options, &f->why),
				 cases[i].err);
		assert_non_null(strstr(buffer_str(&f->why), cases[i].remedy));
	}
}

static void backup_is_a_database_of_its_own(void **state)
{
	struct fixture *f = *state;
	struct store_options options = { .loop = f->loop };
	struct store *copy;
	struct stat st;

	put(f, f->store, "+1");
	options.folder = path(f, "copy");
	mkdir(options.folder, 0700);
	assert_int_equal(
		store_backup(f->store, path(f, "copy/parley.db"), &f->why), 0);
	put(f, f->store, "+2");
	assert_int_equal(stat(path(f, "copy/parley.db"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(access(path(f, "copy/parley.db-wal"), F_OK), -1);
	assert_int_equal(store_open(&copy, &options, &f->why), 0);
	assert_true(has(f, copy, "+1"));
	assert_false(has(f, copy, "+2"));
	store_close(&copy);
}

static void backup_overwrites_nothing(void **state)
{
	struct fixture *f = *state;
	struct stat st;

	assert_int_equal(store_backup(f->store, path(f, "lock"), &f->why),
			 -EEXIST);
	assert_non_null(strstr(buffer_str(&f->why), "exists already"));
	assert_int_equal(stat(path(f, "lock"), &st), 0);
	buffer_clear(&f->why);
	assert_int_equal(store_backup(f->store, path(f, "no/where"), &f->why),
			 -ENOENT);
}

static void reads_leave_no_view_open(void **state)
{
	struct fixture *f = *state;
	int in_log, moved;

	put(f, f->store, "+1");
	assert_true(has(f, f->store, "+1"));
	assert_int_equal(sqlite3_wal_checkpoint_v2(
				 db_handle(f->store->main), "main",
				 SQLITE_CHECKPOINT_TRUNCATE, &in_log, &moved),
			 SQLITE_OK);
	put(f, f->store, "+2");
	assert_true(has(f, f->store, "+2"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(is_private),
		TEST(keeps_over_a_reopening),
		TEST(second_service_is_refused),
		TEST(tool_writes_beside_a_service),
		TEST(tool_makes_the_folder_and_leaves_no_lock),
		TEST(newer_schema_is_refused),
		TEST(tool_does_not_migrate_under_a_service),
		TEST(other_programs_file_is_refused),
		TEST(garbage_is_refused),
		TEST(bad_folders_are_refused_with_a_remedy),
		TEST(backup_is_a_database_of_its_own),
		TEST(backup_overwrites_nothing),
		TEST(reads_leave_no_view_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
