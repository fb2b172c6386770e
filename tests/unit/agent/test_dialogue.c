/* SPDX-License-Identifier: MIT */
/* The talk of a call over real streams: turns, interruptions and what was heard,
 * silence, keys, greeting, latency (design, "Turn-taking"). Each word of the
 * agent takes 100 ms. */
#include <errno.h>
#include <string.h>
#include "core/json.h"
#include "core/mem.h"
#include "tests/unit/agent/fixture_talk.h"

#define TEN "One two three four five six seven eight nine ten."

static const char nodes[] =
	"[{'id':'a','type':'Default','data':{'isStart':true,'text':'" TEN "'}},"
	"{'id':'b','type':'End Call','data':{'text':'All right.'}}]";
static const char edges[] =
	"[{'id':'1','source':'a','target':'b','label':'user says yes'}]";

static void open_ten(struct talk *talk)
{
	talk_open(talk, &(struct talk_settings){ nodes, edges });
}

static void asks_listens_and_ends(void **state)
{
	struct talk *talk = *state;

	ACTOR_HEARS(&talk->actor, { "yes" });
	open_ten(talk);
	talk_until(talk, "transcript.assistant", NULL);
	expect_event(talk, "transcript.assistant {'text':'" TEN "'}\n");
	talk_run(talk, 500);
	talk_speak(talk, 400);
	talk_until(talk, "transcript.user", NULL);
	expect_event(talk, "transcript.user {'text':'yes'}\n");
	talk_until(talk, "transcript.assistant", "All right.");
	assert_null(talk->ended); /* the last word is still on its way */
	talk_run(talk, 220);
	assert_string_equal(talk->ended, "end_call");
	assert_true(dialogue_heard_caller(talk->dialogue));
	expect_no_event(talk, "interrupt");
}

/* The caller speaks for long: cut 500 ms after the detector was sure. */
static void interrupt_at(struct talk *talk, unsigned ms)
{
	open_ten(talk);
	talk_run(talk, ms);
	talk_speak(talk, 1200);
	talk_until(talk, "transcript.assistant", NULL);
}

static void cuts_the_line_at_the_word_that_was_heard(void **state)
{
	struct talk *talk = *state;

	ACTOR_HEARS(&talk->actor, { "well yes" });
	interrupt_at(talk, 500);
	/* Heard from about 540 on, sure 60 later, held 200 after that. */
	expect_event(talk, "interrupt.late {'message':'The caller spoke over "
			   "the assistant.'}\n"
			   "transcript.assistant {'text':'One two three four "
			   "five six seven','generated_response':'" TEN "'}");
	talk_until(talk, "transcript.user", NULL);
	expect_event(talk, "transcript.user {'text':'well yes'}\n"
			   "llm.action");
	talk_until(talk, "transcript.assistant", "All right.");
}

static void cuts_a_line_that_has_just_begun(void **state)
{
	struct talk *talk = *state;

	ACTOR_HEARS(&talk->actor, { "yes" });
	interrupt_at(talk, 60);
	expect_event(talk, "interrupt.early {'message':'The caller spoke as "
			   "the assistant began.'}\n"
			   "transcript.assistant {'text':'One two three',");
}

static void cuts_at_once_for_two_words(void **state)
{
	struct talk *talk = *state;

	ACTOR_HEARS(&talk->actor, { "no not now", "no not", 400 });
	open_ten(talk);
	talk_run(talk, 500);
	talk_speak(talk, 350);
	talk_until(talk, "transcript.assistant", NULL);
	expect_event(talk, "interrupt.late");
	talk_until(talk, "transcript.user", "no not now");
}

