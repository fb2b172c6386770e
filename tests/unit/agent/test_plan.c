/* SPDX-License-Identifier: MIT */
/* Where a plan lets an organisation call (decisions, "Calls":
 * allowed_countries). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "agent/call/plan.h"

static void judges_by_country(void **state)
{
	static const struct {
		const char *countries, *number;
		bool is_allowed;
	} rows[] = {
		{ NULL, "+4930123456", true },
		{ "", "+4930123456", true },
		{ " , ", "+4930123456", true },
		{ "US", "+14155550100", true },
		{ "US", "+14165550100", false },
		{ "US, CA", "+14165550100", true },
		{ "US,CA", "+4930123456", false },
		{ "US,CA", "+18765550100", false }, /* Jamaica */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(plan_allows(rows[i].countries, rows[i].number),
				 rows[i].is_allowed);
}

static void knows_whether_it_limits(void **state)
{
	assert_false(plan_has_limit(NULL));
	assert_false(plan_has_limit(" ,"));
	assert_true(plan_has_limit("US"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(judges_by_country),
		cmocka_unit_test(knows_whether_it_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
