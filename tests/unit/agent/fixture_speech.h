/* SPDX-License-Identifier: MIT */
/* tests/unit/agent/fixture_speech.h - a speech engine that plays a part: each
 * word is a tone of word_ms with a mark at its end, each turn of the caller is
 * the next text of a script. */
#pragma once
#include <stdbool.h>
#include "agent/engine/speech.h"
#include "core/buffer.h"

struct loop;

/* One turn as it will be understood. */
struct actor_turn {
	const char *text; /* the final words */
	const char *partial; /* NULL: none */
	unsigned partial_ms; /* of audio fed before the partial comes */
};

struct actor {
	struct speech base;
	struct loop *loop;
	/* What a test may set. */
	unsigned word_ms; /* 100 */
	unsigned first_ms; /* to the first word */
	unsigned gap_ms; /* between words: slower than real time if larger */
	unsigned final_ms; /* from hearing_finish() to on_final */
	int say_error; /* speech_say() refuses */
	unsigned fails_after; /* words, then -EIO; 0: never */
	const struct actor_turn *turns; /* "" when they have run out */
	size_t n_turns;
	/* What happened. */
	struct buffer log; /* "say TEXT", "hint N", "finish N ms" */
	size_t fed; /* samples since the last finish */
	unsigned open; /* hearings and syntheses */
};

void actor_open(struct actor *actor, struct loop *loop);
void actor_close(struct actor *actor); /* asserts that nothing is open */
#define ACTOR_HEARS(actor, ...)                                                \
	do {                                                                   \
		static const struct actor_turn turns_[] = { __VA_ARGS__ };     \
		(actor)->turns = turns_;                                       \
		(actor)->n_turns = sizeof(turns_) / sizeof(turns_[0]);         \
	} while (0)
/* n samples of speech: a tone that pauses for a frame in each 100 ms. */
void actor_speech(int16_t *out, size_t n);