static void resumes_where_it_was_after_a_backchannel(void **state)
{
	struct talk *talk = *state;
	static const char *const said[] = { "mhm", "", "uh huh" };

	for (size_t i = 0; i < 3; i++) {
		struct actor_turn turn = { said[i], NULL, 0 };

		talk->actor.turns = &turn;
		talk->actor.n_turns = 1;
		open_ten(talk);
		talk_run(talk, 500);
		talk_speak(talk, 250);
		talk_run(talk, 400);
		assert_true(playout_is_paused(stream_playout(talk->stream)));
		talk_until(talk, "transcript.assistant", NULL);
		expect_event(talk, "transcript.assistant {'text':'" TEN "'}\n");
		talk_run(talk, 2000);
		expect_no_event(talk, "transcript.user");
		expect_no_event(talk, "interrupt");
		talk_teardown(state);
		talk_setup(state);
		talk = *state;
	}
}

/* It was held all that time; the words come too late to matter. */
static void resumes_without_a_slow_recogniser(void **state)
{
	struct talk *talk = *state;

	ACTOR_HEARS(&talk->actor, { "tomorrow" });
	talk->actor.final_ms = 3500;
	open_ten(talk);
	talk_run(talk, 500);
	talk_speak(talk, 250);
	talk_run(talk, 2000);
	assert_true(playout_is_paused(stream_playout(talk->stream)));
	talk_run(talk, 400);
	assert_false(playout_is_paused(stream_playout(talk->stream)));
	talk_until(talk, "transcript.assistant", NULL);
	expect_event(talk, "transcript.assistant {'text':'" TEN "'}\n");
	/* Said before the question was over, heard after it: a turn now. */
	talk_until(talk, "transcript.user", "tomorrow");
}

/* A doubt is judged by its own words, not by those of the turn before. */
static void keeps_late_words_apart(void **state)
{
	struct talk *talk = *state;

	ACTOR_HEARS(&talk->actor, { "tomorrow" }, { "mhm" });
	talk->actor.first_ms = 1500;
	talk->actor.final_ms = 1500;
	open_ten(talk);
	talk_speak(talk, 160); /* over before the agent begins */
	talk_run(talk, 1800);
	talk_speak(talk, 250);
	talk_run(talk, 500);
	assert_true(playout_is_paused(stream_playout(talk->stream)));
	talk_run(talk, 600); /* "tomorrow" has come meanwhile */
	assert_true(playout_is_paused(stream_playout(talk->stream)));
	talk_until(talk, "transcript.assistant", NULL);
	expect_event(talk, "transcript.assistant {'text':'" TEN "'}\n");
	expect_event(talk, "transcript.user {'text':'tomorrow'}");
	expect_no_event(talk, "interrupt");
}

static void hears_all_of_a_broken_interruption(void **state)
{
	struct talk *talk = *state;

	ACTOR_HEARS(&talk->actor, { "tomorrow" }, { "at eight" });
	talk->actor.final_ms = 600;
	open_ten(talk);
	talk_run(talk, 500);
	talk_speak(talk, 250);
	talk_run(talk, 560);
	talk_speak(talk, 900);
	talk_until(talk, "transcript.user", NULL);
	expect_event(talk, "transcript.user {'text':'tomorrow at eight'}");
	expect_event(talk, "interrupt.late");
}

static void lets_nobody_interrupt_when_blocked(void **state)
{
	static const struct talk_settings rows[] = {
		{ nodes, edges, { .block_interruptions = true }, false },
		{ "[{'id':'a','type':'Default','data':{'isStart':true,"
		  "'text':'" TEN "','block_interruptions':true}}]",
		  NULL,
		  { 0 },
		  false },
	};
	struct talk *talk = *state;

	for (size_t i = 0; i < 2; i++) {
		ACTOR_HEARS(&talk->actor, { "stop it please" });
		talk_open(talk, &rows[i]);
		talk_run(talk, 300);
		talk_press(talk, "1"); /* keys do not cut it either */
		talk_speak(talk, 500);
		talk_until(talk, "transcript.assistant", NULL);
		expect_event(talk, "button.press {'button':'1'}");
		expect_event(talk, "transcript.assistant {'text':'" TEN "'}\n");
		expect_no_event(talk, "interrupt");
		talk_teardown(state);
		talk_setup(state);
		talk = *state;
	}
}

