/* SPDX-License-Identifier: MIT */
/* Telephone events (RFC 4733): one press per event timestamp, whichever of its
 * packets come; sent with three ends, 100 ms of tone and 60 ms of gap. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include "media/bytes.h"
#include "media/dtmf.h"

static char receive(struct dtmf_receiver *receiver, uint32_t timestamp,
		    uint8_t event, bool is_end, uint16_t duration)
{
	uint8_t payload[4] = { event, is_end ? 0x8a : 0x0a,
			       (uint8_t)(duration >> 8), (uint8_t)duration };

	return dtmf_receive(receiver, timestamp, slice_make(payload, 4));
}

static void test_one_press_whatever_comes(void **state)
{
	/* Each bit of mask is a packet that arrives; 5 updates, 3 ends. */
	for (unsigned mask = 1; mask < 256; mask++) {
		struct dtmf_receiver receiver = { .has_last = false };
		char keys[9] = "";
		size_t n = 0;

		for (unsigned press = 0; press < 2; press++) {
			for (unsigned i = 0; i < 8; i++) {
				char key;

				if (!(mask & 1u << i))
					continue;
				key = receive(
					&receiver, 0xfffffff0 + press * 1600, 5,
					i >= 5,
					(uint16_t)(160 * (i < 5 ? i + 1 : 5)));
				if (key)
					keys[n++] = key;
			}
		}
		assert_string_equal(keys, "55");
	}
}

static void test_stragglers_and_odd_ones(void **state)
{
	struct dtmf_receiver receiver = { .has_last = false };
	uint8_t cut[3] = { 1, 2, 3 };

	assert_int_equal(receive(&receiver, 1000, 1, false, 160), '1');
	assert_int_equal(receive(&receiver, 3000, 2, false, 160), '2');
	assert_int_equal(receive(&receiver, 1000, 1, true, 800), 0);
	assert_int_equal(receive(&receiver, 3000, 2, true, 800), 0);
	assert_int_equal(receive(&receiver, 5000, 16, false, 160), 0);
	assert_int_equal(receive(&receiver, 5000, 255, true, 160), 0);
	assert_int_equal(dtmf_receive(&receiver, 7000, slice_make(cut, 3)), 0);
	assert_int_equal(receive(&receiver, 9000, 15, true, 160), 'D');
	assert_int_equal(receive(&receiver, 11000, 11, true, 160), '#');
}

static void test_a_press_of_twenty_seconds(void **state)
{
	struct dtmf_receiver receiver = { .has_last = false };

	assert_int_equal(receive(&receiver, 100, 9, false, 0xffff), '9');
	assert_int_equal(receive(&receiver, 100 + 0xffff, 9, false, 160), 0);
	assert_int_equal(receive(&receiver, 100 + 0xffff, 9, false, 0xffff), 0);
	assert_int_equal(receive(&receiver, 100 + 2 * 0xffff, 9, true, 800), 0);
	assert_int_equal(receive(&receiver, 200000, 9, true, 800), '9');
}

static void test_sent_as_it_should_be(void **state)
{
	struct dtmf_sender sender = { .n = 0 };
	struct dtmf_turn turn;
	uint32_t now = 5000;

	assert_int_equal(dtmf_queue(&sender, "7#"), 0);
	for (unsigned key = 0; key < 2; key++) {
		uint32_t start = now;

		for (unsigned step = 0; step < 8; step++, now += 160) {
			assert_true(dtmf_is_busy(&sender));
			dtmf_next(&sender, &turn, now);
			assert_int_equal(turn.is_event, step < 7);
			if (!turn.is_event)
				continue;
			assert_int_equal(turn.timestamp, start);
			assert_int_equal(turn.is_first, step == 0);
			assert_int_equal(turn.payload[0], key ? 11 : 7);
			assert_int_equal(turn.payload[1] >> 7, step >= 4);
			assert_int_equal(bytes_get16(turn.payload + 2),
					 step < 4 ? 160 * (step + 1) : 800);
		}
	}
	assert_false(dtmf_is_busy(&sender));
}

static void test_pauses_and_bounds(void **state)
{
	struct dtmf_sender sender = { .n = 0 };
	struct dtmf_turn turn;
	unsigned turns = 0;

	assert_int_equal(dtmf_queue(&sender, "1e"), -EINVAL);
	assert_int_equal(dtmf_queue(&sender, "a"), -EINVAL);
	assert_false(dtmf_is_busy(&sender));
	assert_int_equal(dtmf_queue(&sender, "w"), 0);
	for (; dtmf_is_busy(&sender); turns++) {
		dtmf_next(&sender, &turn, 0);
		assert_false(turn.is_event);
	}
	assert_int_equal(turns, 25);
	for (unsigned i = 0; i < DTMF_QUEUE; i++)
		assert_int_equal(dtmf_queue(&sender, "1"), 0);
	assert_int_equal(dtmf_queue(&sender, "1"), -ENOBUFS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_press_whatever_comes),
		cmocka_unit_test(test_stragglers_and_odd_ones),
		cmocka_unit_test(test_a_press_of_twenty_seconds),
		cmocka_unit_test(test_sent_as_it_should_be),
		cmocka_unit_test(test_pauses_and_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
