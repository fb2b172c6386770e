/* SPDX-License-Identifier: MIT */
#include "agent/engine/numbers.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum kind { UNIT, TEEN, TENS, SCALE, DIGITS, REPEAT, NONE };

static const struct {
	const char *text;
	enum kind kind;
	unsigned value;
} names[] = {
	{ "zero", UNIT, 0 },
	{ "oh", UNIT, 0 },
	{ "o", UNIT, 0 },
	{ "one", UNIT, 1 },
	{ "two", UNIT, 2 },
	{ "three", UNIT, 3 },
	{ "four", UNIT, 4 },
	{ "five", UNIT, 5 },
	{ "six", UNIT, 6 },
	{ "seven", UNIT, 7 },
	{ "eight", UNIT, 8 },
	{ "nine", UNIT, 9 },
	{ "ten", TEEN, 10 },
	{ "eleven", TEEN, 11 },
	{ "twelve", TEEN, 12 },
	{ "thirteen", TEEN, 13 },
	{ "fourteen", TEEN, 14 },
	{ "fifteen", TEEN, 15 },
	{ "sixteen", TEEN, 16 },
	{ "seventeen", TEEN, 17 },
	{ "eighteen", TEEN, 18 },
	{ "nineteen", TEEN, 19 },
	{ "twenty", TENS, 20 },
	{ "thirty", TENS, 30 },
	{ "forty", TENS, 40 },
	{ "fourty", TENS, 40 },
	{ "fifty", TENS, 50 },
	{ "sixty", TENS, 60 },
	{ "seventy", TENS, 70 },
	{ "eighty", TENS, 80 },
	{ "ninety", TENS, 90 },
	{ "hundred", SCALE, 100 },
	{ "thousand", SCALE, 1000 },
	{ "million", SCALE, 1000000 },
	{ "double", REPEAT, 2 },
	{ "triple", REPEAT, 3 },
	{ "dozen", TEEN, 12 },
};

static const char *const ordinals[] = {
	NULL,	     "first",	  "second",	 "third",      "fourth",
	"fifth",     "sixth",	  "seventh",	 "eighth",     "ninth",
	"tenth",     "eleventh",  "twelfth",	 "thirteenth", "fourteenth",
	"fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
	"twentieth",
};

/* What one word is as a part of a number. */
static enum kind part_of(const char *text, unsigned *value)
{
	*value = 0;
	if (isdigit((unsigned char)*text))
		return strspn(text, "0123456789.") == strlen(text) ? DIGITS
								   : NONE;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i].text) == 0) {
			*value = names[i].value;
			return names[i].kind;
		}
	}
	return NONE;
}

static enum kind part_at(const struct words *words, size_t i, unsigned *value)
{
	*value = 0;
	return i < words->n ? part_of(words->word[i].text, value) : NONE;
}

/* "hundred and five": the "and" joins when a small number follows. */
static size_t skip_and(const struct words *words, size_t i)
{
	unsigned value;
	enum kind kind;

	if (i >= words->n || strcmp(words->word[i].text, "and") != 0)
		return i;
	kind = part_at(words, i + 1, &value);
	return kind == UNIT || kind == TEEN || kind == TENS ? i + 1 : i;
}

/* One number below a hundred: the words it takes. */
static size_t read_small(double *out, const struct words *words, size_t i)
{
	unsigned value, unit;

	switch (part_at(words, i, &value)) {
	case UNIT:
	case TEEN:
		*out = value;
		return 1;
	case TENS:
		*out = value;
		if (part_at(words, i + 1, &unit) == UNIT && unit > 0) {
			*out += unit;
			return 2;
		}
		return 1;
	case DIGITS:
		*out = strtod(words->word[i].text, NULL);
		return 1;
	case SCALE: /* "a hundred" */
		*out = 1;
		return i > 0 && strcmp(words->word[i - 1].text, "a") == 0
			       ? SIZE_MAX
			       : 0;
	case REPEAT:
	case NONE:
		return 0;
	}
	return 0;
}

/* "two hundred and five thousand" and the like: words taken, 0 for none. */
static size_t read_group(double *out, const struct words *words, size_t first)
{
	size_t i = first, n;
	double total = 0, part = 0, small = 0;
	bool has_scale = false;

	n = read_small(&small, words, i);
	if (n == 0)
		return 0;
	i += n == SIZE_MAX ? 0 : n;
	part = small;
	for (;;) {
		unsigned value;
		size_t next;

		if (part_at(words, i, &value) == SCALE) {
			has_scale = true;
			part *= value;
			if (value >= 1000) {
				total += part;
				part = 0;
			}
			i++;
			continue;
		}
		next = has_scale ? skip_and(words, i) : i;
		n = has_scale ? read_small(&small, words, next) : 0;
		if (n == 0 || n == SIZE_MAX ||
		    part_at(words, next, &value) == DIGITS ||
		    fmod(part, 100) != 0)
			break;
		part += small;
		i = next + n;
	}
	*out = total + part;
	return i - first;
}

