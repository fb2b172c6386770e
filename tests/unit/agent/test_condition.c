/* SPDX-License-Identifier: MIT */
/* The operators of responsePathways: as text unless both are numbers. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent/pathway/condition.h"
#include "tests/unit/agent/fixture_pathway.h"

static void compared(void **state)
{
	static const struct {
		const char *value, *op, *other;
		bool holds;
	} cases[] = {
		{ "['a']", "==", "a", false },
		{ "['a','b']", "contains", "b", true },
		{ "['ab']", "contains", "b", false },
		{ "[5]", "contains", "5", true },
		{ "{'k':1}", "contains", "k", true },
		{ "'abc'", "contains", "bc", true },
		{ "'abc'", "Contains ", "BC", false },
		{ "5", "contains", "5", true },
		{ "'a'", "==", "a", true },
		{ "'a'", "==", "A", false },
		{ "'a'", "!=", "b", true },
		{ "10", ">", "9", true },
		{ "'10'", ">", "9", true }, /* text that is a number */
		{ "'10'", ">", "9a", false }, /* as text */
		{ "1.0", "==", "1", true },
		{ "7", "<=", "7", true },
		{ "7", ">=", "7.5", false },
		{ "-1", "<", "0", true },
		{ "'b'", "<", "c", true },
		{ "true", "==", "true", true },
		{ "false", "!=", "true", true },
		{ "null", "is null", "", true },
		{ "null", " IS NULL ", "", true },
		{ "null", "is not null", "", false },
		{ "''", "is not null", "", true },
		{ "0", "is null", "", false },
		{ "null", "==", "", false },
		{ "null", "!=", "x", true },
		{ "null", "<", "1", false },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *value = rig_json(cases[i].value);
		enum condition_op op;

		assert_int_equal(condition_parse(&op, cases[i].op), 0);
		if (condition_holds(value, op, cases[i].other) !=
		    cases[i].holds)
			fail_msg("%s %s %s", cases[i].value, cases[i].op,
				 cases[i].other);
		json_decref(value);
	}
	assert_true(condition_holds(NULL, CONDITION_IS_NULL, ""));
}

static void unknown(void **state)
{
	static const char *const cases[] = { "", "=", "===", "is", "~", NULL };
	enum condition_op op;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(condition_parse(&op, cases[i]), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compared),
		cmocka_unit_test(unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
