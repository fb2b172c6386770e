/* SPDX-License-Identifier: MIT */
/* What packets tell about their way: loss over wraps, reordering, restarts,
 * jitter (RFC 3550, A.1, A.3, A.8). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "media/source.h"

static void add(struct source *source, uint32_t index)
{
	source_add(source, (uint16_t)index, index * 160, index * 20000ull);
}

static void test_loss_over_wraps(void **state)
{
	struct source source = { .ssrc = 1 };

	for (uint32_t i = 65000; i < 65000 + 200000; i++)
		if (i % 100)
			add(&source, i);
	assert_in_range(source_lost(&source), 1999, 2000);
	assert_int_equal(source.received, 198000);
	assert_int_equal(source.reordered, 0);
	assert_true(source_jitter_ms(&source) < 0.01);
}

static void test_reordered_is_not_lost(void **state)
{
	struct source source = { .ssrc = 1 };

	for (uint32_t i = 10; i < 1010; i += 2) {
		add(&source, i + 1);
		add(&source, i);
	}
	assert_int_equal(source_lost(&source), 0);
	assert_int_equal(source.reordered, 500);
	assert_true(source_add(&source, 1010, 0, 0));
	assert_false(source_add(&source, 1009, 0, 0));
}

static void test_fraction_is_of_the_last_report(void **state)
{
	struct source source = { .ssrc = 1 };

	for (uint32_t i = 0; i < 100; i++)
		if (i % 4 != 1)
			add(&source, i);
	assert_int_equal(source_fraction(&source), 64);
	for (uint32_t i = 100; i < 200; i++)
		add(&source, i);
	assert_int_equal(source_fraction(&source), 0);
	assert_int_equal(source_fraction(&source), 0);
}

static void test_restart_keeps_what_was_lost(void **state)
{
	struct source source = { .ssrc = 1 };

	add(&source, 1);
	add(&source, 11);
	assert_int_equal(source_lost(&source), 9);
	add(&source, 31011); /* far off: another start */
	assert_int_equal(source_lost(&source), 9);
	source_restart(&source, 2);
	assert_int_equal(source_lost(&source), 9);
	assert_int_equal(source.ssrc, 2);
	add(&source, 5);
	add(&source, 7);
	assert_int_equal(source_lost(&source), 10);
}

static void test_jitter(void **state)
{
	struct source source = { .ssrc = 1 };

	/* Every other packet 8 ms late: transit changes by 8 ms each time. */
	for (uint32_t i = 0; i < 500; i++)
		source_add(&source, (uint16_t)i, i * 160,
			   i * 20000ull + (i % 2 ? 8000 : 0));
	assert_true(source_jitter_ms(&source) > 7.9);
	assert_true(source_jitter_ms(&source) < 8.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loss_over_wraps),
		cmocka_unit_test(test_reordered_is_not_lost),
		cmocka_unit_test(test_fraction_is_of_the_last_report),
		cmocka_unit_test(test_restart_keeps_what_was_lost),
		cmocka_unit_test(test_jitter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
