/* SPDX-License-Identifier: MIT */
/* agent/dialogue/turn.h - whose turn it is: end of turn and barge-in, as a
 * machine that sees one frame each 20 ms and knows neither audio nor words but
 * what it is told. Caller's memory, no allocation, no clock of its own. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct turn_settings {
	uint32_t end_ms; /* silence that ends a turn; 500 */
	uint32_t silence_ms; /* nobody speaks: ask again; 8000 */
	bool is_fixed; /* end_ms comes from the node: no adapting */
};

/* QUIET --voice--> CALLER --voice stops--> TRAILING --end_ms--> QUIET
 * TRAILING --voice--> CALLER
 * QUIET, CALLER --voice 200 ms over the agent--> DOUBT --confirmed--> CALLER
 * DOUBT --words were none or a backchannel, or 2 s without words--> QUIET (the
 * agent resumes) */
enum turn_state { TURN_QUIET, TURN_CALLER, TURN_TRAILING, TURN_DOUBT };

enum turn_action {
	TURN_NONE,
	TURN_BEGIN, /* the caller has begun: feed the recogniser */
	TURN_PAUSE, /* begun over the agent: hold the playout too */
	TURN_CUT, /* the interruption is real: drop what was left */
	TURN_JUDGE, /* it stopped in doubt: ask what the words were */
	TURN_RESUME, /* it was nothing: the agent goes on */
	TURN_END, /* the caller has finished */
	TURN_SILENCE /* nobody has said anything for silence_ms */
};

struct turn {
	struct turn_settings settings;
	enum turn_state state;
	struct {
		uint32_t voice, silence; /* ms of this stretch */
		uint32_t agent; /* of this utterance */
		uint32_t quiet; /* nobody spoke */
		uint32_t held; /* since TURN_PAUSE */
		uint32_t pauses, n_pauses; /* inside caller's turns */
	} ms;
	enum turn_words { /* from OPEN on they are an interruption */
			  WORDS_NONE,
			  WORDS_BACKCHANNEL, /* "mhm", "yeah okay" */
			  WORDS_SHORT, /* a whole answer: "yes" */
			  WORDS_ONE,
			  WORDS_HESITATION, /* "um" */
			  WORDS_OPEN, /* two or more that end in "and", "um" */
			  WORDS_SOME,
			  WORDS_HARD /* "stop" */
	} words;
};

struct turn_frame {
	bool is_voice; /* after hysteresis */
	bool is_agent; /* the agent's audio is playing or held */
	bool is_blocked; /* interruptions are off for this line */
	bool is_listening; /* the pathway waits for the caller */
};

void turn_init(struct turn *turn, const struct turn_settings *settings);
void turn_set(struct turn *turn, const struct turn_settings *settings);
/* The agent begins another utterance. */
void turn_on_line(struct turn *turn);
/* One frame of 20 ms. */
enum turn_action turn_on_frame(struct turn *turn,
			       const struct turn_frame *frame);
/* What was understood so far of the caller's turn. */
void turn_on_words(struct turn *turn, const char *text);
/* After TURN_JUDGE: the final words. TURN_RESUME, or TURN_CUT: a real turn. */
enum turn_action turn_on_judged(struct turn *turn, const char *text);
enum turn_words turn_classify(const char *text);
