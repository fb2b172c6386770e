/* SPDX-License-Identifier: MIT */
/* One utterance: "never a word that was not played, never one lost" (design,
 * "what was heard"). Words are tones of 100 ms. */
#include <errno.h>
#include <string.h>
#include "agent/dialogue/line.h"
#include "core/mem.h"
#include "tests/unit/agent/fixture_talk.h"

static const char text[] = "One two three, four five!";

struct watch {
	struct line *line;
	unsigned audio, started, finished;
	int err;
	bool closes;
};

static void on_first_audio(void *owner)
{
	((struct watch *)owner)->audio++;
}

static void on_started(void *owner)
{
	((struct watch *)owner)->started++;
}

static void on_finished(void *owner, int err)
{
	struct watch *watch = owner;

	watch->finished++;
	watch->err = err;
	if (watch->closes)
		line_close(&watch->line);
}

static void open_line(struct talk *talk, struct watch *watch, const char *said)
{
	static const struct line_events events = {
		.on_first_audio = on_first_audio,
		.on_started = on_started,
		.on_finished = on_finished,
	};
	struct line_options options = { .speech = &talk->actor.base,
					.playout = stream_playout(talk->stream),
					.text = said };

	watch->line = line_open(talk->loop, &options, &events, watch);
}

static void expect_heard(const struct watch *watch, const char *wanted)
{
	char *heard = line_heard(watch->line);

	assert_string_equal(heard, wanted);
	mem_free(heard);
}

static void says_all_of_it(void **state)
{
	struct talk *talk = *state;
	struct watch watch = { 0 };

	open_line(talk, &watch, text);
	assert_false(line_has_audio(watch.line));
	talk_run(talk, 0);
	assert_int_equal(watch.audio, 1);
	assert_true(line_has_audio(watch.line));
	talk_run(talk, 480);
	assert_int_equal(watch.started, 1);
	assert_int_equal(watch.finished, 0);
	talk_run(talk, 60);
	assert_int_equal(watch.finished, 1);
	assert_int_equal(watch.err, 0);
	assert_int_equal(line_played_ms(watch.line), 500);
	expect_heard(&watch, text);
	talk_run(talk, 1000);
	assert_int_equal(watch.finished, 1);
	line_close(&watch.line);
}

/* What has been sent is known to the frame; words end with the sample. */
static void ends_what_was_heard_at_a_word(void **state)
{
	struct talk *talk = *state;
	static const char *const words[] = {
		"", "One", "One two", "One two three,", "One two three, four",
	};

	for (unsigned ms = 0; ms < 500; ms += 20) {
		struct watch watch = { 0 };
		unsigned played;

		open_line(talk, &watch, text);
		talk_run(talk, ms);
		played = line_played_ms(watch.line);
		assert_true(played <= ms + 20 && played + 20 >= ms);
		expect_heard(&watch, words[played / 100]);
		line_close(&watch.line);
		assert_int_equal(playout_queued(stream_playout(talk->stream)),
				 0);
		talk_run(talk, 100);
		assert_int_equal(watch.finished, 0);
	}
}

static void counts_no_pause_as_played(void **state)
{
	struct talk *talk = *state;
	struct watch watch = { 0 };
	unsigned played;

	open_line(talk, &watch, text);
	talk_run(talk, 250);
	playout_pause(stream_playout(talk->stream));
	played = line_played_ms(watch.line);
	talk_run(talk, 5000);
	assert_int_equal(line_played_ms(watch.line), played);
	assert_int_equal(watch.finished, 0);
	playout_resume(stream_playout(talk->stream));
	talk_run(talk, 320);
	assert_int_equal(watch.finished, 1);
	expect_heard(&watch, text);
	line_close(&watch.line);
}

/* The engine is slower than the playout: it waits, and says it once. */
static void waits_for_a_slow_engine(void **state)
{
	struct talk *talk = *state;
	struct watch watch = { 0 };

	talk->actor.first_ms = 300;
	talk->actor.gap_ms = 400;
	open_line(talk, &watch, "One two");
	talk_run(talk, 290);
	assert_int_equal(watch.audio, 0);
	talk_run(talk, 200);
	assert_int_equal(watch.audio, 1);
	assert_int_equal(watch.started, 1);
	assert_int_equal(playout_queued(stream_playout(talk->stream)), 0);
	assert_int_equal(watch.finished, 0);
	expect_heard(&watch, "One");
	talk_run(talk, 400);
	expect_heard(&watch, "One two");
	assert_int_equal(watch.finished, 0);
	talk_run(talk, 400);
	assert_int_equal(watch.finished, 1);
	assert_int_equal(watch.audio, 1);
	assert_int_equal(watch.started, 1);
	line_close(&watch.line);
}

static void tells_of_an_engine_that_fails(void **state)
{
	struct talk *talk = *state;
	struct watch watch = { 0 };

	talk->actor.say_error = -EAGAIN;
	open_line(talk, &watch, text);
	assert_int_equal(watch.finished, 0);
	talk_run(talk, 0);
	assert_int_equal(watch.finished, 1);
	assert_int_equal(watch.err, -EAGAIN);
	expect_heard(&watch, "");
	line_close(&watch.line);

	talk->actor.say_error = 0;
	talk->actor.fails_after = 2;
	open_line(talk, &watch, text);
	talk_run(talk, 300);
	assert_int_equal(watch.finished, 2);
	assert_int_equal(watch.err, -EIO);
	expect_heard(&watch, "One two");
	line_close(&watch.line);
}

static void says_nothing_of_nothing(void **state)
{
	struct talk *talk = *state;
	struct watch watch = { .closes = true };

	open_line(talk, &watch, "");
	talk_run(talk, 20);
	assert_int_equal(watch.finished, 1);
	assert_int_equal(watch.audio, 0);
	assert_null(watch.line);
	line_close(&watch.line); /* NULL is fine */
}

static void follows_line_upon_line(void **state)
{
	struct talk *talk = *state;
	struct watch first = { .closes = true }, second = { .closes = true };

	open_line(talk, &first, "One two");
	talk_run(talk, 250);
	assert_null(first.line);
	open_line(talk, &second, "Three");
	talk_run(talk, 40);
	assert_true(line_played_ms(second.line) <= 40);
	expect_heard(&second, "");
	talk_run(talk, 100);
	assert_int_equal(second.finished, 1);
	assert_int_equal(first.finished, 1);
	assert_true(talk->caller_voiced > 10);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, talk_setup, talk_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(says_all_of_it),
		CASE(ends_what_was_heard_at_a_word),
		CASE(counts_no_pause_as_played),
		CASE(waits_for_a_slow_engine),
		CASE(tells_of_an_engine_that_fails),
		CASE(says_nothing_of_nothing),
		CASE(follows_line_upon_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
