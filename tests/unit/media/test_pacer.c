/* SPDX-License-Identifier: MIT */
/* One clock for all: turns every 20 ms for hours without drift, spread over
 * four slots, entries that come and go inside turns, stalls skipped. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "core/loop.h"
#include "core/loop_priv.h"
#include "core/sim_priv.h"
#include "media/pacer.h"

static struct loop *loop;
static struct pacer *pacer;

struct user {
	struct pacer_entry entry;
	unsigned frames, looks, skipped;
	uint64_t first_us, last_us, least_gap_us;
	struct user *removes; /* in its full turn */
	struct user *adds;
	unsigned stall_ms;
};

static void on_turn(void *owner, const struct pacer_turn *turn)
{
	struct user *user = owner;

	user->skipped += turn->skipped;
	if (turn->is_between) {
		user->looks++;
		return;
	}
	if (user->frames++ == 0)
		user->first_us = turn->due_us;
	else if (turn->now_us - user->last_us < user->least_gap_us)
		user->least_gap_us = turn->now_us - user->last_us;
	user->last_us = turn->now_us;
	if (user->adds)
		pacer_add(pacer, &user->adds->entry, on_turn, user->adds);
	user->adds = NULL;
	loop->sim->now_us += user->stall_ms * 1000;
	user->stall_ms = 0;
	if (user->removes)
		pacer_remove(pacer, &user->removes->entry);
}

static int setup(void **state)
{
	loop_open_sim(&loop, 0);
	pacer_open(&pacer, loop);
	return 0;
}

static int teardown(void **state)
{
	pacer_close(&pacer);
	loop_close(&loop);
	return 0;
}

static void add(struct user *user)
{
	*user = (struct user){ .least_gap_us = UINT64_MAX };
	pacer_add(pacer, &user->entry, on_turn, user);
}

static void test_no_drift(void **state)
{
	struct user user;

	add(&user);
	loop_advance_ms(loop, 3600 * 1000);
	assert_in_range(user.frames, 180000 - 1, 180000);
	assert_in_range(user.looks, 180000 - 1, 180000);
	assert_int_equal((user.last_us - user.first_us) % 20000, 0);
	assert_int_equal(user.least_gap_us, 20000);
	assert_int_equal(user.skipped, 0);
	pacer_remove(pacer, &user.entry);
	pacer_remove(pacer, &user.entry); /* once more does nothing */
	loop_advance_ms(loop, 100);
	assert_in_range(user.frames, 180000 - 1, 180000);
}

static void test_spread_over_slots(void **state)
{
	struct user users[8];
	unsigned per_slot[4] = { 0 };

	for (unsigned i = 0; i < 8; i++)
		add(&users[i]);
	loop_advance_ms(loop, 100);
	for (unsigned i = 0; i < 8; i++) {
		assert_in_range(users[i].frames, 4, 5);
		per_slot[users[i].first_us / PACER_SLOT_US % 4]++;
		pacer_remove(pacer, &users[i].entry);
	}
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(per_slot[i], 2);
}

/* Two of one slot: each may remove itself or the other in its turn. */
static void test_removal_inside_a_turn(void **state)
{
	for (unsigned who = 0; who < 4; who++) {
		struct user users[8];

		for (unsigned i = 0; i < 8; i++)
			add(&users[i]);
		users[4 * (who / 2)].removes = &users[4 * (who % 2)];
		loop_advance_ms(loop, 100);
		assert_true(users[4 * (who % 2)].frames <= 1);
		for (unsigned i = 0; i < 8; i++)
			pacer_remove(pacer, &users[i].entry);
	}
}

static void test_the_last_makes_room_for_another(void **state)
{
	struct user one, two = { .least_gap_us = UINT64_MAX };

	add(&one);
	one.removes = &one;
	one.adds = &two;
	loop_advance_ms(loop, 1000);
	assert_int_equal(one.frames, 1);
	assert_in_range(two.frames, 48, 50);
	assert_int_equal(two.skipped, 0);
	two.removes = &two;
	loop_advance_ms(loop, 1000);
	assert_in_range(two.frames, 48, 51);
}

static void test_stall(void **state)
{
	struct user one, two;

	add(&one);
	add(&two);
	loop_advance_ms(loop, 1000);
	one.stall_ms = 500;
	loop_advance_ms(loop, 1000);
	assert_in_range(one.frames + one.skipped / 2, 97, 101);
	assert_in_range(one.skipped, 46, 50);
	assert_in_range(two.skipped, 46, 50);
	assert_true(one.least_gap_us >= 5000);
	assert_int_equal(pacer_stats(pacer).skipped, one.skipped + two.skipped);
	assert_in_range(pacer_stats(pacer).late_us_max, 490000, 500000);
	/* Late by less than a round: nothing is lost. */
	one.skipped = 0;
	one.frames = 0;
	one.stall_ms = 12;
	loop_advance_ms(loop, 1000);
	assert_int_equal(one.skipped, 0);
	assert_in_range(one.frames, 49, 50);
	pacer_remove(pacer, &one.entry);
	pacer_remove(pacer, &two.entry);
}

static void *foreseen[PACER_AHEAD];

static void on_foreseen_turn(void *owner, const struct pacer_turn *turn)
{
	if (foreseen[0])
		assert_ptr_equal(owner, foreseen[0]);
	for (size_t i = 1; i < PACER_AHEAD; i++)
		if (foreseen[i])
			assert_ptr_equal(turn->ahead[i - 1], foreseen[i]);
	memcpy(foreseen, turn->ahead, sizeof(foreseen));
	((struct user *)owner)->frames += foreseen[0] != NULL;
}

/* Eight to a slot: each but the last knows who follows. */
static void test_says_whose_turns_follow(void **state)
{
	struct user users[32] = { 0 };
	unsigned told = 0;

	for (unsigned i = 0; i < 32; i++)
		pacer_add(pacer, &users[i].entry, on_foreseen_turn, &users[i]);
	loop_advance_ms(loop, 20);
	for (unsigned i = 0; i < 32; i++) {
		told += users[i].frames;
		pacer_remove(pacer, &users[i].entry);
	}
	assert_int_equal(told, 2 * 4 * 7);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_no_drift),
		CASE(test_spread_over_slots),
		CASE(test_removal_inside_a_turn),
		CASE(test_the_last_makes_room_for_another),
		CASE(test_stall),
		CASE(test_says_whose_turns_follow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
