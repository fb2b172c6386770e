/* SPDX-License-Identifier: MIT */
/* Speech in at telephone quality: what flite says over mu-law at 8 kHz is
 * understood when it is expected, and not taken for what is expected when it
 * is something else; partials, turns in order, closing at any time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "agent/engine/speech.h"
#include "agent/engine/sphinx_grammar.h"
#include "core/buffer.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/work.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

enum { FRAME = 160, SILENCE = 2400, VOICE_MAX = 10 * 8000 };

static const char *const expected[] = {
	"yes",
	"no thank you",
	"I would like to talk to sales",
	"schedule an appointment",
	"I want to speak to a human",
	"what are your opening hours",
	"billing",
	"tomorrow morning",
	"I need a refund",
	"call me back later",
	"the second one",
	"report a problem",
};

static const char *const unexpected[] = {
	"can you tell me about the history of rome",
	"there was an accident on the highway",
	"she sells sea shells by the shore",
	"where did you put the keys",
	"my dog ate the homework",
	"the quick brown fox jumps over the lazy dog",
};

struct bench {
	struct loop *loop;
	struct work *work;
	struct speech *speech;
	struct hearing *hearing;
	struct synthesis *synthesis;
	int16_t voice[VOICE_MAX];
	size_t n;
	char heard[300];
	char partial[300];
	double confidence;
	unsigned partials, finals, wanted;
	bool closes_on_partial, stops_on_partial;
};

/* G.711 mu-law there and back. */
static uint8_t mulaw_encode(int sample)
{
	int sign = sample < 0 ? 0x80 : 0, exponent = 7;

	sample = (sample < 0 ? -sample : sample) + 132;
	sample = sample > 32767 ? 32767 : sample;
	for (int bit = 0x4000; !(sample & bit) && exponent > 0; bit >>= 1)
		exponent--;
	return (uint8_t) ~(sign | exponent << 4 |
			   (sample >> (exponent + 3) & 0x0f));
}

static int16_t mulaw_decode(uint8_t byte)
{
	int value;

	byte = (uint8_t)~byte;
	value = (((byte & 0x0f) << 3) + 132) << (byte >> 4 & 7);
	value -= 132;
	return (int16_t)(byte & 0x80 ? -value : value);
}

/* Simulated: jobs run inline, at the priority of the test. */
static void run(struct bench *bench)
{
	if (loop_is_sim(bench->loop))
		loop_advance_ms(bench->loop, 10);
	else
		loop_run(bench->loop);
}

static void stop(struct bench *bench)
{
	if (!loop_is_sim(bench->loop))
		loop_stop(bench->loop);
}

static void on_audio(void *owner, const int16_t *samples, size_t n)
{
	struct bench *bench = owner;

	assert_true(bench->n + n <= VOICE_MAX);
	for (size_t i = 0; i < n; i++)
		bench->voice[bench->n++] =
			mulaw_decode(mulaw_encode(samples[i]));
}

static void on_marks(void *owner, const struct speech_mark *marks, size_t n)
{
}

static void on_done(void *owner, int err)
{
	struct bench *bench = owner;

	assert_int_equal(err, 0);
	stop(bench);
}

static void on_partial(void *owner, const char *text)
{
	struct bench *bench = owner;

	assert_string_not_equal(text, bench->partial);
	snprintf(bench->partial, sizeof(bench->partial), "%s", text);
	bench->partials++;
	if (bench->stops_on_partial)
		stop(bench);
	if (bench->closes_on_partial) {
		hearing_close(&bench->hearing);
		stop(bench);
	}
}

static void on_final(void *owner, const char *text, double confidence)
{
	struct bench *bench = owner;

	snprintf(bench->heard, sizeof(bench->heard), "%s", text);
	bench->partial[0] = '\0';
	bench->confidence = confidence;
	if (++bench->finals == bench->wanted)
		stop(bench);
}

static const struct synthesis_events synthesis_events = { on_audio, on_marks,
							  on_done };
static const struct hearing_events hearing_events = { on_partial, on_final };

static struct bench *new_bench(bool is_sim)
{
	struct bench *bench = mem_new(sizeof(*bench));

	if (is_sim)
		loop_open_sim(&bench->loop, 0);
	else
		assert_int_equal(loop_open(&bench->loop), 0);
	assert_int_equal(work_open(&bench->work, bench->loop), 0);
	assert_int_equal(speech_open_embedded(&bench->speech, bench->loop,
					      bench->work, 1),
			 0);
	return bench;
}

static int open_bench(void **state)
{
	*state = new_bench(true);
	return 0;
}

