/* SPDX-License-Identifier: MIT */
/* agent/engine/numbers.h - numbers as people say them: "twenty five",
 * "four one five", "nineteen eighty four", "3.5", "double seven". */
#pragma once
#include "agent/engine/words.h"

enum { NUMBER_DIGITS = 40 };

struct number {
	double value;
	char digits[NUMBER_DIGITS]; /* as dictated, zeros kept; decimal text */
	size_t first, n; /* its words */
	size_t groups; /* over 1: dictated piece by piece */
	bool is_whole;
};

/* The next number that begins at word `from` or later; false: none. A run
 * such as "four one five" is one number, 415. */
bool number_find(struct number *out, const struct words *words, size_t from);
/* "first" to "thirty first", "3rd", or plain numbers below 32, at word i:
 * the number of words used, 0 when there is none. */
size_t number_ordinal(unsigned *out, const struct words *words, size_t i);
