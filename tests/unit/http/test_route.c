/* SPDX-License-Identifier: MIT */
/* http/route over the sets of http/api: each route is found by its own pattern
 * and none hides another; HEAD is GET; 405 lists every method of the path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "core/buffer.h"
#include "http/route.h"

/* The pattern with "value-0", "value-1" in place of its names. */
static size_t fill(struct buffer *path, const char *pattern)
{
	struct slice rest = slice_of(pattern + 1);
	size_t n = 0;

	buffer_init(path, 1024);
	while (rest.ptr) {
		struct slice part = slice_cut(&rest, '/');

		buffer_add_str(path, "/");
		if (part.len && part.ptr[0] == '{')
			buffer_printf(path, "value-%zu", n++);
		else
			buffer_add(path, part);
	}
	return n;
}

typedef void check_fn(const struct route *route, struct slice path, size_t n);

static void for_all(check_fn *check)
{
	size_t n_sets, checked = 0;
	const struct route_set *const *sets = route_sets(&n_sets);

	for (size_t i = 0; i < n_sets; i++) {
		assert_true(sets[i]->n);
		for (size_t j = 0; j < sets[i]->n; j++) {
			const struct route *route = &sets[i]->routes[j];
			struct buffer path;
			size_t n = fill(&path, route->pattern);

			check(route, buffer_slice(&path), n);
			buffer_reset(&path);
			checked++;
		}
	}
	assert_true(checked > 20);
}

static void check_itself(const struct route *route, struct slice path, size_t n)
{
	struct route_match match;
	char want[20];

	route_find(&match, slice_of(route->method), path);
	if (match.route != route)
		fail_msg("%s %s is hidden by %s", route->method, route->pattern,
			 match.route ? match.route->pattern : "nothing");
	assert_int_equal(match.n_params, n);
	for (size_t i = 0; i < n; i++) {
		snprintf(want, sizeof(want), "value-%zu", i);
		assert_true(slice_eq(match.params[i], slice_of(want)));
	}
}

static void test_each_finds_itself(void **state)
{
	for_all(check_itself);
}

static void check_form(const struct route *route, struct slice path, size_t n)
{
	static const char *const methods[] = { "GET", "POST", "PATCH", "PUT",
					       "DELETE" };
	size_t i;

	for (i = 0; i < 5 && strcmp(methods[i], route->method) != 0; i++)
		;
	assert_true(i < 5);
	assert_int_equal(route->pattern[0], '/');
	assert_true(n <= 4);
	assert_non_null(route->handle);
	assert_true(strlen(route->doc) > 5);
	assert_false(route->flags & ROUTE_OPEN && route->flags & ROUTE_SIP);
}

static void test_form(void **state)
{
	for_all(check_form);
}

static void check_head(const struct route *route, struct slice path, size_t n)
{
	struct route_match get, head;

	route_find(&get, SLICE("GET"), path);
	route_find(&head, SLICE("HEAD"), path);
	assert_ptr_equal(head.route, get.route);
}

static void test_head_is_get(void **state)
{
	for_all(check_head);
}

static bool lists(const char *allow, const char *method)
{
	struct slice rest = slice_of(allow);

	while (rest.len) {
		struct slice one = slice_trim(slice_cut(&rest, ','));

		if (slice_eq(one, slice_of(method)))
			return true;
	}
	return false;
}

static void check_allow(const struct route *route, struct slice path, size_t n)
{
	struct route_match match, again;

	route_find(&match, SLICE("TRACE"), path);
	assert_null(match.route);
	assert_true(lists(match.allow, route->method));
	assert_int_equal(lists(match.allow, "GET"), lists(match.allow, "HEAD"));
	assert_false(lists(match.allow, "TRACE"));
	route_find(&again, SLICE("get"), path); /* case matters */
	assert_null(again.route);
	assert_string_equal(again.allow, match.allow);
}

static void test_allow(void **state)
{
	for_all(check_allow);
}

static void check_neighbours(const struct route *route, struct slice path,
			     size_t n)
{
	struct route_match match;
	struct buffer other;

	buffer_init(&other, 1024);
	buffer_add(&other, path);
	buffer_add_str(&other, "/");
	route_find(&match, slice_of(route->method), buffer_slice(&other));
	assert_null(match.route);
	buffer_clear(&other);
	buffer_add_str(&other, "/");
	buffer_add(&other, path);
	route_find(&match, slice_of(route->method), buffer_slice(&other));
	assert_null(match.route);
	buffer_reset(&other);
}

static void test_slashes_matter(void **state)
{
	for_all(check_neighbours);
}

static void test_unknown(void **state)
{
	static const char *const paths[] = { "/",	    "/v1",
					     "/v1/",	    "/v2/calls",
					     "/v1/nothing", "v1/calls",
					     "/V1/CALLS" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct route_match match;

		route_find(&match, SLICE("GET"), slice_of(paths[i]));
		assert_null(match.route);
		assert_string_equal(match.allow, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_finds_itself),
		cmocka_unit_test(test_form),
		cmocka_unit_test(test_head_is_get),
		cmocka_unit_test(test_allow),
		cmocka_unit_test(test_slashes_matter),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
