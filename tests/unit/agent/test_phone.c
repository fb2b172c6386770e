/* SPDX-License-Identifier: MIT */
/* Phone numbers at the door (decisions, "General") and countries of plans. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include "agent/call/phone.h"

static void parses_what_people_write(void **state)
{
	static const struct {
		const char *text, *number;
	} rows[] = {
		{ "+14155550100", "+14155550100" },
		{ "4155550100", "+14155550100" },
		{ "14155550100", "+14155550100" },
		{ "(415) 555-0100", "+14155550100" },
		{ " +1 (415) 555.0100 ", "+14155550100" },
		{ "+4915112345678", "+4915112345678" },
		{ "+1234567", "+1234567" },
		{ "+123456789012345", "+123456789012345" },
		{ "", NULL },
		{ "+", NULL },
		{ "+123456", NULL },
		{ "+1234567890123456", NULL },
		{ "24155550100", NULL },
		{ "415555010", NULL },
		{ "004915112345678", NULL },
		{ "+04155550100", NULL },
		{ "0155550100", NULL },
		{ "++14155550100", NULL },
		{ "1+4155550100", NULL },
		{ "415555010O", NULL },
		{ "4155550100;x", NULL },
		{ "anonymous", NULL },
	};
	char number[PHONE_SIZE];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int err = phone_parse(number, slice_of(rows[i].text));

		if (err != (rows[i].number ? 0 : -EINVAL))
			fail_msg("%s gave %d", rows[i].text, err);
		if (!err)
			assert_string_equal(number, rows[i].number);
	}
}

static void does_not_take_a_nul_for_a_sign(void **state)
{
	char number[PHONE_SIZE];

	assert_int_equal(phone_parse(number, SLICE("415555\0"
						   "0100")),
			 -EINVAL);
}

static void knows_the_countries_of_plans(void **state)
{
	static const struct {
		const char *number, *country;
	} rows[] = {
		{ "+14155550100", "US" }, { "+12125550100", "US" },
		{ "+14165550100", "CA" }, { "+19025550100", "CA" },
		{ "+18765550100", "" }, /* Jamaica: dear */
		{ "+12425550100", "" },	  { "+442071234567", "" },
		{ "+1415555010", "" },	  { "", "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(phone_country(rows[i].number),
				    rows[i].country);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_what_people_write),
		cmocka_unit_test(does_not_take_a_nul_for_a_sign),
		cmocka_unit_test(knows_the_countries_of_plans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
