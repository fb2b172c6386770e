/* SPDX-License-Identifier: MIT */
/* sip/ua, sip/session and sip/referral under sequences nobody planned
 * (fixture_chaos.h), over TLS as it is: nothing may crash, leak, or stay
 * behind. tests/fuzz/fuzz_sip_sequence.c goes further. */
#include "fixture_chaos.h"

enum { STEPS = 600, SEEDS = 12 };

static void test_anything_in_any_order(void **state)
{
	struct chaos chaos;

	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		chaos_open(&chaos, *state, (struct slice){ 0 },
			   seed * 2654435761u);
		for (int i = 0; i < STEPS; i++)
			chaos_step(&chaos);
		chaos_close(&chaos); /* all counts are zero again */
	}
}

/* Bytes choose alike, and an end of them is no end of the world. */
static void test_bytes_choose(void **state)
{
	char bytes[512];
	struct chaos chaos;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 37 + i / 7);
	for (size_t len = 0; len <= sizeof(bytes); len += 64) {
		chaos_open(&chaos, *state, slice_make(bytes, len), 0);
		while (chaos_has_more(&chaos))
			chaos_step(&chaos);
		chaos_close(&chaos);
	}
}

#define with_world(test)                                                       \
	cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_world(test_anything_in_any_order),
		with_world(test_bytes_choose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
