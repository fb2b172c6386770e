/* SPDX-License-Identifier: MIT */
/* Speech out: audio at 8 kHz in order, a mark at the end of each word that
 * points into the text as given, any UTF-8, cancelling at any time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "agent/engine/speakable.h"
#include "agent/engine/speech.h"
#include "agent/engine/speech_flite.h"
#include "core/loop.h"
#include "core/work.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

enum { MARKS_MAX = 400 };
enum cut { CUT_NEVER, CUT_AUDIO, CUT_MARKS, CUT_DONE };

struct talk {
	struct loop *loop;
	struct work *work;
	struct speech *speech;
	struct synthesis *synthesis;
	uint64_t samples, energy;
	struct speech_mark marks[MARKS_MAX];
	size_t n_marks;
	unsigned pieces, done;
	int err;
	enum cut cut;
	unsigned *waiting; /* real loop: stop when it reaches 0 */
};

static void on_audio(void *owner, const int16_t *samples, size_t n)
{
	struct talk *talk = owner;

	assert_true(n > 0);
	if (talk->cut == CUT_AUDIO)
		synthesis_cancel(&talk->synthesis);
	talk->pieces++;
	talk->samples += n;
	for (size_t i = 0; i < n; i++)
		talk->energy += (uint64_t)abs(samples[i]);
}

static void on_marks(void *owner, const struct speech_mark *marks, size_t n)
{
	struct talk *talk = owner;

	if (talk->cut == CUT_MARKS)
		synthesis_cancel(&talk->synthesis);
	for (size_t i = 0; i < n; i++) {
		assert_true(talk->n_marks < MARKS_MAX);
		assert_true(marks[i].samples >= talk->samples);
		talk->marks[talk->n_marks++] = marks[i];
	}
}

static void on_done(void *owner, int err)
{
	struct talk *talk = owner;

	talk->done++;
	talk->err = err;
	if (talk->cut == CUT_DONE)
		synthesis_cancel(&talk->synthesis);
	if (talk->waiting && --*talk->waiting == 0)
		loop_stop(talk->loop);
}

static const struct synthesis_events events = { on_audio, on_marks, on_done };

static int open_talk(void **state)
{
	static struct talk talk;

	talk = (struct talk){ 0 };
	loop_open_sim(&talk.loop, 0);
	assert_int_equal(work_open(&talk.work, talk.loop), 0);
	speech_open_flite(&talk.speech, talk.loop, talk.work);
	*state = &talk;
	return 0;
}

static int close_talk(void **state)
{
	struct talk *talk = *state;

	synthesis_cancel(&talk->synthesis);
	speech_close(&talk->speech);
	work_close(&talk->work);
	loop_close(&talk->loop);
	return 0;
}

static void start(struct talk *talk, const char *text, const char *voice)
{
	struct speech_say say = { .text = text,
				  .voice = voice,
				  .events = &events };

	talk->samples = talk->energy = talk->n_marks = 0;
	talk->pieces = talk->done = 0;
	assert_int_equal(speech_say(&talk->synthesis, talk->speech, &say, talk),
			 0);
	assert_int_equal(talk->pieces + talk->n_marks + talk->done, 0);
}

static void run(struct talk *talk, const char *text, const char *voice)
{
	start(talk, text, voice);
	loop_advance_ms(talk->loop, 10);
	assert_int_equal(talk->done, 1);
	synthesis_cancel(&talk->synthesis);
}

static void check_marks(const struct talk *talk, const char *text)
{
	assert_true(talk->n_marks > 0);
	for (size_t i = 1; i < talk->n_marks; i++) {
		assert_true(talk->marks[i].samples >=
			    talk->marks[i - 1].samples);
		assert_true(talk->marks[i].text_bytes >
			    talk->marks[i - 1].text_bytes);
	}
	assert_int_equal(talk->marks[talk->n_marks - 1].text_bytes,
			 strlen(text));
	assert_true(talk->marks[talk->n_marks - 1].samples <= talk->samples);
}

static void test_marks_at_word_ends(void **state)
{
	static const char text[] = "Hello, Dr. Smith! It\xe2\x80\x99s \xe2\x80"
				   "\x9c"
				   "nice\xe2\x80\x9d \xf0\x9f\x98\x80.";
	static const char *const heard[] = {
		"Hello,",
		"Hello, Dr.",
		"Hello, Dr. Smith!",
		"Hello, Dr. Smith! It\xe2\x80\x99s",
		text,
	};
	struct talk *talk = *state;

	run(talk, text, NULL);
	assert_int_equal(talk->err, 0);
	assert_int_equal(talk->n_marks, COUNT(heard) + 1);
	for (size_t i = 0; i + 1 < COUNT(heard); i++)
		assert_memory_equal(text, heard[i], talk->marks[i].text_bytes);
	check_marks(talk, text);
}

static void test_voices(void **state)
{
	static const char *const names[] = { NULL,  "",		  "cmu_us_slt",
					     "kal", "cmu_us_kal", "nobody" };

	for (size_t i = 0; i < COUNT(names); i++) {
		struct talk *talk = *state;

		run(talk, "One two three four five.", names[i]);
		assert_int_equal(talk->err, 0);
		/* One to four seconds, and loud enough to be speech. */
		assert_in_range(talk->samples, 8000, 32000);
		assert_true(talk->energy / talk->samples > 300);
		check_marks(talk, "One two three four five.");
	}
}

