/* SPDX-License-Identifier: MIT */
/* A SIP configuration per number and direction: replaced in place with id and
 * created_ms kept; a number belongs to one organisation in both directions. */
#include "fixture.h"
#include "store/trunks.h"

static struct trunk_row trunk_of(const char *org_id, const char *number,
				 enum trunk_direction direction)
{
	return (struct trunk_row){
		.id = "t1",
		.org_id = org_id,
		.number = number,
		.direction = direction,
		.sip_endpoint = "sip:carrier.example:5071",
		.host = "carrier.example",
		.port = 65535,
		.password = SLICE("sealed"),
		.created_ms = 1,
		.updated_ms = 1,
		.inbound_id = 7000000000,
	};
}

static int put(struct fixture *f, struct trunk_row row)
{
	trunks_put(f->store, &row, fixture_reply(f));
	return fixture_wait(f);
}

static int get(struct fixture *f, struct trunk_row key, struct trunk_row *out)
{
	return trunks_get(f->store, f->arena, &key, out);
}

static void keeps_every_field(void **state)
{
	struct fixture *f = *state;
	struct trunk_row row = trunk_of("a", "+1", TRUNK_OUTBOUND), out;

	row.username = "user";
	row.headers = "{}";
	row.options = "{\"x\":1}";
	assert_int_equal(put(f, row), 0);
	assert_int_equal(get(f, row, &out), 0);
	assert_string_equal(out.id, "t1");
	assert_string_equal(out.sip_endpoint, row.sip_endpoint);
	assert_string_equal(out.host, "carrier.example");
	assert_int_equal(out.port, 65535);
	assert_string_equal(out.username, "user");
	assert_true(slice_eq(out.password, SLICE("sealed")));
	assert_string_equal(out.headers, "{}");
	assert_string_equal(out.options, "{\"x\":1}");
	assert_int_equal(out.direction, TRUNK_OUTBOUND);
	assert_true(out.inbound_id == 7000000000);
}

static void replaces_and_keeps_its_id(void **state)
{
	struct fixture *f = *state;
	struct trunk_row row = trunk_of("a", "+1", TRUNK_OUTBOUND), out;

	put(f, row);
	row.id = "t2";
	row.created_ms = row.updated_ms = 9;
	row.host = "other.example";
	row.password = (struct slice){ 0 };
	assert_int_equal(put(f, row), 0);
	assert_int_equal(get(f, row, &out), 0);
	assert_string_equal(out.id, "t1");
	assert_int_equal(out.created_ms, 1);
	assert_int_equal(out.updated_ms, 9);
	assert_string_equal(out.host, "other.example");
	assert_int_equal(out.password.len, 0);
}

static void number_belongs_to_one_organisation(void **state)
{
	struct fixture *f = *state;
	struct trunk_row key = { .number = "+1", .direction = TRUNK_INBOUND };
	struct trunk_row out;

	assert_int_equal(put(f, trunk_of("a", "+1", TRUNK_OUTBOUND)), 0);
	assert_int_equal(put(f, trunk_of("b", "+1", TRUNK_OUTBOUND)), -EEXIST);
	assert_int_equal(put(f, trunk_of("b", "+1", TRUNK_INBOUND)), -EEXIST);
	assert_int_equal(put(f, trunk_of("a", "+1", TRUNK_INBOUND)), 0);
	assert_int_equal(trunks_get(f->store, f->arena, &key, &out), 0);
	assert_string_equal(out.org_id, "a");
}

static void is_free_once_both_directions_are_gone(void **state)
{
	struct fixture *f = *state;
	struct trunk_row in = trunk_of("a", "+1", TRUNK_INBOUND);
	struct trunk_row out = trunk_of("a", "+1", TRUNK_OUTBOUND);

	put(f, in);
	put(f, out);
	trunks_delete(f->store, &in, fixture_reply(f));
	assert_int_equal(fixture_wait(f), 0);
	assert_int_equal(put(f, trunk_of("b", "+1", TRUNK_INBOUND)), -EEXIST);
	trunks_delete(f->store, &out, fixture_reply(f));
	assert_int_equal(fixture_wait(f), 0);
	assert_int_equal(put(f, trunk_of("b", "+1", TRUNK_INBOUND)), 0);
}

static void deletes_its_own_alone(void **state)
{
	struct fixture *f = *state;
	struct trunk_row other = trunk_of("b", "+1", TRUNK_INBOUND), out;

	put(f, trunk_of("a", "+1", TRUNK_INBOUND));
	trunks_delete(f->store, &other, fixture_reply(f));
	assert_int_equal(fixture_wait(f), -ENOENT);
	other.org_id = NULL;
	assert_int_equal(get(f, other, &out), 0);
	assert_string_equal(out.org_id, "a");
}

