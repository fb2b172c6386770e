/* SPDX-License-Identifier: MIT */
/* Whose turn it is, rule by rule of the design's table "Turn-taking": end of
 * turn, barge-in, backchannels, silence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "agent/dialogue/turn.h"

static const char *const names[] = {
	[TURN_BEGIN] = "begin",	    [TURN_PAUSE] = "pause",
	[TURN_CUT] = "cut",	    [TURN_JUDGE] = "judge",
	[TURN_RESUME] = "resume",   [TURN_END] = "end",
	[TURN_SILENCE] = "silence",
};

struct run {
	struct turn turn;
	unsigned ms;
	char log[512];
};

static void note(struct run *run, enum turn_action action)
{
	size_t len = strlen(run->log);

	if (action)
		snprintf(run->log + len, sizeof(run->log) - len, "%s%u %s",
			 len ? ", " : "", run->ms, names[action]);
}

/* One step: v voice, s silence, capital while the agent speaks, b voice over a
 * blocked line, l silence while the pathway listens, each with its ms; "w yes"
 * words so far, "j okay" final words in doubt. */
static void step(struct run *run, const char *what)
{
	struct turn_frame frame = {
		.is_voice = strchr("vVb", what[0]) != NULL,
		.is_agent = strchr("VSb", what[0]) != NULL,
		.is_blocked = what[0] == 'b',
		.is_listening = what[0] == 'l',
	};

	if (what[0] == 'w')
		turn_on_words(&run->turn, what + 2);
	else if (what[0] == 'j')
		note(run, turn_on_judged(&run->turn, what + 2));
	else
		for (int ms = atoi(what + 1); ms > 0; ms -= 20) {
			run->ms += 20;
			note(run, turn_on_frame(&run->turn, &frame));
		}
}

static void play(struct run *run, const struct turn_settings *settings,
		 const char *script)
{
	char copy[256], *rest = copy, *what;

	*run = (struct run){ 0 };
	turn_init(&run->turn, settings);
	snprintf(copy, sizeof(copy), "%s", script);
	while ((what = strsep(&rest, ";")))
		step(run, what);
}

struct row {
	const char *script, *log;
};

static void check(const struct row *rows, size_t n,
		  const struct turn_settings *settings)
{
	struct run run;

	for (size_t i = 0; i < n; i++) {
		play(&run, settings, rows[i].script);
		if (strcmp(run.log, rows[i].log) != 0)
			fail_msg("%s\ngave   %s\nwanted %s", rows[i].script,
				 run.log, rows[i].log);
	}
}

#define CHECK(rows, ...)                                                       \
	check(rows, sizeof(rows) / sizeof(rows[0]),                            \
	      &(const struct turn_settings){ __VA_ARGS__ })

/* 200 ms of the silence are the voice detector's. */
static void ends_a_turn_by_silence(void **state)
{
	static const struct row rows[] = {
		{ "v400;s300", "20 begin" },
		{ "v400;s320", "20 begin, 720 end" },
		{ "v400;w one two three;s320", "20 begin, 720 end" },
		{ "v400;s200;v200;s320", "20 begin, 1120 end" },
		{ "v400;s320;v200;s320", "20 begin, 720 end, 740 begin, "
					 "1240 end" },
	};

	CHECK(rows, .end_ms = 500, .silence_ms = 8000);
}

static void ends_sooner_after_a_short_answer(void **state)
{
	static const struct row rows[] = {
		{ "v400;w yes;s40", "20 begin, 440 end" },
		{ "v400;w No.;s40", "20 begin, 440 end" },
		{ "v400;w okay;s40", "20 begin, 440 end" },
		{ "v400;w stop;s40", "20 begin, 440 end" },
		{ "v400;w yes but only;s40", "20 begin" },
		{ "v400;w tomorrow;s40", "20 begin" },
	};

	CHECK(rows, .end_ms = 500, .silence_ms = 8000);
}

static void waits_longer_after_an_open_end(void **state)
{
	static const struct row rows[] = {
		{ "v400;w I want a pizza and;s1000", "20 begin" },
		{ "v400;w I want a pizza and;s1020", "20 begin, 1420 end" },
		{ "v400;w um;s1000", "20 begin" },
		{ "v400;w um;s1020", "20 begin, 1420 end" },
		{ "v400;w I want and;s200;w I want and a pizza;s120",
		  "20 begin, 720 end" },
	};

	CHECK(rows, .end_ms = 500, .silence_ms = 8000);
}

