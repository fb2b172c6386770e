/* SPDX-License-Identifier: MIT */
/* New calls stop before those that are up suffer: 503 to incoming ones, queued
 * ones wait (design, "ports", "INVITE in": no capacity; limits). */
#include <string.h>
#include "agent/call/load.h"
#include "core/mem.h"
#include "tests/unit/agent/fixture_house.h"

enum { ALL_PAIRS = 256, TAKEN = ALL_PAIRS - 64 };

static struct stream *taken[TAKEN];

static struct load_stats stats_of(const struct house *house)
{
	struct dispatch_stats stats;

	dispatch_stats(house->service.dispatch, &stats);
	return stats.load;
}

/* Leaves 64 free pairs. */
static void take_ports(struct house *house)
{
	static const struct stream_events none;

	house_stop(house);
	house->media_ports = 2 * ALL_PAIRS;
	house_start(house);
	for (unsigned i = 0; i < TAKEN; i++)
		assert_int_equal(stream_open(&taken[i], house->service.media,
					     &none, NULL),
				 0);
}

static void give_ports(void)
{
	for (unsigned i = 0; i < TAKEN; i++)
		stream_close(&taken[i]);
}

static void refuses_before_the_ports_run_out(void **state)
{
	struct house *house = *state;
	struct far_leg *first, *second;

	house_put_number(house, "{'task':'Talk.'}");
	take_ports(house);
	first = house_dial_in(house, HOUSE_NUMBER);
	house_run(house, 500);
	assert_true(first->is_up);
	assert_int_equal(stats_of(house).refused[LOAD_PORTS], 0);
	second = house_dial_in(house, HOUSE_NUMBER);
	house_run(house, 500);
	assert_true(second->has_ended);
	assert_string_equal(second->reason, "Service Unavailable");
	assert_int_equal(stats_of(house).refused[LOAD_PORTS], 1);
	assert_true(stats_of(house).is_full);
	assert_false(first->has_ended);
	give_ports();
	second = house_dial_in(house, HOUSE_NUMBER);
	house_run(house, 500);
	assert_true(second->is_up);
	assert_false(stats_of(house).is_full);
}

static void holds_queued_calls_back(void **state)
{
	struct house *house = *state;
	const char *id[3];

	take_ports(house);
	for (unsigned i = 0; i < 3; i++)
		id[i] = house_queue(house, "{'task':'Talk.'}");
	house_run(house, 2000);
	assert_string_equal(house_call(house, id[0]).queue_status, "started");
	assert_string_equal(house_call(house, id[1]).queue_status, "queued");
	assert_string_equal(house_call(house, id[2]).queue_status, "queued");
	stream_close(&taken[0]);
	house_run(house, 100);
	assert_string_equal(house_call(house, id[1]).queue_status, "started");
	assert_string_equal(house_call(house, id[2]).queue_status, "queued");
	give_ports();
	house_run(house, 100);
	assert_string_equal(house_call(house, id[2]).queue_status, "started");
}

static void refuses_when_the_house_is_full(void **state)
{
	struct house *house = *state;
	struct far_leg *last;

	house_put_org(house, 100);
	house_put_number(house, "{'task':'Talk.'}");
	for (unsigned i = 0; i < 12; i++) /* agent.max_calls */
		house_dial_in(house, HOUSE_NUMBER);
	house_run(house, 1000);
	assert_int_equal(dispatch_live(house->service.dispatch, NULL), 12);
	last = house_dial_in(house, HOUSE_NUMBER);
	house_run(house, 500);
	assert_true(last->has_ended);
	assert_int_equal(stats_of(house).refused[LOAD_CALLS], 1);
}

static void measures_lateness(void **state)
{
	struct load_meter meter = { 0 };

	assert_true(load_meter_ms(&meter) == 0);
	for (unsigned i = 0; i < LOAD_SAMPLES; i++)
		load_meter_add(&meter, 10000);
	assert_true(load_meter_ms(&meter) == 10);
	for (unsigned i = 0; i < LOAD_SAMPLES; i++)
		load_meter_add(&meter, i % 2 ? 49000 : 0);
	assert_true(load_meter_ms(&meter) == 24.5);
	for (unsigned i = 0; i < LOAD_SAMPLES; i++)
		load_meter_add(&meter, 0);
	assert_true(load_meter_ms(&meter) == 0);
}

/* What came due while nothing ran was late, too, each a bit less. */
static void counts_a_standstill_in_full(void **state)
{
	struct load_meter meter = { 0 };

	load_meter_add(&meter, 120000); /* and 70 and 20 */
	assert_true(load_meter_ms(&meter) == 210.0 / LOAD_SAMPLES);
	memset(&meter, 0, sizeof(meter));
	load_meter_add(&meter, UINT64_MAX);
	assert_true(load_meter_ms(&meter) > 400);
	for (unsigned i = 0; i < LOAD_SAMPLES; i++)
		load_meter_add(&meter, 0);
	assert_true(load_meter_ms(&meter) == 0);
}

#define CASE(fn)                                                               \
	cmocka_unit_test_setup_teardown(fn, house_setup, house_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(refuses_before_the_ports_run_out),
		CASE(holds_queued_calls_back),
		CASE(refuses_when_the_house_is_full),
		cmocka_unit_test(measures_lateness),
		cmocka_unit_test(counts_a_standstill_in_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