static void test_any_text(void **state)
{
	static const char *const texts[] = {
		"",
		" ",
		"...",
		"!?",
		"\"",
		"'",
		"-",
		"\xff\xfe",
		"\xf0\x9f",
		"\xf0\x9f\x98\x80",
		"$",
		"$5.20 & 10%",
		"<speak>hi</speak>",
		"a@b.com",
		"http://x.y/z?q=1",
		"caf\xc3\xa9 na\xc3\xafve",
		"\xe3\x81\x82\xe3\x81\x84",
		"one\ntwo\tthree\r\n",
		"(((",
		"5",
		"1234567890123456789012345678901234567890",
		"x\x01y\x7fz",
		"A. B. C.",
		"\xe2\x82\xac 5",
		"O'Neill's",
		"'tis ''quoted''",
		"3/4",
		"10:30",
		"#1",
		"1,000,000",
	};

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct talk *talk = *state;

		run(talk, texts[i], NULL);
		assert_int_equal(talk->err, 0);
		check_marks(talk, texts[i]);
	}
}

static void test_long_texts_come_in_pieces(void **state)
{
	struct talk *talk = *state;
	char text[2000] = "";

	while (strlen(text) < 1200)
		strcat(text, "word and more, ");
	run(talk, text, "kal");
	assert_true(talk->pieces >= 4);
	check_marks(talk, text);
	memset(text, 'a', 900);
	text[900] = '\0';
	run(talk, text, "kal");
	assert_int_equal(talk->err, 0);
	check_marks(talk, text);
	run(talk, "First of all good morning, this is the rest. And more.",
	    NULL);
	assert_int_equal(talk->pieces, 3);
}

static void test_cancel_inside_callbacks(void **state)
{
	static const struct {
		enum cut cut;
		unsigned pieces, done;
	} rows[] = { { CUT_AUDIO, 1, 0 },
		     { CUT_MARKS, 0, 0 },
		     { CUT_DONE, 2, 1 } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct talk *talk = *state;

		talk->cut = rows[i].cut;
		start(talk, "First sentence here. Second sentence.", "kal");
		loop_advance_ms(talk->loop, 10);
		assert_null(talk->synthesis);
		assert_int_equal(talk->pieces, rows[i].pieces);
		assert_int_equal(talk->done, rows[i].done);
	}
}

static void test_close_before_anything_ran(void **state)
{
	struct talk *talk = *state;

	start(talk, "This is never heard.", NULL);
	synthesis_cancel(&talk->synthesis);
	speech_close(&talk->speech);
	loop_advance_ms(talk->loop, 10);
	assert_int_equal(talk->pieces + talk->n_marks + talk->done, 0);
}

static void test_several_at_once_in_threads(void **state)
{
	static struct talk talks[6];
	unsigned waiting = COUNT(talks), i;
	struct speech *speech;
	struct loop *loop;
	struct work *work;

	assert_int_equal(loop_open(&loop), 0);
	assert_int_equal(work_open(&work, loop), 0);
	speech_open_flite(&speech, loop, work);
	for (i = 0; i < COUNT(talks); i++) {
		talks[i] = (struct talk){ .loop = loop,
					  .work = work,
					  .speech = speech,
					  .waiting = &waiting };
		start(&talks[i], "Several of us speak. All at once, really.",
		      i % 3 ? "slt" : "kal");
	}
	loop_run(loop);
	for (i = 0; i < COUNT(talks); i++) {
		assert_int_equal(talks[i].err, 0);
		check_marks(&talks[i],
			    "Several of us speak. All at once, really.");
		/* Cut short while jobs run. */
		synthesis_cancel(&talks[i].synthesis);
		start(&talks[i], "And once more, from the beginning.", NULL);
		synthesis_cancel(&talks[i].synthesis);
	}
	speech_close(&speech);
	work_close(&work);
	loop_close(&loop);
}

static void test_speakable(void **state)
{
	static const struct {
		const char *source, *text;
	} rows[] = {
		{ "", " " },
		{ "Hi", "Hi " },
		{ "caf\xc3\xa9", "cafe " },
		{ "\xe2\x80\x9cyes\xe2\x80\x9d", "\"yes\" " },
		{ "a\xe2\x80\x94"
		  "b",
		  "a, b " },
		{ "50%", "50 percent " },
		{ "R&D", "R and D " },
		{ "ok \xf0\x9f\x91\x8d ok", "ok ok " },
		{ "*bold* _x_", " bold x " },
		{ "\xc3", " " },
		{ "e\xcc\x81", "e " },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct speakable speakable;

		speakable_init(&speakable, rows[i].source);
		assert_string_equal(speakable.text, rows[i].text);
		assert_int_equal(speakable.end[speakable.n - 1],
				 strlen(rows[i].source));
		speakable_reset(&speakable);
	}
}

static void test_pronounce(void **state)
{
	char text[100];

	assert_true(speech_pronounce(text, sizeof(text), "hello"));
	assert_string_equal(text, "HH AH L OW");
	assert_true(speech_pronounce(text, sizeof(text), "parley"));
	assert_true(speech_pronounce(text, sizeof(text), "zwibblor"));
	assert_false(speech_pronounce(text, sizeof(text), "caf\xc3\xa9"));
	assert_false(speech_pronounce(text, sizeof(text), ""));
	assert_false(speech_pronounce(text, 4, "hello"));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_talk, close_talk)
	const struct CMUnitTest tests[] = {
		CASE(test_marks_at_word_ends),
		CASE(test_voices),
		CASE(test_any_text),
		CASE(test_long_texts_come_in_pieces),
		CASE(test_cancel_inside_callbacks),
		CASE(test_close_before_anything_ran),
		cmocka_unit_test(test_several_at_once_in_threads),
		cmocka_unit_test(test_speakable),
		CASE(test_pronounce),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
