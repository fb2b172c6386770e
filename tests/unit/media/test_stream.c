/* SPDX-License-Identifier: MIT */
/* A call between two streams: audio both ways, digits, hold, a new key, codec
 * change, packet times, recording beside, silence that times out, a loop that
 * stood still, and everything given back at the end (RFC 3264, 3550, 3711,
 * 4568, 4733). */
#include "tests/unit/media/fixture.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void speak(struct end *end, unsigned seed, size_t n)
{
	int16_t *samples = mem_new_array(n, sizeof(*samples));

	fixture_speech(samples, n, seed);
	assert_int_equal(playout_queue(stream_playout(end->stream), samples, n),
			 0);
	mem_free(samples);
}

static double heard(const struct end *end, unsigned seed, size_t n)
{
	int16_t *samples = mem_new_array(n, sizeof(*samples));
	double found;

	fixture_speech(samples, n, seed);
	found = fixture_correlation(end->heard, end->n_heard, samples, n);
	mem_free(samples);
	return found;
}

static void test_carries_audio_both_ways(void **state)
{
	struct fixture *f = *state;

	fixture_join(f);
	speak(f->a, 1, 16000);
	speak(f->b, 2, 16000);
	loop_advance_ms(f->loop, 3000);
	assert_true(heard(f->b, 1, 16000) > 0.98);
	assert_true(heard(f->a, 2, 16000) > 0.98);
	assert_true(heard(f->a, 1, 16000) < 0.5); /* the measure measures */
	assert_in_range(f->a->frames, 148, 150);
	assert_true(f->a->voiced > 90);
	assert_int_equal(f->a->started, 1);
	assert_int_equal(f->a->drained, 1);
	assert_string_equal(fixture_report(f->a).codec, "PCMU");
	assert_int_equal(fixture_report(f->a).lost, 0);
	assert_int_equal(fixture_report(f->a).late, 0);
	assert_int_equal(fixture_report(f->a).concealed, 0);
	assert_in_range(fixture_report(f->a).packets_in, 148, 151);
	assert_true(fixture_report(f->a).mos > 4.2);
}

static void test_reports_before_the_answer(void **state)
{
	struct fixture *f = *state;
	struct stream_report report;

	end_open(f, f->a);
	report = fixture_report(f->a);
	assert_null(report.codec);
	assert_true(report.rtt_ms < 0);
	assert_int_equal(report.recorded_ms, -1);
	assert_false(report.on_hold);
	loop_advance_ms(f->loop, 60000);
	assert_int_equal(f->a->frames, 0);
	assert_int_equal(f->a->timeouts, 0);
	assert_int_equal(stream_send_digits(f->a->stream, "1"), -ENOTCONN);
}

static void test_other_codec_and_packet_times(void **state)
{
	static const char *const wishes[] = { "a=ptime:10", "a=ptime:30",
					      "a=ptime:40", "a=ptime:60" };
	static const unsigned packets[] = { 100, 50, 25, 16 };
	struct fixture *f = *state;
	uint64_t before;

	fixture_join(f);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(
			fixture_agree(f->a, f->b, "a=ptime:20", wishes[i]), 0);
		loop_advance_ms(f->loop, 1000); /* the buffer adapts */
		f->a->n_heard = 0;
		before = fixture_report(f->b).packets_out;
		speak(f->b, 3, 8000);
		loop_advance_ms(f->loop, 1000);
		assert_in_range(fixture_report(f->b).packets_out - before,
				packets[i] - 1, packets[i] + 1);
		loop_advance_ms(f->loop, 1000);
		assert_true(heard(f->a, 3, 8000) > 0.98);
		fixture_agree(f->a, f->b, NULL, NULL);
	}
	assert_string_equal(fixture_report(f->a).codec, "PCMU");
}

static void test_switches_codec_in_the_call(void **state)
{
	struct fixture *f = *state;

	end_open(f, f->a);
	end_open(f, f->b);
	assert_int_equal(
		fixture_agree(f->a, f->b, "SAVP 0 8 101", "SAVP 8 0 101"), 0);
	assert_string_equal(fixture_report(f->a).codec, "PCMA");
	speak(f->a, 4, 8000);
	speak(f->b, 5, 8000);
	loop_advance_ms(f->loop, 1500);
	assert_true(heard(f->b, 4, 8000) > 0.98);
	assert_true(heard(f->a, 5, 8000) > 0.98);
}

