/* SPDX-License-Identifier: MIT */
/* Past the roll-over of the sequence number, with loss, hold and a new source
 * on the way: one-way audio after 65,536 packets is the classic fault. */
#include "tests/unit/media/fixture.h"

/* Loses one of 50 and repeats one of 50. */
static unsigned lossy(void *arg, bool to_b, uint8_t *packet, size_t *len)
{
	unsigned *seed = arg;

	*seed = *seed * 1103515245u + 12345u;
	switch ((*seed >> 16) % 50) {
	case 0:
		return 0;
	case 1:
		return 2;
	}
	return 1;
}

static void test_audio_after_the_roll_over(void **state)
{
	struct fixture *f = *state;
	static int16_t hello[8000];
	unsigned seed = 1;
	struct relay *relay = fixture_join_by_relay(f, lossy, &seed);
	struct stream_report report;

	fixture_speech(hello, 8000, 1);
	loop_advance_ms(f->loop, 1400 * 1000);
	report = fixture_report(f->a);
	assert_in_range(report.packets_out, 69995, 70005);
	assert_in_range(report.packets_in, 68000, 69500);
	assert_in_range(report.lost, 1100, 1700);
	assert_in_range(report.replays, 1100, 1700);
	assert_int_equal(report.auth_failures, 0);
	assert_true(report.lost + report.packets_in >= 69990);
	relay_close(&relay);
	assert_int_equal(fixture_agree(f->a, f->b, NULL, NULL), 0);
	loop_advance_ms(f->loop, 2000);
	f->a->n_heard = f->b->n_heard = 0;
	playout_queue(stream_playout(f->a->stream), hello, 8000);
	playout_queue(stream_playout(f->b->stream), hello, 8000);
	loop_advance_ms(f->loop, 1500);
	assert_true(fixture_correlation(f->a->heard, f->a->n_heard, hello,
					8000) > 0.98);
	assert_true(fixture_correlation(f->b->heard, f->b->n_heard, hello,
					8000) > 0.98);
	assert_int_equal(f->a->timeouts + f->b->timeouts, 0);
	assert_int_equal(fixture_report(f->b).auth_failures, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_audio_after_the_roll_over,
						fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
