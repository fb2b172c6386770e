/* SPDX-License-Identifier: MIT */
/* agent/engine/sphinx_grammar.h - what a turn is expected to hold, as phrases
 * the recogniser can spell: lower-case a to z, numbers as words. */
#pragma once
#include <stdbool.h>
#include "agent/engine/speech.h"

struct buffer;

enum { SPHINX_PHRASES_MAX = 120, SPHINX_PHRASE_BYTES = 160 };

struct sphinx_grammar {
	enum speech_expect expect;
	char **phrase; /* owned */
	size_t n;
};

/* Copies; a phrase that holds nothing to say is left out. */
void sphinx_grammar_init(struct sphinx_grammar *grammar,
			 const struct speech_hint *hint);
void sphinx_grammar_copy(struct sphinx_grammar *out,
			 const struct sphinx_grammar *grammar);
void sphinx_grammar_reset(struct sphinx_grammar *grammar);
/* False when any words at all are expected: nothing to weigh. */
bool sphinx_grammar_is_useful(const struct sphinx_grammar *grammar);
/* "Press 1, O'Neill!" as "press one o'neill"; "" when nothing is left. */
void sphinx_phrase_write(struct buffer *out, const char *text);
