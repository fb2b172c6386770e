/* SPDX-License-Identifier: MIT */
/* A call from its queued row to its completed one: dialled over TLS, talk of
 * three turns over SRTP, End Call, record, webhook; and each way it can fail.
 * Specification 4 (calls), decisions "Calls" and "Webhooks". */
#include <string.h>
#include "core/json.h"
#include "core/mem.h"
#include "tests/unit/agent/fixture_house.h"

static void talks_three_turns_and_hangs_up(void **state)
{
	struct house *house = *state;
	const char *id;
	json_t *record;

	ACTOR_HEARS(&house->actor, { "yes please" }, { "a large one" },
		    { "yes" });
	SAYS(house, 600, 800, 400);
	id = house_queue(house, NULL);
	house_finish(house, id, 60000);
	record = house_record(house, id);
	assert_string_equal(house_at(house, record, "status"), "completed");
	assert_string_equal(house_at(house, record, "queue_status"),
			    "complete");
	assert_string_equal(house_at(house, record, "call_ended_by"),
			    "ASSISTANT");
	assert_string_equal(house_at(house, record, "answered_by"), "human");
	assert_string_equal(
		house_transcript(house, record),
		"assistant: Hello there, would you like a pizza?\n"
		"user: yes please\n"
		"assistant: What size should it be?\n"
		"user: a large one\n"
		"assistant: Shall I order it now?\n"
		"user: yes\n"
		"assistant: All right. Goodbye.\n");
	assert_string_equal(house_at(house, record, "latency.turns"), "3");
	json_decref(record);
	house_run(house, 1000);
	assert_int_equal(house->n_posts, 1);
	assert_string_equal(house->posts[0].url, "https://hook.test/x");
	assert_string_equal(house->posts[0].body, house_call(house, id).body);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, house_setup, house_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(talks_three_turns_and_hangs_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