static void gets_for_an_organisation_or_any(void **state)
{
	static const struct {
		const char *org_id;
		int err;
	} cases[] = { { "a", 0 }, { "b", -ENOENT }, { NULL, 0 } };
	struct fixture *f = *state;
	struct trunk_row out;
	size_t i;

	put(f, trunk_of("a", "+1", TRUNK_INBOUND));
	for (i = 0; i < 3; i++)
		assert_int_equal(
			get(f, trunk_of(cases[i].org_id, "+1", TRUNK_INBOUND),
			    &out),
			cases[i].err);
	assert_int_equal(get(f, trunk_of(NULL, "+1", TRUNK_OUTBOUND), &out),
			 -ENOENT);
}

static void lists_and_picks_the_first_outbound(void **state)
{
	struct fixture *f = *state;
	struct trunk_row row = trunk_of("a", "+1", TRUNK_OUTBOUND), *rows;
	const char *first;
	size_t n;

	assert_null(trunks_first_outbound(f->store, f->arena, "a"));
	row.created_ms = 5;
	put(f, row);
	put(f, trunk_of("a", "+3", TRUNK_OUTBOUND));
	put(f, trunk_of("a", "+0", TRUNK_INBOUND));
	put(f, trunk_of("b", "+9", TRUNK_OUTBOUND));
	first = trunks_first_outbound(f->store, f->arena, "a");
	assert_string_equal(first, "+3");
	assert_int_equal(trunks_list(f->store, f->arena, "a", &rows, &n), 0);
	assert_int_equal(n, 3);
	assert_string_equal(rows[0].number, "+0");
	assert_string_equal(rows[2].number, "+3");
}

static void put_to(struct fixture *f, const char *number, const char *host,
		   uint16_t port)
{
	struct trunk_row row = trunk_of("a", number, TRUNK_OUTBOUND);

	row.host = host;
	row.port = port;
	assert_int_equal(put(f, row), 0);
}

static void targets_once_each_in_pages(void **state)
{
	struct fixture *f = *state;
	struct trunk_target none = { "", 0 }, page[2];
	struct trunk_row in = trunk_of("b", "+7", TRUNK_INBOUND);
	size_t n = 2;

	in.host = NULL;
	assert_int_equal(put(f, in), 0);
	assert_int_equal(trunks_targets(f->store, f->arena, &none, page, &n),
			 0);
	assert_int_equal(n, 0);
	put_to(f, "+1", "b.example", 0);
	put_to(f, "+2", "b.example", 0);
	put_to(f, "+3", "a.example", 9);
	put_to(f, "+4", "b.example", 5061);
	n = 2;
	assert_int_equal(trunks_targets(f->store, f->arena, &none, page, &n),
			 0);
	assert_int_equal(n, 2);
	assert_string_equal(page[0].host, "a.example");
	assert_int_equal(page[0].port, 9);
	assert_string_equal(page[1].host, "b.example");
	assert_int_equal(page[1].port, 0);
	none = page[1];
	assert_int_equal(trunks_targets(f->store, f->arena, &none, page, &n),
			 0);
	assert_int_equal(n, 1);
	assert_int_equal(page[0].port, 5061);
}

static void numbers_with_both_directions(void **state)
{
	struct fixture *f = *state;
	struct trunk_page page = { "a", "", 2 };
	struct trunk_number *rows;
	struct trunk_row in = trunk_of("a", "+1", TRUNK_INBOUND);
	size_t n;

	in.sip_endpoint = in.host = NULL;
	in.port = 0;
	put(f, in);
	put(f, trunk_of("a", "+1", TRUNK_OUTBOUND));
	in.number = "+2";
	put(f, in);
	put(f, trunk_of("a", "+3", TRUNK_OUTBOUND));
	put(f, trunk_of("b", "+4", TRUNK_OUTBOUND));
	assert_int_equal(trunks_numbers(f->store, f->arena, &page, &rows, &n),
			 0);
	assert_int_equal(n, 2);
	assert_string_equal(rows[0].number, "+1");
	assert_true(rows[0].is_inbound && rows[0].is_outbound);
	assert_string_equal(rows[0].sip_endpoint, "sip:carrier.example:5071");
	assert_string_equal(rows[0].host, "carrier.example");
	assert_int_equal(rows[0].port, 65535);
	assert_true(rows[1].is_inbound && !rows[1].is_outbound);
	assert_null(rows[1].sip_endpoint);
	page.after = "+2";
	assert_int_equal(trunks_numbers(f->store, f->arena, &page, &rows, &n),
			 0);
	assert_int_equal(n, 1);
	assert_string_equal(rows[0].number, "+3");
	assert_true(!rows[0].is_inbound && rows[0].is_outbound);
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(keeps_every_field),
		TEST(replaces_and_keeps_its_id),
		TEST(number_belongs_to_one_organisation),
		TEST(is_free_once_both_directions_are_gone),
		TEST(deletes_its_own_alone),
		TEST(gets_for_an_organisation_or_any),
		TEST(lists_and_picks_the_first_outbound),
		TEST(targets_once_each_in_pages),
		TEST(numbers_with_both_directions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