static void asks_again_and_says_goodbye_into_silence(void **state)
{
	struct talk *talk = *state;

	open_ten(talk);
	talk_until(talk, "transcript.assistant", NULL);
	talk_run(talk, 7900);
	assert_int_equal(talk_count(talk, "Are you still there?"), 0);
	talk_run(talk, 600);
	assert_int_equal(talk_count(talk, "Are you still there?"), 1);
	talk_run(talk, 8500);
	assert_int_equal(talk_count(talk, "Are you still there?"), 2);
	talk_until(talk, "transcript.assistant", "Goodbye.");
	talk_run(talk, 220);
	assert_string_equal(talk->ended, "silence");
	assert_false(dialogue_heard_caller(talk->dialogue));
}

/* Noise that holds no words is no turn, and no latency. */
static void takes_no_turn_of_noise(void **state)
{
	struct talk *talk = *state;
	json_t *latency;

	ACTOR_HEARS(&talk->actor, { "" }, { "yes" });
	open_ten(talk);
	talk_until(talk, "transcript.assistant", NULL);
	talk_run(talk, 200);
	talk_speak(talk, 300);
	talk_run(talk, 7500);
	expect_no_event(talk, "transcript.user");
	expect_no_event(talk, "Are you");
	talk_until(talk, "transcript.assistant", "Are you still there?");
	latency = latency_json(dialogue_latency(talk->dialogue));
	assert_true(json_is_null(latency));
	json_decref(latency);
	talk_speak(talk, 300);
	talk_until(talk, "transcript.user", "yes");
}

static void takes_a_key_as_the_turn(void **state)
{
	static const char key_edges[] =
		"[{'id':'1','source':'a','target':'b','label':'Press 1'}]";
	struct talk *talk = *state;

	talk_open(talk, &(struct talk_settings){ nodes, key_edges });
	talk_run(talk, 450);
	talk_press(talk, "1");
	talk_until(talk, "button.press", NULL);
	expect_event(talk, "transcript.assistant {'text':'One two three");
	expect_no_event(talk, "{'text':'" TEN);
	talk_until(talk, "transcript.assistant", "All right.");
	assert_true(dialogue_heard_caller(talk->dialogue));
}

static void leaves_keys_alone_that_do_not_count(void **state)
{
	struct talk *talk = *state;

	ACTOR_HEARS(&talk->actor, { "yes" });
	talk_open(talk, &(struct talk_settings){ .nodes = nodes,
						 .edges = edges,
						 .ignore_digits = true });
	talk_run(talk, 450);
	talk_press(talk, "12");
	talk_until(talk, "transcript.assistant", NULL);
	expect_event(talk, "button.press {'button':'2'}");
	expect_event(talk, "transcript.assistant {'text':'" TEN "'}\n");
	talk_press(talk, "3");
	talk_run(talk, 1000);
	talk_speak(talk, 300);
	talk_until(talk, "transcript.user", "yes");
}

static const char digit_nodes[] =
	"[{'id':'a','type':'Default','data':{'isStart':true,"
	" 'text':'Your code please.',"
	" 'extractVars':[['code','integer','the four digit code']]}},"
	"{'id':'b','type':'End Call','data':{'text':'All right.'}}]";
static const char digit_edges[] =
	"[{'id':'1','source':'a','target':'b','data':{'alwaysPick':true}}]";

static void waits_for_all_digits_pressed(void **state)
{
	struct talk *talk = *state;

	talk_open(talk, &(struct talk_settings){ digit_nodes, digit_edges });
	talk_until(talk, "transcript.assistant", NULL);
	talk_press(talk, "123");
	talk_run(talk, 2000);
	expect_no_event(talk, "node.transition");
	talk_press(talk, "4");
	talk_until(talk, "node.transition", NULL);
	expect_event(talk, "'variables_extracted':{'code':1234}");
}

/* A pause between digits ends nothing until the last one was said. */
static void waits_for_all_digits_spoken(void **state)
{
	struct talk *talk = *state;

	ACTOR_HEARS(&talk->actor, { "one two three four", "one two", 300 });
	talk_open(talk, &(struct talk_settings){ digit_nodes, digit_edges });
	talk_until(talk, "transcript.assistant", NULL);
	talk_run(talk, 100);
	talk_speak(talk, 500);
	talk_run(talk, 1800);
	expect_no_event(talk, "transcript.user");
	talk_speak(talk, 500);
	talk_run(talk, 2500);
	expect_no_event(talk, "transcript.user");
	talk_until(talk, "transcript.user", "one two three four");
	assert_int_equal(talk_count(talk, "transcript.user"), 1);
}

