/* SPDX-License-Identifier: MIT */
#include "agent/dialogue/turn.h"

#include <assert.h>
#include <ctype.h>
#include "core/slice.h"

enum {
	FRAME_MS = 20,
	VOICE_STOP_MS = 200, /* silence inside the voice detector already */
	DOUBT_MS = 200, /* speech over the agent before it is held */
	CONFIRM_MS = 500, /* speech that is an interruption by length */
	GUARD_MS = 200, /* of agent audio that cannot be interrupted */
	RESUME_MS = 2000, /* held without words: the agent goes on */
	SHORT_END_MS = 150, /* after yes, no, okay */
	OPEN_END_MS = 1200, /* after a trailing "and" */
	END_MIN_MS = 300,
	END_MAX_MS = 2500
};

static const char *const backchannels[] = { "mhm",   "mm",  "yeah", "okay",
					    "ok",    "hmm", "huh",  "right",
					    "uhhuh", "aha", NULL };
static const char *const short_answers[] = { "yes",  "no",   "okay",
					     "ok",   "yeah", "nope",
					     "sure", "yep",  NULL };
static const char *const hard_words[] = { "stop", "wait", "no", "hold on",
					  NULL };
static const char *const open_ends[] = { "and", "um",  "uh", "or",
					 "but", "the", "a",  "because",
					 "my",	"is",  NULL };

static bool is_one_of(const char *const *list, struct slice text)
{
	for (; *list; list++) {
		if (slice_eq_nocase(slice_of(*list), text))
			return true;
	}
	return false;
}

static struct slice last_word(struct slice text)
{
	size_t at = text.len;

	while (at > 0 && text.ptr[at - 1] != ' ')
		at--;
	return slice_make(text.ptr + at, text.len - at);
}

static struct slice trim_signs(struct slice text)
{
	text = slice_trim(text);
	while (text.len && ispunct((unsigned char)text.ptr[text.len - 1]))
		text.len--;
	return text;
}

/* Nothing but "yeah", "okay", "uh huh", however often. */
static bool is_backchannel(struct slice words)
{
	bool after_uh = false;

	while (words.len) {
		struct slice word = trim_signs(slice_cut(&words, ' '));

		if (!word.len)
			continue;
		if (after_uh && !slice_eq_nocase(word, SLICE("huh")))
			return false;
		after_uh = slice_eq_nocase(word, SLICE("uh"));
		if (!after_uh && !is_one_of(backchannels, word))
			return false;
	}
	return !after_uh;
}

enum turn_words turn_classify(const char *text)
{
	struct slice words = trim_signs(slice_of(text));
	bool is_one = slice_find(words, ' ') < 0;

	if (!words.len)
		return WORDS_NONE;
	if (is_one_of(hard_words, words))
		return WORDS_HARD;
	if (is_backchannel(words))
		return WORDS_BACKCHANNEL;
	if (is_one_of(short_answers, words))
		return WORDS_SHORT;
	if (is_one_of(open_ends, last_word(words)))
		return is_one ? WORDS_HESITATION : WORDS_OPEN;
	return is_one ? WORDS_ONE : WORDS_SOME;
}

void turn_init(struct turn *turn, const struct turn_settings *settings)
{
	*turn = (struct turn){ .settings = *settings };
}

void turn_set(struct turn *turn, const struct turn_settings *settings)
{
	turn->settings = *settings;
	turn->ms.quiet = 0;
}

void turn_on_line(struct turn *turn)
{
	turn->ms.agent = 0;
}

static uint32_t clamp(uint32_t value, uint32_t low, uint32_t high)
{
	return value < low ? low : value > high ? high : value;
}

/* Silence that would end the caller's turn now. */
static uint32_t end_ms(const struct turn *turn)
{
	uint32_t end = turn->settings.end_ms;

	if (turn->settings.is_fixed)
		return end;
	if (turn->words == WORDS_SHORT || turn->words == WORDS_HARD ||
	    turn->words == WORDS_BACKCHANNEL)
		return SHORT_END_MS;
	if (turn->words == WORDS_OPEN || turn->words == WORDS_HESITATION)
		return OPEN_END_MS > end ? OPEN_END_MS : end;
	if (turn->ms.n_pauses >= 2) {
		/* Their own pauses, and half as much again. */
		uint32_t mean = turn->ms.pauses / turn->ms.n_pauses;

		end = mean * 3 / 2 > end ? mean * 3 / 2 : end;
	}
	return clamp(end, END_MIN_MS, END_MAX_MS);
}