static void test_digits_both_ways(void **state)
{
	struct fixture *f = *state;

	fixture_join(f);
	speak(f->a, 6, 8000);
	assert_int_equal(stream_send_digits(f->a->stream, "0123456789*#ABCD"),
			 0);
	assert_int_equal(stream_send_digits(f->b->stream, "11w22"), 0);
	assert_int_equal(stream_send_digits(f->b->stream, "5x"), -EINVAL);
	loop_advance_ms(f->loop, 5000);
	assert_string_equal(f->b->digits, "0123456789*#ABCD");
	assert_string_equal(f->a->digits, "1122");
	/* The speech waited and came whole. */
	assert_true(heard(f->b, 6, 8000) > 0.98);
	assert_int_equal(f->a->drained, 1);
}

static void test_no_digits_without_telephone_event(void **state)
{
	struct fixture *f = *state;

	end_open(f, f->a);
	end_open(f, f->b);
	assert_int_equal(
		fixture_agree(f->a, f->b, "telephone-event", "comfort-nothing"),
		0);
	assert_int_equal(stream_send_digits(f->b->stream, "1"), -ENOTSUP);
}

static void test_hold_and_resume(void **state)
{
	static const char *const ways[] = { "a=sendonly", "a=inactive" };
	struct fixture *f = *state;
	uint64_t packets;
	unsigned frames;

	fixture_join(f);
	loop_advance_ms(f->loop, 500);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(
			fixture_agree(f->a, f->b, "a=sendrecv", ways[i]), 0);
		assert_true(fixture_report(f->b).on_hold);
		packets = fixture_report(f->b).packets_out;
		frames = f->b->frames;
		speak(f->b, 7, 8000);
		loop_advance_ms(f->loop, 60000);
		assert_int_equal(fixture_report(f->b).packets_out, packets);
		assert_int_equal(f->b->frames, frames);
		assert_int_equal(f->b->timeouts, 0);
		assert_int_equal(playout_position(stream_playout(f->b->stream)),
				 i * 8000);
		f->a->n_heard = 0;
		assert_int_equal(fixture_agree(f->a, f->b, NULL, NULL), 0);
		assert_false(fixture_report(f->b).on_hold);
		loop_advance_ms(f->loop, 1500);
		assert_true(heard(f->a, 7, 8000) > 0.95);
		assert_int_equal(f->a->timeouts, 0);
	}
}

static void test_hold_by_null_address(void **state)
{
	struct fixture *f = *state;
	uint64_t packets;

	fixture_join(f);
	loop_advance_ms(f->loop, 500);
	assert_int_equal(fixture_agree(f->a, f->b, "c=IN IP4 192.0.2.1",
				       "c=IN IP4 0.0.0.0"),
			 0);
	assert_true(fixture_report(f->b).on_hold);
	packets = fixture_report(f->b).packets_out;
	loop_advance_ms(f->loop, 1000);
	assert_int_equal(fixture_report(f->b).packets_out, packets);
	assert_int_equal(fixture_agree(f->a, f->b, NULL, NULL), 0);
	f->a->n_heard = 0;
	speak(f->b, 8, 8000);
	loop_advance_ms(f->loop, 1500);
	assert_true(heard(f->a, 8, 8000) > 0.98);
}

/* The same offer again changes nothing; with another key b changes its own. */
static void test_new_key_in_the_call(void **state)
{
	struct fixture *f = *state;
	struct buffer offer, first, second;
	const char *key;

	fixture_join(f);
	buffer_init(&offer, 4096);
	buffer_init(&first, 4096);
	buffer_init(&second, 4096);
	stream_offer(f->a->stream, &offer);
	stream_take_offer(f->b->stream, buffer_slice(&offer), &first);
	stream_take_offer(f->b->stream, buffer_slice(&offer), &second);
	assert_string_equal(first.ptr, second.ptr); /* nothing changed */
	key = strstr(offer.ptr, "inline:");
	offer.ptr[key - offer.ptr + 10] = key[10] == 'A' ? 'B' : 'A';
	buffer_clear(&second);
	assert_int_equal(
		stream_take_offer(f->b->stream, buffer_slice(&offer), &second),
		0);
	key = strstr(first.ptr, "inline:");
	assert_string_not_equal(key, strstr(second.ptr, "inline:"));
	buffer_reset(&offer);
	buffer_reset(&first);
	buffer_reset(&second);
}

