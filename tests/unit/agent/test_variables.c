/* SPDX-License-Identifier: MIT */
/* Names without case, the built-in variables, and what a transition reports as
 * changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "agent/pathway/variables.h"
#include "core/json.h"
#include "core/loop.h"
#include "core/mem.h"
#include "tests/unit/agent/fixture_pathway.h"

static const int64_t at_ms = 1757698740123; /* 2025-09-12T17:39:00.123Z */

static struct variables *open_at(struct loop *loop, const char *initial,
				 const char *timezone)
{
	json_t *known = rig_json(initial);
	struct variables_options options = { .loop = loop,
					     .initial = known,
					     .call_id = "c-1",
					     .timezone = timezone };
	struct variables *variables = variables_open(&options);

	json_decref(known);
	return variables;
}

static void expect(const struct variables *variables, const char *name,
		   const char *expected)
{
	json_t *value = variables_find(variables, slice_of(name));
	char *text = value ? json_text(value) : mem_dup_str("(unknown)");

	assert_string_equal(text, expected);
	mem_free(text);
	json_decref(value);
}

static void builtins(void **state)
{
	static const struct {
		const char *name, *expected;
	} cases[] = {
		{ "now", "\"Friday, September 12, 2025 1:39 PM\"" },
		{ "NOW_utc", "\"Friday, September 12, 2025 5:39 PM\"" },
		{ "today", "\"Friday, September 12, 2025\"" },
		{ "timestamp", "\"2025-09-12T17:39:00.123Z\"" },
		{ "timezone", "\"America/New_York\"" },
		{ "call_id", "\"c-1\"" },
		{ "short_from", "\"5551234567\"" },
		{ "short_to", "\"+4930123456\"" },
		{ "lastUserMessage", "\"\"" },
		{ "prevNodePrompt", "\"\"" },
		{ "from", "\"+15551234567\"" },
		{ "unknown", "(unknown)" },
		{ "", "(unknown)" },
		{ "now.x", "(unknown)" },
		{ "from.x", "(unknown)" },
	};
	struct variables *variables;
	struct loop *loop;
	size_t i;

	loop_open_sim(&loop, at_ms);
	variables = open_at(loop, "{'from':'+15551234567','to':'+4930123456'}",
			    "America/New_York");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(variables, cases[i].name, cases[i].expected);
	variables_remember(variables, "yes");
	variables_leave_node(variables, "Ask");
	expect(variables, "lastusermessage", "\"yes\"");
	expect(variables, "prevNodePrompt", "\"Ask\"");
	assert_int_equal(json_object_size(variables_json(variables)), 2);
	variables_close(&variables);
	variables_close(&variables);
	loop_close(&loop);
}

static void own_ones_come_first(void **state)
{
	struct variables *variables;
	struct loop *loop;

	loop_open_sim(&loop, at_ms);
	variables = open_at(loop, "{'Now':'later','a':1}", "No/Where");
	expect(variables, "now", "\"later\"");
	expect(variables, "timezone", "\"UTC\"");
	expect(variables, "short_from", "(unknown)");
	variables_set(variables, "A", json_integer(2));
	expect(variables, "a", "2");
	assert_int_equal(json_object_size(variables_json(variables)), 2);
	variables_close(&variables);
	loop_close(&loop);
}

static void changes(void **state)
{
	struct variables *variables = open_at(NULL, "{'a':1,'b':{'c':2}}", "");
	json_t *found;
	char *text;

	assert_null(variables_changes(variables));
	variables_set(variables, "a", json_integer(1));
	assert_null(variables_changes(variables));
	variables_set(variables, "a", json_string("x"));
	variables_set(variables, "new", json_null());
	found = variables_changes(variables);
	text = json_text(found);
	assert_string_equal(text, "{\"modified\":{\"a\":\"x\"},\"added\":"
				  "{\"new\":null}}");
	mem_free(text);
	json_decref(found);
	assert_null(variables_changes(variables));
	variables_close(&variables);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(builtins),
		cmocka_unit_test(own_ones_come_first),
		cmocka_unit_test(changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
