/* SPDX-License-Identifier: MIT */
/* Local time from TZif files and from the rule at their end (RFC 8536). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent/pathway/zone.h"

static void files(void **state)
{
	static const struct {
		const char *name;
		int64_t at;
		int32_t offset;
	} cases[] = {
		{ NULL, 0, 0 },
		{ "", 1757684340, 0 },
		{ "UTC", 1757684340, 0 },
		{ "America/New_York", 1757684340, -4 * 3600 },
		{ "America/New_York", 1762063199, -4 * 3600 }, /* 2025-11-02 */
		{ "America/New_York", 1762063200, -5 * 3600 },
		{ "America/New_York", 2540000000, -4 * 3600 }, /* 2050 */
		{ "America/New_York", -3000000000, -17762 }, /* local mean */
		{ "Europe/Berlin", 1757684340, 7200 },
		{ "Asia/Kathmandu", 1757684340, 20700 },
		{ "America/Argentina/Buenos_Aires", 1757684340, -10800 },
	};
	struct zone *zone;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(zone_open(&zone, cases[i].name), 0);
		assert_int_equal(zone_offset(zone, cases[i].at),
				 cases[i].offset);
		zone_close(&zone);
		assert_null(zone);
	}
}

static void names_refused(void **state)
{
	static const struct {
		const char *name;
		int err;
	} cases[] = {
		{ "Nowhere/Town", -ENOENT },
		{ "../../../etc/passwd", -ENOENT },
		{ "/etc/passwd", -ENOENT },
		{ "Europe/Ber lin", -ENOENT },
		{ "zone_tab_is_no_zone", -ENOENT },
		{ "Europe", -EINVAL },
	};
	struct zone *zone;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(zone_open(&zone, cases[i].name), cases[i].err);
		assert_null(zone);
	}
}

static void rules(void **state)
{
	static const struct {
		const char *rule;
		int64_t at;
		int32_t offset;
	} cases[] = {
		{ "EST5", 0, -5 * 3600 },
		{ "<+0330>-3:30", 0, 12600 },
		{ "EST5EDT,M3.2.0,M11.1.0", 1741503599, -5 * 3600 },
		{ "EST5EDT,M3.2.0,M11.1.0", 1741503600, -4 * 3600 },
		{ "EST5EDT,M3.2.0,M11.1.0", 1762063199, -4 * 3600 },
		{ "EST5EDT,M3.2.0,M11.1.0", 1762063200, -5 * 3600 },
		{ "CET-1CEST,M3.5.0,M10.5.0/3", 1743296399, 3600 },
		{ "CET-1CEST,M3.5.0,M10.5.0/3", 1743296400, 7200 },
		{ "CET-1CEST,M3.5.0,M10.5.0/3", 1761440399, 7200 },
		{ "CET-1CEST,M3.5.0,M10.5.0/3", 1761440400, 3600 },
		/* the south: summer spans the new year */
		{ "AEST-10AEDT,M10.1.0,M4.1.0/3", 1735689600, 39600 },
		{ "AEST-10AEDT,M10.1.0,M4.1.0/3", 1751328000, 36000 },
		{ "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 1751328000, -3600 },
	};
	static const char *const bad[] = {
		"",
		"E5",
		"EST",
		"EST5EDT",
		"EST5EDT,J60,J300",
		"EST5EDT,M13.1.0,M1.1.0",
		"EST5EDT,M3.2.0",
		"EST5EDT,M3.2.0,M11.1.0x",
	};
	int32_t offset;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(zone_rule_offset(&offset,
						  slice_of(cases[i].rule),
						  cases[i].at),
				 0);
		assert_int_equal(offset, cases[i].offset);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(zone_rule_offset(&offset, slice_of(bad[i]), 0),
				 -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files),
		cmocka_unit_test(names_refused),
		cmocka_unit_test(rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