static int close_bench(void **state)
{
	struct bench *bench = *state;

	hearing_close(&bench->hearing);
	speech_close(&bench->speech);
	work_close(&bench->work);
	loop_close(&bench->loop);
	mem_free(bench);
	return 0;
}

static void open_hearing(struct bench *bench, enum speech_expect expect,
			 const char *const *phrases, size_t n)
{
	struct speech_hint hint = { expect, phrases, n };

	hearing_close(&bench->hearing);
	bench->finals = bench->partials = 0;
	bench->partial[0] = '\0';
	assert_int_equal(hearing_open(&bench->hearing, bench->speech,
				      &hearing_events, bench),
			 0);
	hearing_hint(bench->hearing, &hint);
}

static void synthesise(struct bench *bench, const char *text)
{
	struct speech_say say = { .text = text, .events = &synthesis_events };

	bench->n = 0;
	assert_int_equal(
		speech_say(&bench->synthesis, bench->speech, &say, bench), 0);
	run(bench);
	synthesis_cancel(&bench->synthesis);
	assert_true(bench->n > 800);
}

static void feed_silence(struct bench *bench)
{
	static const int16_t silence[FRAME];

	for (size_t i = 0; i < SILENCE; i += FRAME)
		hearing_feed(bench->hearing, silence, FRAME);
}

static void feed(struct bench *bench)
{
	feed_silence(bench);
	for (size_t i = 0; i < bench->n; i += FRAME)
		hearing_feed(bench->hearing, bench->voice + i,
			     bench->n - i < FRAME ? bench->n - i : FRAME);
	feed_silence(bench);
}

static void listen(struct bench *bench, const char *text)
{
	synthesise(bench, text);
	feed(bench);
	bench->wanted = bench->finals + 1;
	hearing_finish(bench->hearing);
	run(bench);
}

static bool is_heard(const struct bench *bench, const char *text)
{
	struct buffer phrase;
	bool is_same;

	buffer_init(&phrase, 300);
	sphinx_phrase_write(&phrase, text);
	is_same = strcmp(bench->heard, buffer_str(&phrase)) == 0;
	buffer_reset(&phrase);
	return is_same;
}

static void test_expected_is_understood(void **state)
{
	struct bench *bench = *state;
	unsigned right = 0;

	open_hearing(bench, SPEECH_ANY, expected, COUNT(expected));
	for (size_t i = 0; i < COUNT(expected); i++) {
		listen(bench, expected[i]);
		right += is_heard(bench, expected[i]);
		if (!is_heard(bench, expected[i]))
			print_message("%s: %s\n", expected[i], bench->heard);
		assert_true(bench->confidence > 0 && bench->confidence <= 1);
	}
	assert_true(right + 1 >= COUNT(expected));
}

static void test_unexpected_is_rejected(void **state)
{
	struct bench *bench = *state;
	unsigned taken = 0;

	open_hearing(bench, SPEECH_ANY, expected, COUNT(expected));
	for (size_t i = 0; i < COUNT(unexpected); i++) {
		listen(bench, unexpected[i]);
		for (size_t k = 0; k < COUNT(expected); k++)
			taken += is_heard(bench, expected[k]);
	}
	assert_true(taken <= 1);
}

static void test_yes_no_and_digits(void **state)
{
	static const struct {
		enum speech_expect expect;
		const char *said;
	} rows[] = {
		{ SPEECH_YES_NO, "yes" },
		{ SPEECH_YES_NO, "that's correct" },
		{ SPEECH_YES_NO, "nope" },
		{ SPEECH_DIGITS, "nine" },
		{ SPEECH_DIGITS, "three zero eight" },
		{ SPEECH_DIGITS, "five five five oh one two three" },
	};
	unsigned right = 0;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct bench *bench = *state;

		open_hearing(bench, rows[i].expect, NULL, 0);
		listen(bench, rows[i].said);
		right += is_heard(bench, rows[i].said);
		if (!is_heard(bench, rows[i].said))
			print_message("%s: %s\n", rows[i].said, bench->heard);
	}
	assert_true(right + 1 >= COUNT(rows));
}

static void test_open_decoding_and_partials(void **state)
{
	struct bench *bench = *state;

	open_hearing(bench, SPEECH_ANY, NULL, 0);
	synthesise(bench, "can you tell me about the history of rome");
	feed(bench);
	bench->stops_on_partial = true;
	run(bench);
	bench->stops_on_partial = false;
	assert_int_equal(bench->partials, 1);
	assert_int_equal(bench->finals, 0);
	bench->wanted = 1;
	hearing_finish(bench->hearing);
	run(bench);
	assert_non_null(strstr(bench->heard, "history of"));
}