static void enter(struct turn *turn, enum turn_state next)
{
	static const unsigned allowed[] = {
		[TURN_QUIET] = 1 << TURN_CALLER | 1 << TURN_DOUBT,
		[TURN_CALLER] = 1 << TURN_TRAILING | 1 << TURN_DOUBT,
		[TURN_TRAILING] = 1 << TURN_CALLER | 1 << TURN_QUIET,
		[TURN_DOUBT] = 1 << TURN_CALLER | 1 << TURN_QUIET,
	};

	assert(allowed[turn->state] & 1u << next);
	turn->state = next;
	turn->ms.silence = 0;
	turn->ms.quiet = 0;
}

static enum turn_action doubt(struct turn *turn)
{
	turn->ms.held = 0;
	enter(turn, TURN_DOUBT);
	return TURN_PAUSE;
}

static enum turn_action on_quiet(struct turn *turn,
				 const struct turn_frame *frame)
{
	if (!frame->is_voice) {
		turn->ms.voice = 0;
		turn->ms.quiet = frame->is_listening && !frame->is_agent
					 ? turn->ms.quiet + FRAME_MS
					 : 0;
		if (turn->ms.quiet < turn->settings.silence_ms)
			return TURN_NONE;
		turn->ms.quiet = 0;
		return TURN_SILENCE;
	}
	turn->ms.voice += FRAME_MS;
	if (!frame->is_agent) {
		turn->words = WORDS_NONE;
		enter(turn, TURN_CALLER);
		return TURN_BEGIN;
	}
	if (frame->is_blocked || turn->ms.agent < GUARD_MS ||
	    turn->ms.voice < DOUBT_MS)
		return TURN_NONE;
	turn->words = WORDS_NONE;
	return doubt(turn);
}

static enum turn_action on_doubt(struct turn *turn,
				 const struct turn_frame *frame)
{
	turn->ms.held += FRAME_MS;
	turn->ms.voice += frame->is_voice ? FRAME_MS : 0;
	if (turn->words >= WORDS_OPEN ||
	    (frame->is_voice && turn->ms.voice >= CONFIRM_MS &&
	     turn->words != WORDS_BACKCHANNEL)) {
		turn->ms.agent = 0;
		enter(turn, TURN_CALLER);
		return TURN_CUT;
	}
	if (turn->ms.held >= RESUME_MS && turn->words <= WORDS_BACKCHANNEL) {
		turn->ms.voice = 0;
		enter(turn, TURN_QUIET);
		return TURN_RESUME;
	}
	if (frame->is_voice)
		return TURN_NONE;
	turn->ms.silence += FRAME_MS;
	return turn->ms.silence == FRAME_MS ? TURN_JUDGE : TURN_NONE;
}

/* The caller was speaking already when the agent began. */
static bool is_talked_over(const struct turn *turn,
			   const struct turn_frame *frame)
{
	return frame->is_agent && !frame->is_blocked &&
	       turn->ms.agent >= GUARD_MS;
}

static enum turn_action on_caller(struct turn *turn,
				  const struct turn_frame *frame)
{
	if (frame->is_voice) {
		turn->ms.voice += FRAME_MS;
		return is_talked_over(turn, frame) ? doubt(turn) : TURN_NONE;
	}
	enter(turn, TURN_TRAILING);
	turn->ms.silence = VOICE_STOP_MS;
	return TURN_NONE;
}

static enum turn_action on_trailing(struct turn *turn,
				    const struct turn_frame *frame)
{
	if (frame->is_voice) {
		turn->ms.pauses += turn->ms.silence;
		turn->ms.n_pauses++;
		enter(turn, TURN_CALLER);
		return TURN_NONE;
	}
	turn->ms.silence += FRAME_MS;
	if (turn->ms.silence < end_ms(turn))
		return TURN_NONE;
	turn->ms.voice = 0;
	enter(turn, TURN_QUIET);
	return TURN_END;
}

enum turn_action turn_on_frame(struct turn *turn,
			       const struct turn_frame *frame)
{
	turn->ms.agent = frame->is_agent ? turn->ms.agent + FRAME_MS : 0;
	switch (turn->state) {
	case TURN_QUIET:
		return on_quiet(turn, frame);
	case TURN_CALLER:
		return on_caller(turn, frame);
	case TURN_TRAILING:
		return on_trailing(turn, frame);
	case TURN_DOUBT:
		return on_doubt(turn, frame);
	}
	return TURN_NONE;
}

void turn_on_words(struct turn *turn, const char *text)
{
	turn->words = turn_classify(text);
}

enum turn_action turn_on_judged(struct turn *turn, const char *text)
{
	enum turn_words words = turn_classify(text);

	if (turn->state != TURN_DOUBT)
		return TURN_NONE;
	turn->ms.voice = 0;
	enter(turn, TURN_QUIET);
	return words == WORDS_NONE || words == WORDS_BACKCHANNEL ? TURN_RESUME
								 : TURN_CUT;
}
