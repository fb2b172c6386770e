/* SPDX-License-Identifier: MIT */
/* How long the caller waited, per turn and part ("Turn latency is measured on
 * the wire"). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "agent/dialogue/latency.h"
#include "core/json.h"
#include "core/mem.h"

static void expect_json(const struct latency *latency, const char *wanted)
{
	json_t *json = latency_json(latency);
	char *text = json_text(json);

	assert_string_equal(text, wanted);
	mem_free(text);
	json_decref(json);
}

static void mark_all(struct latency *latency, uint64_t at_us)
{
	latency_mark(latency, LATENCY_TOTAL, at_us);
	latency_mark(latency, LATENCY_END_OF_TURN, at_us + 500000);
	latency_mark(latency, LATENCY_RECOGNISER, at_us + 520000);
	latency_mark(latency, LATENCY_MODEL, at_us + 530000);
	latency_mark(latency, LATENCY_SYNTHESISER, at_us + 570000);
	latency_mark(latency, LATENCY_PLAYOUT, at_us + 580000);
}

static void measures_a_turn_and_its_parts(void **state)
{
	struct latency latency;

	latency_init(&latency);
	expect_json(&latency, "null");
	mark_all(&latency, 1000000);
	assert_true(latency_is_due(&latency));
	assert_int_equal(latency_finish(&latency, 1600000), 600);
	assert_false(latency_is_due(&latency));
	expect_json(&latency,
		    "{\"p50\":600,\"p95\":600,\"p99\":600,\"turns\":1,"
		    "\"parts\":{"
		    "\"end_of_turn\":{\"p50\":500,\"p95\":500,\"p99\":500},"
		    "\"recogniser\":{\"p50\":20,\"p95\":20,\"p99\":20},"
		    "\"model\":{\"p50\":10,\"p95\":10,\"p99\":10},"
		    "\"synthesiser\":{\"p50\":40,\"p95\":40,\"p99\":40},"
		    "\"playout\":{\"p50\":10,\"p95\":10,\"p99\":10}},"
		    "\"per_turn\":[{\"total\":600,\"end_of_turn\":500,"
		    "\"recogniser\":20,\"model\":10,\"synthesiser\":40,"
		    "\"playout\":10}]}");
	latency_reset(&latency);
}

static void leaves_out_what_is_no_answer(void **state)
{
	struct latency latency;

	latency_init(&latency);
	/* The agent spoke of its own accord: nobody had a turn. */
	latency_mark(&latency, LATENCY_MODEL, 5000);
	latency_mark(&latency, LATENCY_PLAYOUT, 6000);
	assert_false(latency_is_due(&latency));
	assert_int_equal(latency_finish(&latency, 7000), -1);
	/* A stage is missing. */
	latency_mark(&latency, LATENCY_TOTAL, 1000);
	latency_mark(&latency, LATENCY_MODEL, 5000);
	assert_int_equal(latency_finish(&latency, 7000), -1);
	/* Given up half-way. */
	mark_all(&latency, 1000);
	latency_abandon(&latency);
	assert_int_equal(latency_finish(&latency, 9000000), -1);
	/* The frame that was heard is older than the turn. */
	mark_all(&latency, 1000);
	assert_int_equal(latency_finish(&latency, 999), -1);
	expect_json(&latency, "null");
	latency_reset(&latency);
}

static void counts_from_the_latest_turn(void **state)
{
	struct latency latency;

	latency_init(&latency);
	mark_all(&latency, 1000000);
	mark_all(&latency, 3000000);
	/* The first of a stage counts, not the second line's. */
	latency_mark(&latency, LATENCY_MODEL, 9000000);
	assert_int_equal(latency_finish(&latency, 3700000), 700);
	latency_reset(&latency);
}

static void ranks_percentiles(void **state)
{
	struct latency latency;
	json_t *json;

	latency_init(&latency);
	for (uint64_t i = 1; i <= 100; i++) {
		mark_all(&latency, 1000000);
		assert_int_equal(latency_finish(&latency, 1580000 + i * 1000),
				 580 + (int)i);
	}
	json = latency_json(&latency);
	assert_int_equal(json_integer_value(json_object_get(json, "p50")), 630);
	assert_int_equal(json_integer_value(json_object_get(json, "p95")), 675);
	assert_int_equal(json_integer_value(json_object_get(json, "p99")), 679);
	json_decref(json);
	latency_reset(&latency);
}

static void keeps_a_thousand_turns(void **state)
{
	struct latency latency;

	latency_init(&latency);
	for (unsigned i = 0; i < LATENCY_TURNS_MAX; i++) {
		mark_all(&latency, 1000000);
		assert_int_equal(latency_finish(&latency, 2000000), 1000);
	}
	mark_all(&latency, 1000000);
	assert_int_equal(latency_finish(&latency, 2000000), -1);
	assert_int_equal(latency.n, LATENCY_TURNS_MAX);
	latency_reset(&latency);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(measures_a_turn_and_its_parts),
		cmocka_unit_test(leaves_out_what_is_no_answer),
		cmocka_unit_test(counts_from_the_latest_turn),
		cmocka_unit_test(ranks_percentiles),
		cmocka_unit_test(keeps_a_thousand_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
