/* SPDX-License-Identifier: MIT */
/* agent/engine/words.h - a sentence as words: lower-case, with roots that make
 * inflected forms and synonyms alike, and whether it says yes or no. English;
 * other scripts pass through as they are. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "core/slice.h"

enum { WORD_SIZE = 32, WORDS_MAX = 400 };

struct word {
	char text[WORD_SIZE]; /* lower-case, cut at 31 bytes */
	char root[WORD_SIZE]; /* stem of its synonym; digits for a number */
	size_t at, end; /* bytes in the source */
	bool is_stop; /* carries no meaning of its own */
};

struct words {
	const char *source; /* borrowed: outlives us */
	struct word *word; /* owned */
	size_t n;
};

enum polarity { POLARITY_NONE, POLARITY_YES, POLARITY_NO };

/* source may be any bytes; NULL is empty. What follows the 400th word is not
 * looked at. Released by words_reset(). */
void words_init(struct words *words, const char *source);
void words_reset(struct words *words);
/* The source from the first to the last of n words. */
struct slice words_span(const struct words *words, size_t first, size_t n);
/* What a caller means: "no problem" is yes, "not sure" neither. */
enum polarity words_answer(const struct words *words);
/* What a label asks for: "user declines" is no. */
enum polarity words_polarity(const struct words *words);
/* not, never, don't ...; an answering "no" in front does not count. */
bool words_are_negated(const struct words *words);
bool words_have_root(const struct words *words, const char *root);
/* text is in list, which holds words between single spaces. */
bool word_in(const char *text, const char *list);
/* True if the words from first on are those of phrase. */
bool words_match(const struct words *words, size_t first, const char *phrase);