static void test_refuses_plain_audio_and_goes_on(void **state)
{
	struct fixture *f = *state;

	fixture_join(f);
	speak(f->b, 9, 16000);
	loop_advance_ms(f->loop, 500);
	assert_int_equal(fixture_agree(f->a, f->b, "RTP/SAVP", "RTP/AVP"),
			 -ENOTSUP);
	assert_int_equal(fixture_agree(f->a, f->b, "v=0", "v=9"), -EINVAL);
	loop_advance_ms(f->loop, 2000);
	assert_true(heard(f->a, 9, 16000) > 0.98);
}

/* What the peer may say is bounded, so that our own answer always reads. */
static void test_large_offers(void **state)
{
	static const size_t sizes[] = { 14000, 17000, 40000 };
	struct fixture *f = *state;

	end_open(f, f->a);
	end_open(f, f->b);
	for (size_t i = 0; i < 3; i++) {
		struct buffer offer, answer, again;
		int err;

		buffer_init(&offer, 100000);
		buffer_init(&answer, 100000);
		buffer_init(&again, 100000);
		stream_offer(f->a->stream, &offer);
		buffer_add_str(&offer, "m=video 9 RTP/AVP");
		while (offer.len < sizes[i])
			buffer_add_str(&offer, " 96");
		buffer_add_str(&offer, "\r\n");
		err = stream_take_offer(f->b->stream, buffer_slice(&offer),
					&answer);
		assert_int_equal(err, i == 0 ? 0 : -EINVAL);
		stream_offer(f->b->stream, &again);
		assert_int_equal(buffer_error(&answer), 0);
		buffer_reset(&offer);
		buffer_reset(&answer);
		buffer_reset(&again);
	}
}

static void test_silent_peer_times_out_once(void **state)
{
	struct fixture *f = *state;

	fixture_join(f);
	loop_advance_ms(f->loop, 1000);
	stream_close(&f->a->stream);
	loop_advance_ms(f->loop, 29900);
	assert_int_equal(f->b->timeouts, 0);
	loop_advance_ms(f->loop, 200);
	assert_int_equal(f->b->timeouts, 1);
	loop_advance_ms(f->loop, 60000);
	assert_int_equal(f->b->timeouts, 1);
	/* The owner's clock of frames has run on. */
	assert_true(f->b->frames > 4500);
}

static void test_stall_skips_and_does_not_burst(void **state)
{
	struct fixture *f = *state;
	struct media_stats stats;
	uint64_t sent;

	fixture_join(f);
	speak(f->a, 10, 80000);
	loop_advance_ms(f->loop, 1000);
	sent = fixture_report(f->a).packets_out;
	f->a->stall_ms = 400;
	loop_advance_ms(f->loop, 1000);
	media_stats(f->media, &stats);
	assert_in_range(stats.late_slots, 70, 84); /* 4 kinds of turns */
	assert_true(stats.slot_late_us_max >= 390000);
	/* 400 ms stood still and 600 went on; the nested advance adds. */
	assert_in_range(fixture_report(f->a).packets_out - sent, 28, 52);
	assert_true(fixture_report(f->b).buffer_ms <= 40);
	f->b->n_heard = 0;
	loop_advance_ms(f->loop, 2000);
	assert_in_range(f->b->n_heard / 160, 98, 101);
	assert_int_equal(fixture_report(f->b).lost, 0);
}