static void test_words_without_pronunciation(void **state)
{
	static const char *const phrases[] = { "parlonia zwibblor",
					       "caf\xc3\xa9 \xe3\x81\x82",
					       "order 66", "", ";|()<a>" };
	struct bench *bench = *state;

	open_hearing(bench, SPEECH_ANY, phrases, COUNT(phrases));
	listen(bench, "parlonia zwibblor");
	assert_string_equal(bench->heard, "parlonia zwibblor");
}

static void test_silence_noise_and_nothing(void **state)
{
	struct bench *bench = *state;
	uint32_t seed = 1;

	open_hearing(bench, SPEECH_ANY, expected, COUNT(expected));
	bench->wanted = 3;
	hearing_finish(bench->hearing); /* nothing was fed */
	assert_int_equal(bench->finals, 0);
	feed_silence(bench);
	hearing_finish(bench->hearing);
	for (size_t i = 0; i < 16000; i++) {
		seed = seed * 1664525 + 1013904223;
		bench->voice[i] = (int16_t)((int)(seed >> 24) - 128);
	}
	bench->n = 16000;
	feed(bench);
	hearing_finish(bench->hearing);
	strcpy(bench->heard, "?");
	run(bench);
	assert_int_equal(bench->finals, 3);
	assert_string_equal(bench->heard, "");
}

static void test_turns_and_callers_share_one_decoder(void **state)
{
	struct bench *bench = *state;
	struct hearing *other = NULL;
	const struct speech_hint hint = { SPEECH_YES_NO, NULL, 0 };

	open_hearing(bench, SPEECH_YES_NO, NULL, 0);
	assert_int_equal(
		hearing_open(&other, bench->speech, &hearing_events, bench), 0);
	hearing_hint(other, &hint);
	synthesise(bench, "yes please");
	bench->wanted = 4;
	for (unsigned i = 0; i < 2; i++) {
		feed(bench);
		hearing_finish(bench->hearing);
		for (size_t k = 0; k < bench->n; k += FRAME)
			hearing_feed(other, bench->voice + k,
				     bench->n - k < FRAME ? bench->n - k
							  : FRAME);
		hearing_finish(other);
	}
	run(bench);
	assert_int_equal(bench->finals, 4);
	assert_string_equal(bench->heard, "yes please");
	hearing_close(&other);
}

/* In threads, so that jobs really run meanwhile. */
static void test_closing_at_any_time(void **state)
{
	struct bench *bench = new_bench(false);
	void *own = bench;

	synthesise(bench, "there was an accident on the highway");
	open_hearing(bench, SPEECH_ANY, expected, COUNT(expected));
	feed(bench);
	hearing_close(&bench->hearing); /* its job may run */
	open_hearing(bench, SPEECH_ANY, expected, COUNT(expected));
	feed(bench);
	bench->closes_on_partial = true;
	run(bench);
	assert_null(bench->hearing);
	assert_int_equal(bench->partials, 1);
	bench->closes_on_partial = false;
	open_hearing(bench, SPEECH_ANY, expected, COUNT(expected));
	feed(bench);
	hearing_finish(bench->hearing);
	bench->wanted = 1;
	run(bench);
	assert_int_equal(bench->finals, 1);
	feed(bench); /* a job runs while all is closed */
	close_bench(&own);
}

static void test_phrases(void **state)
{
	static const struct {
		const char *text, *phrase;
	} rows[] = {
		{ "Yes!", "yes" },
		{ "press 1", "press one" },
		{ "room 42", "room forty two" },
		{ "flight 815", "flight eight one five" },
		{ "O\xe2\x80\x99Neill & Sons", "o'neill sons" },
		{ "caf\xc3\xa9", "" },
		{ "100%", "one zero zero" },
		{ "<x> = a | b;", "x a b" },
		{ "", "" },
		{ "07", "zero seven" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buffer phrase;

		buffer_init(&phrase, 200);
		sphinx_phrase_write(&phrase, rows[i].text);
		assert_string_equal(buffer_str(&phrase), rows[i].phrase);
		buffer_reset(&phrase);
	}
}

int main(void)
{
#define CASE(name) cmocka_unit_test(name)
	const struct CMUnitTest tests[] = {
		CASE(test_phrases),
		CASE(test_expected_is_understood),
		CASE(test_unexpected_is_rejected),
		CASE(test_yes_no_and_digits),
		CASE(test_open_decoding_and_partials),
		CASE(test_words_without_pronunciation),
		CASE(test_silence_noise_and_nothing),
		CASE(test_turns_and_callers_share_one_decoder),
		CASE(test_closing_at_any_time),
	};

	/* One engine for all: its models take long to load. */
	return cmocka_run_group_tests(tests, open_bench, close_bench);
}