/* Two pauses of 460 ms: half as much again is 690. */
static void adapts_to_the_callers_own_pauses(void **state)
{
	static const struct row rows[] = {
		{ "v200;s280;v200;s280;v200;s520", "20 begin, 1680 end" },
		{ "v200;s280;v200;s280;v200;s500", "20 begin" },
		{ "v200;s280;v200;s320", "20 begin, 1000 end" },
	};
	static const struct row slow[] = {
		{ "v200;s1700;v200;s1700;v200;s2300", "20 begin" },
		{ "v200;s1700;v200;s1700;v200;s2320", "20 begin, 6320 end" },
	};
	static const struct row quick[] = {
		{ "v200;s80", "20 begin" },
		{ "v200;s120", "20 begin, 320 end" },
	};

	CHECK(rows, .end_ms = 500, .silence_ms = 8000);
	CHECK(slow, .end_ms = 2000, .silence_ms = 8000);
	CHECK(quick, .end_ms = 100, .silence_ms = 8000);
}

static void keeps_to_the_threshold_of_a_node(void **state)
{
	static const struct row rows[] = {
		{ "v400;w yes;s1280", "20 begin" },
		{ "v400;w yes;s1320", "20 begin, 1720 end" },
		{ "v400;w pizza and;s1320", "20 begin, 1720 end" },
		{ "v200;s900;v200;s900;v200;s1320", "20 begin, 3720 end" },
	};

	CHECK(rows, .end_ms = 1500, .silence_ms = 8000, .is_fixed = true);
}

static void pauses_the_agent_when_in_doubt(void **state)
{
	static const struct row rows[] = {
		{ "S400;V180", "" },
		{ "S400;V200", "600 pause" },
		{ "S400;V180;S200;V180", "" }, /* each time too short */
		{ "V180", "" }, /* the first 200 ms of the agent */
		{ "S100;V200", "300 pause" },
		{ "V200", "200 pause" },
		{ "S400;b2000", "" }, /* block_interruptions */
	};

	CHECK(rows, .end_ms = 500, .silence_ms = 8000);
}

static void cuts_the_agent_when_it_is_meant(void **state)
{
	static const struct row rows[] = {
		{ "S400;V480", "600 pause" },
		{ "S400;V500", "600 pause, 900 cut" },
		{ "S400;V240;w not now;V20", "600 pause, 660 cut" },
		{ "S400;V240;w stop;V20", "600 pause, 660 cut" },
		{ "S400;V240;w wait;V20", "600 pause, 660 cut" },
		{ "S400;V240;w no;V20", "600 pause, 660 cut" },
		{ "S400;V240;w hold on;V20", "600 pause, 660 cut" },
		{ "S400;V240;w tomorrow;V20", "600 pause" }, /* one word */
		{ "S400;V240;w um;V20", "600 pause" },
		/* a turn like any other then */
		{ "S400;V500;v100;s320", "600 pause, 900 cut, 1320 end" },
	};

	CHECK(rows, .end_ms = 500, .silence_ms = 8000);
}

static void resumes_after_a_backchannel(void **state)
{
	static const struct row rows[] = {
		{ "S400;V300;S20;j yeah", "600 pause, 720 judge, 720 resume" },
		{ "S400;V300;S20;j ", "600 pause, 720 judge, 720 resume" },
		{ "S400;V300;S20;j uh huh",
		  "600 pause, 720 judge, 720 resume" },
		{ "S400;V300;S20;j yeah okay right",
		  "600 pause, 720 judge, 720 resume" },
		{ "S400;V300;S20;j tomorrow", "600 pause, 720 judge, 720 cut" },
		{ "S400;V300;S20;j no", "600 pause, 720 judge, 720 cut" },
		/* long, but a backchannel all the way */
		{ "S400;V240;w mhm;V900;S20;j mhm mhm",
		  "600 pause, 1560 judge, 1560 resume" },
		/* asked once, however long the answer takes */
		{ "S400;V300;S900;j okay",
		  "600 pause, 720 judge, 1600 resume" },
		/* a late answer decides nothing any more */
		{ "S400;V300;S2400;j tomorrow",
		  "600 pause, 720 judge, 2600 resume" },
	};

	CHECK(rows, .end_ms = 500, .silence_ms = 8000);
}

/* "2 s without words resumes where it stopped" */
static void resumes_after_two_seconds_without_words(void **state)
{
	static const struct row rows[] = {
		{ "S400;V240;w okay;V1940", "600 pause" },
		{ "S400;V240;w okay;V1960", "600 pause, 2600 resume" },
		/* speech goes on while the judge thinks: it counts */
		{ "S400;V300;S100;V200", "600 pause, 720 judge, 1000 cut" },
	};

	CHECK(rows, .end_ms = 500, .silence_ms = 8000);
}