/* A route that becomes shorter brings packets before they are expected. */
static void test_packets_that_come_early_do_not_pile_up(void **state)
{
	struct fixture *f = *state;

	fixture_join(f);
	sim_set_delay_us(f->loop, 100000);
	loop_advance_ms(f->loop, 10000);
	sim_set_delay_us(f->loop, 0);
	loop_advance_ms(f->loop, 2000);
	assert_in_range(fixture_report(f->b).packets_in,
			fixture_report(f->a).packets_out - 1,
			fixture_report(f->a).packets_out);
	assert_in_range(fixture_report(f->a).packets_in,
			fixture_report(f->b).packets_out - 1,
			fixture_report(f->b).packets_out);
}

static void test_position_counts_what_was_sent(void **state)
{
	struct fixture *f = *state;
	struct playout *playout;
	uint64_t position;

	fixture_join(f);
	playout = stream_playout(f->a->stream);
	playout_mark(playout);
	speak(f->a, 11, 16000);
	loop_advance_ms(f->loop, 1000);
	position = playout_position(playout);
	assert_in_range(position, 48 * 160, 51 * 160);
	assert_int_equal(position % 160, 0);
	playout_drop(playout);
	loop_advance_ms(f->loop, 1000);
	assert_int_equal(playout_position(playout), position);
	assert_int_equal(f->a->drained, 0);
}

static void test_closing_inside_callbacks(void **state)
{
	struct fixture *f = *state;

	fixture_join(f);
	f->a->closes_in_frame = true;
	stream_send_digits(f->a->stream, "123");
	loop_advance_ms(f->loop, 25);
	assert_null(f->a->stream);
	end_open(f, f->a);
	f->a->closes_in_frame = false;
	f->b->closes_in_digit = true;
	assert_int_equal(fixture_agree(f->a, f->b, NULL, NULL), 0);
	stream_send_digits(f->a->stream, "456");
	loop_advance_ms(f->loop, 1000);
	assert_null(f->b->stream);
	/* The first key left in the turn that closed its stream. */
	assert_string_equal(f->b->digits, "14");
}

static void test_round_trip_is_measured(void **state)
{
	struct fixture *f = *state;

	fixture_join(f);
	sim_set_delay_us(f->loop, 50000);
	loop_advance_ms(f->loop, 20000);
	assert_true(fixture_report(f->a).rtt_ms > 95);
	assert_true(fixture_report(f->a).rtt_ms < 105);
	assert_true(fixture_report(f->b).rtt_ms > 95);
	assert_true(fixture_report(f->a).jitter_ms < 5);
}

static void test_turn_latency_is_in_the_report(void **state)
{
	struct fixture *f = *state;
	struct stream_report report;
	uint64_t start_us = loop_now_us(f->loop);
	uint64_t end_us;

	fixture_join(f);
	loop_advance_ms(f->loop, 200);
	speak(f->b, 12, 8000);
	loop_advance_ms(f->loop, 2000);
	report = fixture_report(f->a);
	end_us = report.last_voice_in_us - start_us;
	/* The 50th packet leaves by 1,200 ms; its end may be played with the
	 * start of the next, and a socket is looked at every 10 ms. */
	assert_in_range(end_us, 1100000, 1230000);
	assert_int_equal(report.last_voice_out_us, 0);
	speak(f->a, 13, 8000);
	loop_advance_ms(f->loop, 500);
	report = fixture_report(f->a);
	assert_in_range(report.last_voice_out_us - start_us, 2200000, 2260000);
}

static uint32_t le32(const uint8_t *at)
{
	return at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Splits a stereo WAV; returns samples per channel, as the header says. */
static size_t read_wav(const char *name, int16_t *left, int16_t *right,
		       size_t max)
{
	uint8_t header[44], sample[4];
	FILE *file = fopen(name, "rb");
	size_t n;

	assert_non_null(file);
	assert_int_equal(fread(header, 1, 44, file), 44);
	assert_memory_equal(header, "RIFF", 4);
	assert_memory_equal(header + 8, "WAVEfmt ", 8);
	assert_int_equal(header[22], 2);
	assert_int_equal(le32(header + 24), 8000);
	assert_int_equal(le32(header + 28), 32000);
	assert_int_equal(le32(header + 4), le32(header + 40) + 36);
	n = le32(header + 40) / 4;
	assert_true(n <= max);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(fread(sample, 1, 4, file), 4);
		left[i] = (int16_t)(sample[0] | sample[1] << 8);
		right[i] = (int16_t)(sample[2] | sample[3] << 8);
	}
	fclose(file);
	return n;
}

