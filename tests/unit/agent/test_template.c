/* SPDX-License-Identifier: MIT */
/* Placeholders: case, spaces, paths, unknown names, and the three places they
 * are filled into. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "agent/pathway/template.h"
#include "core/json.h"
#include "core/mem.h"
#include "tests/unit/agent/fixture_pathway.h"

static const char known[] =
	"{'Name':'Ann','n':4.5,'yes':true,'none':null,'code':'{{Name}}',"
	"'q':'a\\\\b\\n','path':'x/y z','five':'5','order':{'items':[{'price':"
	"9}]},'memory.summary':'flat'}";

static struct variables *open_known(void)
{
	json_t *initial = rig_json(known);
	struct variables_options options = { .initial = initial };
	struct variables *variables = variables_open(&options);

	json_decref(initial);
	return variables;
}

static void filled(void **state)
{
	static const struct {
		enum template_style style;
		const char *text, *expected;
	} cases[] = {
		{ TEMPLATE_TEXT, "", "" },
		{ TEMPLATE_TEXT, "Hi {{name}}!", "Hi Ann!" },
		{ TEMPLATE_TEXT, "{{ NAME }}{{\tName\n}}", "AnnAnn" },
		{ TEMPLATE_TEXT, "{{unknown}} {{name", "{{unknown}} {{name" },
		{ TEMPLATE_TEXT, "{{}} {{ }} { {name} }",
		  "{{}} {{ }} { {name} }" },
		{ TEMPLATE_TEXT, "{{a {{name}}", "{{a Ann" },
		{ TEMPLATE_TEXT, "{{{name}}}", "{Ann}" },
		{ TEMPLATE_TEXT, "{{n}} {{yes}} [{{none}}]", "4.5 true []" },
		{ TEMPLATE_TEXT, "{{code}}", "{{Name}}" }, /* once only */
		{ TEMPLATE_TEXT, "{{order.items.0.price}}", "9" },
		{ TEMPLATE_TEXT, "{{Order.Items[0].Price}}", "9" },
		{ TEMPLATE_TEXT, "{{order.items.1.price}}",
		  "{{order.items.1.price}}" },
		{ TEMPLATE_TEXT, "{{order}}", "{\"items\":[{\"price\":9}]}" },
		{ TEMPLATE_TEXT, "{{memory.summary}}", "flat" },
		{ TEMPLATE_TEXT, "{{SECRET.x}} {{..}} {{[}} {{a[]}}",
		  "{{SECRET.x}} {{..}} {{[}} {{a[]}}" },
		{ TEMPLATE_JSON, "{\"a\":\"{{q}}\"}", "{\"a\":\"a\\\\b\\n\"}" },
		{ TEMPLATE_JSON, "{\"a\":\"{{none}}\",\"b\":{{none}}}",
		  "{\"a\":\"\",\"b\":null}" },
		{ TEMPLATE_JSON, "{\"a\":{{five}},\"b\":{{name}}}",
		  "{\"a\":5,\"b\":\"Ann\"}" },
		{ TEMPLATE_JSON, "{\"\\\"\":\"{{order}}\",\"b\":{{order}}}",
		  "{\"\\\"\":\"{\\\"items\\\":[{\\\"price\\\":9}]}\",\"b\":"
		  "{\"items\":[{\"price\":9}]}}" },
		{ TEMPLATE_URL, "https://h/{{path}}?n={{n}}&x={{no}}",
		  "https://h/x%2Fy%20z?n=4.5&x={{no}}" },
		{ TEMPLATE_URL, "{{path}}/{{path}}", "x/y z/x%2Fy%20z" },
	};
	struct variables *variables = open_known();
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text =
			template_text(cases[i].text, cases[i].style, variables);

		assert_string_equal(text, cases[i].expected);
		mem_free(text);
	}
	variables_close(&variables);
}

static void json_keeps_types(void **state)
{
	struct variables *variables = open_known();
	json_t *given = rig_json("{'a':'{{n}}','b':['{{order.items}}','n is "
				 "{{n}}','{{no}}'],'c':7,'d':null}");
	json_t *out = template_json(given, variables);
	char *text = json_text(out);

	assert_string_equal(text,
			    "{\"a\":4.5,\"b\":[[{\"price\":9}],\"n is 4.5\","
			    "\"{{no}}\"],\"c\":7,\"d\":null}");
	mem_free(text);
	json_decref(out);
	json_decref(given);
	variables_close(&variables);
}

static void too_long_is_nothing(void **state)
{
	struct variables *variables = open_known();
	size_t len = 300 * 1024;
	char *text = mem_new(len + 1);
	char *out;

	memset(text, 'x', len);
	out = template_text(text, TEMPLATE_TEXT, variables);
	assert_string_equal(out, "");
	mem_free(out);
	out = template_text(NULL, TEMPLATE_TEXT, variables);
	assert_string_equal(out, "");
	mem_free(out);
	mem_free(text);
	variables_close(&variables);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filled),
		cmocka_unit_test(json_keeps_types),
		cmocka_unit_test(too_long_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