/* The caller spoke already when the agent began. */
static void holds_an_agent_that_talks_over_the_caller(void **state)
{
	static const struct row rows[] = {
		{ "v100;V180", "20 begin" },
		{ "v100;V200", "20 begin, 300 pause" },
		{ "v100;V400", "20 begin, 300 pause, 500 cut" },
		{ "v100;w I said;V220", "20 begin, 300 pause, 320 cut" },
		{ "v100;b600", "20 begin" },
		{ "v100;V100;S320", "20 begin, 520 end" },
	};

	CHECK(rows, .end_ms = 500, .silence_ms = 8000);
}

static void notices_that_nobody_speaks(void **state)
{
	static const struct row rows[] = {
		{ "l7980", "" },
		{ "l8000", "8000 silence" },
		{ "l16000", "8000 silence, 16000 silence" },
		{ "s9000", "" }, /* the pathway thinks */
		{ "S9000", "" }, /* the agent speaks */
		{ "l7000;S1000;l7980", "" },
		{ "l7000;v100;s320;l7980", "7020 begin, 7420 end" },
	};

	CHECK(rows, .end_ms = 500, .silence_ms = 8000);
}

static void tells_words_apart(void **state)
{
	static const struct {
		const char *text;
		enum turn_words words;
	} rows[] = {
		{ "", WORDS_NONE },
		{ "  ", WORDS_NONE },
		{ "...", WORDS_NONE },
		{ "mhm", WORDS_BACKCHANNEL },
		{ "Uh huh.", WORDS_BACKCHANNEL },
		{ "yeah, yeah", WORDS_BACKCHANNEL },
		{ "okay", WORDS_BACKCHANNEL },
		{ "yes", WORDS_SHORT },
		{ "Sure!", WORDS_SHORT },
		{ "no", WORDS_HARD },
		{ "STOP", WORDS_HARD },
		{ "hold on", WORDS_HARD },
		{ "uh", WORDS_HESITATION },
		{ "and", WORDS_HESITATION },
		{ "yeah but", WORDS_OPEN },
		{ "my number is", WORDS_OPEN },
		{ "tomorrow", WORDS_ONE },
		{ "yeah tomorrow", WORDS_SOME },
		{ "uh tomorrow", WORDS_SOME },
		{ "a land", WORDS_SOME },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (turn_classify(rows[i].text) != rows[i].words)
			fail_msg("\"%s\" is %d, wanted %d", rows[i].text,
				 turn_classify(rows[i].text), rows[i].words);
}

static void starts_the_silence_anew_with_new_settings(void **state)
{
	struct turn_settings settings = { .end_ms = 500, .silence_ms = 1000 };
	struct run run = { 0 };

	turn_init(&run.turn, &settings);
	step(&run, "l900");
	turn_set(&run.turn, &settings);
	step(&run, "l980");
	assert_string_equal(run.log, "");
	step(&run, "l20");
	assert_string_equal(run.log, "1900 silence");
}

static void guards_the_beginning_of_each_line(void **state)
{
	struct turn_settings settings = { .end_ms = 500, .silence_ms = 8000 };
	struct run run = { 0 };

	turn_init(&run.turn, &settings);
	step(&run, "S1000");
	turn_on_line(&run.turn);
	step(&run, "V180");
	assert_string_equal(run.log, "");
	step(&run, "V20");
	assert_string_equal(run.log, "1200 pause");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_a_turn_by_silence),
		cmocka_unit_test(ends_sooner_after_a_short_answer),
		cmocka_unit_test(waits_longer_after_an_open_end),
		cmocka_unit_test(adapts_to_the_callers_own_pauses),
		cmocka_unit_test(keeps_to_the_threshold_of_a_node),
		cmocka_unit_test(pauses_the_agent_when_in_doubt),
		cmocka_unit_test(cuts_the_agent_when_it_is_meant),
		cmocka_unit_test(resumes_after_a_backchannel),
		cmocka_unit_test(resumes_after_two_seconds_without_words),
		cmocka_unit_test(holds_an_agent_that_talks_over_the_caller),
		cmocka_unit_test(notices_that_nobody_speaks),
		cmocka_unit_test(tells_words_apart),
		cmocka_unit_test(starts_the_silence_anew_with_new_settings),
		cmocka_unit_test(guards_the_beginning_of_each_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