static void test_recording_holds_both_sides(void **state)
{
	static int16_t left[80000], right[80000], samples[8000];
	char name[] = "/tmp/parley-recording-XXXXXX";
	struct fixture *f = *state;
	size_t n;

	close(mkstemp(name));
	end_open(f, f->a);
	assert_int_equal(stream_record(f->a->stream, name), 0);
	assert_int_equal(stream_record(f->a->stream, name), -EALREADY);
	loop_advance_ms(f->loop, 3000); /* the answer takes its time */
	end_open(f, f->b);
	assert_int_equal(fixture_agree(f->a, f->b, NULL, NULL), 0);
	speak(f->a, 14, 8000);
	loop_advance_ms(f->loop, 1500);
	speak(f->b, 15, 8000);
	loop_advance_ms(f->loop, 2500);
	assert_in_range(fixture_report(f->a).recorded_ms, 6960, 7000);
	/* Already readable, but for the last second. */
	n = read_wav(name, left, right, 80000);
	assert_in_range(n, 8000 * 6, 8000 * 7);
	stream_close(&f->a->stream);
	loop_advance_ms(f->loop, 0);
	n = read_wav(name, left, right, 80000);
	assert_in_range(n, 8000 * 7 - 320, 8000 * 7);
	fixture_speech(samples, 8000, 14);
	assert_true(fixture_correlation(right + 23904, 8500, samples, 8000) >
		    0.98);
	fixture_speech(samples, 8000, 15);
	assert_true(fixture_correlation(left + 36000, 9000, samples, 8000) >
		    0.98);
	assert_int_equal(left[1000], 0);
	unlink(name);
}

static void test_recording_that_fails_leaves_the_call(void **state)
{
	struct fixture *f = *state;

	fixture_join(f);
	assert_int_equal(stream_record(f->a->stream, "/nowhere/x.wav"), 0);
	speak(f->b, 16, 16000);
	loop_advance_ms(f->loop, 3000);
	assert_int_equal(f->a->failures, 1);
	assert_string_equal(f->a->why, strerror(ENOENT));
	assert_true(heard(f->a, 16, 16000) > 0.98);
}

static void test_stops_at_the_last_ports(void **state)
{
	struct fixture *f = *state;
	struct media_options options = fixture_options(f);
	struct media *media;
	struct stream *one, *two;
	static const struct stream_events none;

	options.port_min = options.port_max = 20300;
	assert_int_equal(media_open(&media, &options), -EINVAL);
	options.port_max = 20301;
	assert_int_equal(media_open(&media, &options), 0);
	assert_int_equal(stream_open(&one, media, &none, NULL), 0);
	assert_int_equal(stream_open(&two, media, &none, NULL), -EAGAIN);
	assert_null(two);
	stream_close(&one);
	media_close(&media);
}

#define CASE(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_carries_audio_both_ways),
		CASE(test_reports_before_the_answer),
		CASE(test_other_codec_and_packet_times),
		CASE(test_switches_codec_in_the_call),
		CASE(test_digits_both_ways),
		CASE(test_no_digits_without_telephone_event),
		CASE(test_hold_and_resume),
		CASE(test_hold_by_null_address),
		CASE(test_new_key_in_the_call),
		CASE(test_refuses_plain_audio_and_goes_on),
		CASE(test_large_offers),
		CASE(test_silent_peer_times_out_once),
		CASE(test_stall_skips_and_does_not_burst),
		CASE(test_packets_that_come_early_do_not_pile_up),
		CASE(test_position_counts_what_was_sent),
		CASE(test_closing_inside_callbacks),
		CASE(test_round_trip_is_measured),
		CASE(test_turn_latency_is_in_the_report),
		CASE(test_recording_holds_both_sides),
		CASE(test_recording_that_fails_leaves_the_call),
		CASE(test_stops_at_the_last_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