static void ends_soon_after_the_last_digit(void **state)
{
	struct talk *talk = *state;

	ACTOR_HEARS(&talk->actor,
		    { "one two three four", "one two three four", 500 });
	talk_open(talk, &(struct talk_settings){ digit_nodes, digit_edges });
	talk_until(talk, "transcript.assistant", NULL);
	talk_run(talk, 100);
	talk_speak(talk, 600);
	talk_run(talk, 1300);
	expect_event(talk, "transcript.user");
}

static void waits_for_the_callers_greeting(void **state)
{
	struct talk_settings settings = { nodes, edges, { 0 }, false };
	struct talk *talk = *state;

	settings.dialogue.wait_for_greeting = true;
	ACTOR_HEARS(&talk->actor, { "hello" });
	talk_open(talk, &settings);
	talk_run(talk, 1000);
	assert_string_equal(buffer_str(&talk->events), "");
	talk_speak(talk, 500);
	talk_until(talk, "transcript.user", "hello");
	talk_until(talk, "transcript.assistant", NULL);
	expect_event(talk, "transcript.user {'text':'hello'}\n"
			   "transcript.assistant {'text':'" TEN "'}\n");
}

static void greets_first_after_five_seconds(void **state)
{
	struct talk_settings settings = { nodes, edges, { 0 }, false };
	struct talk *talk = *state;

	settings.dialogue.wait_for_greeting = true;
	talk_open(talk, &settings);
	talk_run(talk, 4990);
	assert_string_equal(buffer_str(&talk->events), "");
	talk_run(talk, 20);
	expect_event(talk, "conversation.init");
}

/* The limit does not make it talk over a greeting that is under way. */
static void lets_a_long_greeting_finish(void **state)
{
	struct talk_settings settings = { nodes, edges, { 0 }, false };
	struct talk *talk = *state;

	settings.dialogue.wait_for_greeting = true;
	ACTOR_HEARS(&talk->actor, { "you have reached the office" });
	talk_open(talk, &settings);
	talk_run(talk, 4000);
	talk_speak(talk, 4000);
	talk_run(talk, 3900);
	assert_string_equal(buffer_str(&talk->events), "");
	talk_until(talk, "transcript.user", "office");
	expect_event(talk, "conversation.init");
}

static void measures_what_the_caller_waited(void **state)
{
	struct talk *talk = *state;
	json_t *latency, *turn;
	int64_t total, parts = 0;
	const char *key;
	json_t *value;

	ACTOR_HEARS(&talk->actor, { "certainly so" });
	talk->actor.final_ms = 70;
	talk->actor.first_ms = 110;
	talk_open(talk,
		  &(struct talk_settings){
			  nodes, "[{'id':'1','source':'a','target':'b'}]" });
	talk_until(talk, "transcript.assistant", NULL);
	talk_run(talk, 400);
	talk_speak(talk, 620);
	talk_until(talk, "transcript.assistant", "All right.");
	latency = latency_json(dialogue_latency(talk->dialogue));
	assert_int_equal(json_array_size(json_object_get(latency, "per_turn")),
			 1);
	turn = json_array_get(json_object_get(latency, "per_turn"), 0);
	total = json_integer_value(json_object_get(turn, "total"));
	json_object_foreach(turn, key, value)
		parts += strcmp(key, "total") ? json_integer_value(value) : 0;
	/* 500 of silence, 70 and 110 of the engines, jitter and frames. */
	assert_in_range(total, 680, 780);
	assert_in_range(
		json_integer_value(json_object_get(turn, "end_of_turn")), 500,
		580);
	assert_int_equal(
		json_integer_value(json_object_get(turn, "recogniser")), 70);
	assert_int_equal(
		json_integer_value(json_object_get(turn, "synthesiser")), 110);
	assert_in_range(total - parts, 0, 2); /* each part is cut to ms */
	json_decref(latency);
}