static void add_digits(struct number *number, const char *text, unsigned times)
{
	size_t used = strlen(number->digits);

	for (; times; times--) {
		size_t n = strlen(text);

		if (used + n >= NUMBER_DIGITS)
			return;
		memcpy(number->digits + used, text, n + 1);
		used += n;
	}
}

/* Adds the group at word i to the run: words taken, 0 at the run's end. */
static size_t add_group(struct number *number, const struct words *words,
			size_t i)
{
	unsigned times = 1, ignored;
	char text[NUMBER_DIGITS];
	size_t repeat = 0, n;
	double value = 0;
	bool is_literal;

	if (part_at(words, i, &ignored) == REPEAT) {
		part_at(words, i, &times);
		repeat = 1;
	}
	n = read_group(&value, words, i + repeat);
	if (n == 0)
		return 0;
	is_literal = n == 1 && part_at(words, i + repeat, &ignored) == DIGITS;
	if (is_literal)
		snprintf(text, sizeof(text), "%s",
			 words->word[i + repeat].text);
	else
		snprintf(text, sizeof(text), "%.0f", value);
	add_digits(number, text, times);
	number->value = value;
	number->groups += times;
	return n + repeat;
}

/* "point five" behind a number. */
static size_t add_decimals(struct number *number, const struct words *words,
			   size_t i)
{
	struct number part = { .digits = "0." };
	size_t n, used = 1;

	if (i + 1 >= words->n || strcmp(words->word[i].text, "point") != 0 ||
	    strchr(number->digits, '.'))
		return 0;
	while ((n = add_group(&part, words, i + used)) > 0)
		used += n;
	if (used == 1)
		return 0;
	add_digits(number, part.digits + 1, 1);
	return used;
}

/* A lone "oh", "o" or "double" is a word, not a number. */
static bool may_begin(const struct words *words, size_t i)
{
	unsigned value;

	if (word_in(words->word[i].text, "oh o"))
		return part_at(words, i + 1, &value) == UNIT ||
		       part_at(words, i + 1, &value) == DIGITS;
	return part_at(words, i, &value) != NONE;
}

static void finish(struct number *number)
{
	if (number->groups > 1 || strchr(number->digits, '.'))
		number->value = strtod(number->digits, NULL);
	number->is_whole = number->value == floor(number->value);
}

static bool is_minus(const struct words *words, size_t i)
{
	const struct word *word;

	if (i == 0)
		return false;
	word = &words->word[i - 1];
	return word_in(word->text, "minus negative") && i > 0;
}

bool number_find(struct number *out, const struct words *words, size_t from)
{
	for (size_t i = from; i < words->n; i++) {
		struct number number = { .first = i };
		size_t n;

		if (!may_begin(words, i))
			continue;
		while ((n = add_group(&number, words, i + number.n)) > 0)
			number.n += n;
		if (number.n == 0)
			continue;
		number.n += add_decimals(&number, words, i + number.n);
		finish(&number);
		if (is_minus(words, i))
			number.value = -number.value;
		*out = number;
		return true;
	}
	return false;
}

static unsigned ordinal_word(const char *text)
{
	size_t n = strspn(text, "0123456789");

	if (n > 0 && n <= 2 && word_in(text + n, "st nd rd th"))
		return (unsigned)strtoul(text, NULL, 10);
	for (size_t i = 1; i < sizeof(ordinals) / sizeof(ordinals[0]); i++) {
		if (strcmp(text, ordinals[i]) == 0)
			return (unsigned)i;
	}
	return strcmp(text, "thirtieth") == 0 ? 30 : 0;
}

size_t number_ordinal(unsigned *out, const struct words *words, size_t i)
{
	unsigned tens, unit;
	double value = 0;
	size_t n;

	if (i >= words->n)
		return 0;
	*out = ordinal_word(words->word[i].text);
	if (*out)
		return *out <= 31;
	if (part_at(words, i, &tens) == TENS && i + 1 < words->n) {
		unit = ordinal_word(words->word[i + 1].text);
		if (unit > 0 && unit < 10) {
			*out = tens + unit;
			return 2;
		}
	}
	n = read_small(&value, words, i);
	if (n == 0 || n == SIZE_MAX || value < 1 || value > 31)
		return 0;
	*out = (unsigned)value;
	return n;
}
