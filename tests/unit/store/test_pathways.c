/* SPDX-License-Identifier: MIT */
/* Pathways: version 0 is written, frozen versions stay as they were, and
 * production chooses what version -1 reads. */
#include "fixture.h"
#include "store/pathways.h"

static struct pathway_row pathway_of(const char *id, const char *nodes)
{
	return (struct pathway_row){
		.id = id,
		.org_id = "a",
		.name = "Sales",
		.nodes = nodes,
		.edges = "[]",
		.created_ms = 1,
		.updated_ms = 1,
	};
}

static void insert(struct fixture *f, const char *id, const char *nodes)
{
	struct pathway_row row = pathway_of(id, nodes);

	pathways_insert(f->store, &row, fixture_reply(f));
	assert_int_equal(fixture_wait(f), 0);
}

static int update(struct fixture *f, const char *id, const char *nodes)
{
	struct pathway_row row = pathway_of(id, nodes);

	row.description = "new";
	row.updated_ms = 2;
	pathways_update(f->store, &row, fixture_reply(f));
	return fixture_wait(f);
}

static int freeze(struct fixture *f, const char *id, const char *name)
{
	struct pathway_row key = { .id = id, .org_id = "a" };

	pathways_freeze(f->store, &key, name, fixture_reply(f));
	return fixture_wait(f);
}

static int publish(struct fixture *f, const char *id, int64_t version)
{
	struct pathway_row key = { .id = id, .org_id = "a" };

	key.version = version;
	pathways_publish(f->store, &key, fixture_reply(f));
	return fixture_wait(f);
}

/* Nodes of one version, or NULL. */
static const char *nodes_of(struct fixture *f, const char *id, int64_t version)
{
	struct pathway_row key = { .id = id, .org_id = "a" }, out;

	key.version = version;
	if (pathways_get(f->store, f->arena, &key, &out))
		return NULL;
	return out.nodes;
}

static void writes_the_working_copy(void **state)
{
	struct fixture *f = *state;
	struct pathway_row key = { .id = "p", .org_id = "a" }, out;

	insert(f, "p", "[1]");
	assert_int_equal(update(f, "p", "[2]"), 0);
	assert_int_equal(pathways_get(f->store, f->arena, &key, &out), 0);
	assert_string_equal(out.name, "Sales");
	assert_string_equal(out.description, "new");
	assert_string_equal(out.nodes, "[2]");
	assert_string_equal(out.edges, "[]");
	assert_int_equal(out.version, 0);
	assert_int_equal(out.production, 0);
	assert_int_equal(out.created_ms, 1);
	assert_int_equal(out.updated_ms, 2);
}

static void frozen_versions_stay(void **state)
{
	struct fixture *f = *state;

	insert(f, "p", "[1]");
	assert_int_equal(freeze(f, "p", "first"), 0);
	update(f, "p", "[2]");
	assert_int_equal(freeze(f, "p", "second"), 0);
	update(f, "p", "[3]");
	assert_string_equal(nodes_of(f, "p", 0), "[3]");
	assert_string_equal(nodes_of(f, "p", 1), "[1]");
	assert_string_equal(nodes_of(f, "p", 2), "[2]");
	assert_null(nodes_of(f, "p", 3));
}

static void production_is_what_runs(void **state)
{
	struct fixture *f = *state;

	insert(f, "p", "[1]");
	assert_string_equal(nodes_of(f, "p", -1), "[1]");
	freeze(f, "p", "first");
	update(f, "p", "[2]");
	assert_string_equal(nodes_of(f, "p", -1), "[2]");
	assert_int_equal(publish(f, "p", 1), 0);
	assert_string_equal(nodes_of(f, "p", -1), "[1]");
	assert_int_equal(publish(f, "p", 2), -ENOENT);
	assert_int_equal(publish(f, "p", 0), -ENOENT);
	assert_string_equal(nodes_of(f, "p", -1), "[1]");
}

static void lists_versions_newest_first(void **state)
{
	struct fixture *f = *state;
	struct pathway_row key = { .id = "p", .org_id = "a" }, *rows;
	size_t n;

	insert(f, "p", "[1]");
	freeze(f, "p", "first");
	publish(f, "p", 1);
	freeze(f, "p", "second");
	assert_int_equal(pathways_versions(f->store, f->arena, &key, &rows, &n),
			 0);
	assert_int_equal(n, 3);
	assert_int_equal(rows[0].version, 2);
	assert_string_equal(rows[0].name, "second");
	assert_int_equal(rows[0].created_ms, WALL_MS);
	assert_int_equal(rows[0].production, 1);
	assert_string_equal(rows[1].name, "first");
	assert_int_equal(rows[2].version, 0);
}

static void nothing_of_others_is_touched(void **state)
{
	struct fixture *f = *state;
	struct pathway_row key = { .id = "p", .org_id = "b" }, *rows, out;
	size_t n;

	insert(f, "p", "[1]");
	pathways_update(f->store, &key, fixture_reply(f));
	assert_int_equal(fixture_wait(f), -ENOENT);
	pathways_freeze(f->store, &key, "x", fixture_reply(f));
	assert_int_equal(fixture_wait(f), -ENOENT);
	pathways_delete(f->store, "b", "p", fixture_reply(f));
	assert_int_equal(fixture_wait(f), -ENOENT);
	assert_int_equal(pathways_get(f->store, f->arena, &key, &out), -ENOENT);
	assert_int_equal(pathways_list(f->store, f->arena, "b", &rows, &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(pathways_versions(f->store, f->arena, &key, &rows, &n),
			 0);
	assert_int_equal(n, 0);
	assert_string_equal(nodes_of(f, "p", 0), "[1]");
}

static void deletes_with_versions(void **state)
{
	struct fixture *f = *state;
	struct pathway_row *rows;
	size_t n;

	insert(f, "p", "[1]");
	insert(f, "q", "[2]");
	freeze(f, "p", "first");
	assert_int_equal(pathways_list(f->store, f->arena, "a", &rows, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(rows[0].nodes, "[1]");
	pathways_delete(f->store, "a", "p", fixture_reply(f));
	assert_int_equal(fixture_wait(f), 0);
	assert_null(nodes_of(f, "p", 0));
	assert_null(nodes_of(f, "p", 1));
	insert(f, "p", "[5]");
	assert_null(nodes_of(f, "p", 1));
	assert_int_equal(update(f, "none", "[]"), -ENOENT);
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(writes_the_working_copy),
		TEST(frozen_versions_stay),
		TEST(production_is_what_runs),
		TEST(lists_versions_newest_first),
		TEST(nothing_of_others_is_touched),
		TEST(deletes_with_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