static void goes_on_when_its_voice_fails(void **state)
{
	struct talk *talk = *state;

	ACTOR_HEARS(&talk->actor, { "yes" });
	talk->actor.say_error = -EIO;
	open_ten(talk);
	talk_until(talk, "transcript.assistant", NULL);
	expect_event(talk, "transcript.assistant {'text':null,"
			   "'generated_response':'" TEN "'}");
	talk->actor.say_error = 0;
	talk_run(talk, 200);
	talk_speak(talk, 300);
	talk_until(talk, "transcript.assistant", "'All right.'");
}

static void stops_with_what_was_heard_so_far(void **state)
{
	struct talk *talk = *state;

	open_ten(talk);
	talk_run(talk, 450);
	dialogue_stop(talk->dialogue);
	expect_event(talk, "transcript.assistant {'text':'One two three");
	assert_int_equal(json_array_size(pathway_history(
				 dialogue_pathway(talk->dialogue))),
			 2);
	buffer_clear(&talk->events);
	talk_speak(talk, 1000);
	talk_press(talk, "1");
	talk_run(talk, 10000);
	assert_string_equal(buffer_str(&talk->events), "");
	assert_null(talk->ended);
}

/* At any moment: nothing leaks, nothing calls back. */
static void closes_at_any_moment(void **state)
{
	struct talk *talk = *state;

	for (unsigned ms = 0; ms < 4000; ms += 230) {
		ACTOR_HEARS(&talk->actor, { "mhm" }, { "yes" });
		talk->actor.final_ms = 100;
		open_ten(talk);
		talk_run(talk, ms < 500 ? ms : 500);
		talk_speak(talk, 250);
		talk_run(talk, ms < 500 ? 0 : ms - 500);
		talk_speak(talk, 300);
		talk_run(talk, ms / 10);
		dialogue_close(&talk->dialogue);
		talk_run(talk, 1000);
		assert_null(talk->ended);
		talk_teardown(state);
		talk_setup(state);
		talk = *state;
	}
}

static void refuses_a_start_that_is_not_there(void **state)
{
	struct talk *talk = *state;
	struct dialogue_options options = {
		.loop = talk->loop,
		.speech = &talk->actor.base,
		.stream = talk->stream,
		.call_id = "call-1",
		.pathway = { .loop = talk->loop,
			     .call_id = "call-1",
			     .start_node_id = "nowhere",
			     .graph = graph_of_task("Talk.", NULL) },
	};

	assert_int_equal(dialogue_open(&talk->dialogue, &options, NULL, talk),
			 -ENOENT);
	assert_null(talk->dialogue);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, talk_setup, talk_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(asks_listens_and_ends),
		CASE(cuts_the_line_at_the_word_that_was_heard),
		CASE(cuts_a_line_that_has_just_begun),
		CASE(cuts_at_once_for_two_words),
		CASE(resumes_where_it_was_after_a_backchannel),
		CASE(resumes_without_a_slow_recogniser),
		CASE(keeps_late_words_apart),
		CASE(hears_all_of_a_broken_interruption),
		CASE(lets_nobody_interrupt_when_blocked),
		CASE(asks_again_and_says_goodbye_into_silence),
		CASE(takes_no_turn_of_noise),
		CASE(takes_a_key_as_the_turn),
		CASE(leaves_keys_alone_that_do_not_count),
		CASE(waits_for_all_digits_pressed),
		CASE(waits_for_all_digits_spoken),
		CASE(ends_soon_after_the_last_digit),
		CASE(waits_for_the_callers_greeting),
		CASE(greets_first_after_five_seconds),
		CASE(lets_a_long_greeting_finish),
		CASE(measures_what_the_caller_waited),
		CASE(goes_on_when_its_voice_fails),
		CASE(stops_with_what_was_heard_so_far),
		CASE(closes_at_any_moment),
		CASE(refuses_a_start_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
