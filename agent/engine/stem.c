/* SPDX-License-Identifier: MIT */
#include "agent/engine/stem.h"
#include <ctype.h>
#include <stdio.h>

/* Members are stems, as stem() leaves them. */
static const struct {
	const char *root;
	const char *members;
} synonyms[] = {
	{ "agent", "agent human representativ rep operator someone somebody "
		   "advisor clerk staff person" },
	{ "cancel", "cancel terminat abort" },
	{ "buy", "buy purchas order bought" },
	{ "repeat", "repeat again pardon" },
	{ "help", "help assist assistanc support" },
	{ "appointment", "meet visit appoint" },
	{ "book", "book schedul reserv arrang" },
	{ "chang", "chang modify updat edit mov reschedul alter" },
	{ "pric", "pric cost fee charg rat expensiv cheap" },
	{ "bill", "bill invoic" },
	{ "talk", "talk speak spok chat" },
	{ "call", "call phon telephon ring callback" },
	{ "bye", "bye goodby farewell hangup" },
	{ "broken", "broken brok defect fail faulty" },
	{ "begin", "begin start began" },
	{ "stop", "stop quit end finish" },
	{ "pay", "pay paid payment" },
	{ "refund", "refund reimburs moneyback" },
	{ "child", "child children kid" },
	{ "mail", "mail email e-mail" },
	{ "wrong", "wrong incorrect" },
	{ "problem", "problem issu troubl difficulty" },
	{ "interest", "interest keen" },
};

static const char *const small_numbers[] = {
	"zero",	    "one",	"two",	    "three",   "four",	  "five",
	"six",	    "seven",	"eight",    "nine",    "ten",	  "eleven",
	"twelve",   "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
	"eighteen", "nineteen", "twenty",
};

static const char *const small_ordinals[] = {
	"zeroth", "first",   "second", "third", "fourth", "fifth",
	"sixth",  "seventh", "eighth", "ninth", "tenth",
};

static bool has_suffix(const char *s, size_t n, const char *suffix,
		       size_t min_left)
{
	size_t len = strlen(suffix);

	return n >= len + min_left && memcmp(s + n - len, suffix, len) == 0;
}

static bool has_vowel(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strchr("aeiouy", s[i]))
			return true;
	}
	return false;
}

/* "cancell" to "cancel", "plann" to "plan", but "call" and "pass" stay. */
static size_t undouble(const char *s, size_t n)
{
	if (n < 4 || s[n - 1] != s[n - 2] || strchr("aeiou", s[n - 1]))
		return n;
	if (s[n - 1] == 'l')
		return n > 5 ? n - 1 : n;
	return strchr("sz", s[n - 1]) ? n : n - 1;
}

static size_t strip_plural(char *s, size_t n)
{
	if (has_suffix(s, n, "'s", 1) || has_suffix(s, n, "'d", 1))
		n -= 2;
	if (has_suffix(s, n, "ies", 2)) {
		s[n - 3] = 'y';
		return n - 2;
	}
	if (has_suffix(s, n, "sses", 1) || has_suffix(s, n, "xes", 1) ||
	    has_suffix(s, n, "ches", 1) || has_suffix(s, n, "shes", 1))
		return n - 2;
	if (has_suffix(s, n, "s", 3) && !has_suffix(s, n, "ss", 0) &&
	    !has_suffix(s, n, "us", 0) && !has_suffix(s, n, "is", 0))
		return n - 1;
	return n;
}

static size_t strip_ending(const char *s, size_t n)
{
	static const struct {
		const char *suffix;
		size_t min_left;
	} endings[] = {
		{ "ation", 4 }, { "ing", 3 }, { "ed", 3 },
		{ "ment", 4 },	{ "ly", 4 },  { "ion", 4 },
	};

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t left = n - strlen(endings[i].suffix);

		if (has_suffix(s, n, endings[i].suffix, endings[i].min_left) &&
		    has_vowel(s, left))
			return undouble(s, left);
	}
	return n;
}

static void stem(char out[WORD_SIZE], const char *text)
{
	size_t n;

	snprintf(out, WORD_SIZE, "%s", text);
	n = strip_plural(out, strlen(out));
	n = strip_ending(out, n);
	if (n > 3 && out[n - 1] == 'e')
		n--;
	out[n] = '\0';
}

static bool number_root(char out[WORD_SIZE], const char *text)
{
	size_t n = sizeof(small_numbers) / sizeof(small_numbers[0]);

	for (size_t i = 0; i < n; i++) {
		if (strcmp(text, small_numbers[i]) == 0) {
			snprintf(out, WORD_SIZE, "%zu", i);
			return true;
		}
	}
	n = sizeof(small_ordinals) / sizeof(small_ordinals[0]);
	for (size_t i = 1; i < n; i++) {
		if (strcmp(text, small_ordinals[i]) == 0) {
			snprintf(out, WORD_SIZE, "%zu", i);
			return true;
		}
	}
	return false;
}

void word_root(char out[WORD_SIZE], const char *text)
{
	if (number_root(out, text))
		return;
	if (isdigit((unsigned char)*text)) {
		snprintf(out, WORD_SIZE, "%s", text);
		return;
	}
	stem(out, text);
	for (size_t i = 0; i < sizeof(synonyms) / sizeof(synonyms[0]); i++) {
		if (word_in(out, synonyms[i].members) ||
		    word_in(text, synonyms[i].members)) {
			snprintf(out, WORD_SIZE, "%s", synonyms[i].root);
			return;
		}
	}
}
