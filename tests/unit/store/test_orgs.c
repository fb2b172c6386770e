/* SPDX-License-Identifier: MIT */
/* Organisations are inserted and replaced by id with every field kept; keys
 * are found by their hash while valid, listed per organisation, revoked once
 * and only by their organisation. */
#include "fixture.h"
#include "store/orgs.h"

static struct org_row org_of(const char *id)
{
	return (struct org_row){
		.id = id,
		.name = "Example",
		.plan = "enterprise",
		.timezone = "UTC",
		.webhook_secret = slice_make("s\0ealed", 7),
		.plan_limits = { 10, 2.5, "US,CA", true },
		.created_ms = WALL_MS,
	};
}

static struct key_row key_of(const char *id, const char *org_id, uint8_t fill)
{
	struct key_row key = { .id = id, .org_id = org_id, .name = "main" };

	key.hint = "org_abcd";
	key.created_ms = fill;
	memset(key.hash, fill, sizeof(key.hash));
	return key;
}

static void put_org(struct fixture *f, const char *id)
{
	struct org_row org = org_of(id);

	orgs_put(f->store, &org, fixture_reply(f));
	assert_int_equal(fixture_wait(f), 0);
}

static int put_key(struct fixture *f, struct key_row key)
{
	keys_put(f->store, &key, fixture_reply(f));
	return fixture_wait(f);
}

static int find(struct fixture *f, uint8_t fill, struct key_row *out)
{
	struct key_row key = key_of("", "", fill);

	return keys_find(f->store, f->arena, key.hash, out);
}

static void keeps_every_field(void **state)
{
	struct fixture *f = *state;
	struct org_row out;

	put_org(f, "a");
	assert_int_equal(orgs_get(f->store, f->arena, "a", &out), 0);
	assert_string_equal(out.id, "a");
	assert_string_equal(out.name, "Example");
	assert_string_equal(out.plan, "enterprise");
	assert_string_equal(out.timezone, "UTC");
	assert_null(out.default_from);
	assert_null(out.webhook_url);
	assert_int_equal(out.webhook_secret.len, 7);
	assert_memory_equal(out.webhook_secret.ptr, "s\0ealed", 7);
	assert_int_equal(out.previous_secret.len, 0);
	assert_int_equal(out.plan_limits.concurrency, 10);
	assert_true(out.plan_limits.max_minutes == 2.5);
	assert_string_equal(out.plan_limits.countries, "US,CA");
	assert_true(out.plan_limits.sip);
	assert_int_equal(out.created_ms, WALL_MS);
}

static void replaces_by_id(void **state)
{
	struct fixture *f = *state;
	struct org_row org = org_of("a"), out;

	put_org(f, "a");
	assert_int_equal(put_key(f, key_of("k", "a", 1)), 0);
	org.default_from = "+14155550100";
	org.plan_limits.sip = false;
	orgs_put(f->store, &org, fixture_reply(f));
	assert_int_equal(fixture_wait(f), 0);
	assert_int_equal(orgs_get(f->store, f->arena, "a", &out), 0);
	assert_string_equal(out.default_from, "+14155550100");
	assert_false(out.plan_limits.sip);
}

static void lists_in_order_of_making(void **state)
{
	struct fixture *f = *state;
	struct org_row org = org_of("z"), *rows;
	size_t n;

	put_org(f, "b");
	org.created_ms = 5;
	orgs_put(f->store, &org, fixture_reply(f));
	fixture_wait(f);
	assert_int_equal(orgs_list(f->store, f->arena, &rows, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(rows[0].id, "z");
	assert_string_equal(rows[1].id, "b");
}

static void finds_what_is_not_there(void **state)
{
	struct fixture *f = *state;
	struct org_row org, *orgs;
	struct key_row key;
	size_t n;

	assert_int_equal(orgs_get(f->store, f->arena, "no", &org), -ENOENT);
	assert_int_equal(find(f, 1, &key), -ENOENT);
	assert_int_equal(orgs_list(f->store, f->arena, &orgs, &n), 0);
	assert_int_equal(n, 0);
	assert_null(orgs);
}

static void finds_a_key_by_its_hash(void **state)
{
	struct fixture *f = *state;
	struct key_row out, *rows;
	size_t n;

	put_org(f, "a");
	put_org(f, "b");
	assert_int_equal(put_key(f, key_of("k1", "a", 1)), 0);
	assert_int_equal(put_key(f, key_of("k2", "b", 2)), 0);
	assert_int_equal(put_key(f, key_of("k3", "a", 3)), 0);
	assert_int_equal(find(f, 2, &out), 0);
	assert_string_equal(out.org_id, "b");
	assert_string_equal(out.hint, "org_abcd");
	assert_int_equal(out.hash[31], 2);
	assert_int_equal(keys_list(f->store, f->arena, "a", &rows, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(rows[1].id, "k3");
}

static void refuses_a_key_without_organisation(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(put_key(f, key_of("k", "none", 1)), -ENOENT);
	put_org(f, "a");
	assert_int_equal(put_key(f, key_of("k", "a", 1)), 0);
	assert_int_equal(put_key(f, key_of("other", "a", 1)), -EEXIST);
}

static void revokes_once(void **state)
{
	struct fixture *f = *state;
	struct key_row out, *rows;
	size_t n;

	put_org(f, "a");
	put_key(f, key_of("k", "a", 1));
	keys_revoke(f->store, "b", "k", 50, fixture_reply(f));
	assert_int_equal(fixture_wait(f), -ENOENT);
	assert_int_equal(find(f, 1, &out), 0);
	keys_revoke(f->store, "a", "k", 60, fixture_reply(f));
	assert_int_equal(fixture_wait(f), 0);
	keys_revoke(f->store, "a", "k", 70, fixture_reply(f));
	assert_int_equal(fixture_wait(f), 0);
	assert_int_equal(find(f, 1, &out), -ENOENT);
	keys_list(f->store, f->arena, "a", &rows, &n);
	assert_int_equal(rows[0].revoked_ms, 60);
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(keeps_every_field),
		TEST(replaces_by_id),
		TEST(lists_in_order_of_making),
		TEST(finds_what_is_not_there),
		TEST(finds_a_key_by_its_hash),
		TEST(refuses_a_key_without_organisation),
		TEST(revokes_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
