/* SPDX-License-Identifier: MIT */
#include "agent/engine/stem.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

struct synonym {
	const char *word; /* or its stem */
	const char *root;
};

/* Sorted by word, for bsearch(). */
static const struct synonym synonyms[] = {
	{ "abort", "cancel" },
	{ "advisor", "agent" },
	{ "again", "repeat" },
	{ "agent", "agent" },
	{ "alter", "chang" },
	{ "appoint", "appointment" },
	{ "arrang", "book" },
	{ "assist", "help" },
	{ "assistanc", "help" },
	{ "began", "begin" },
	{ "begin", "begin" },
	{ "bill", "bill" },
	{ "book", "book" },
	{ "bought", "buy" },
	{ "brok", "broken" },
	{ "broken", "broken" },
	{ "buy", "buy" },
	{ "bye", "bye" },
	{ "call", "call" },
	{ "callback", "call" },
	{ "cancel", "cancel" },
	{ "chang", "chang" },
	{ "charg", "pric" },
	{ "chat", "talk" },
	{ "cheap", "pric" },
	{ "child", "child" },
	{ "children", "child" },
	{ "clerk", "agent" },
	{ "cost", "pric" },
	{ "defect", "broken" },
	{ "difficulty", "problem" },
	{ "e-mail", "mail" },
	{ "edit", "chang" },
	{ "eight", "8" },
	{ "eighteen", "18" },
	{ "eighth", "8" },
	{ "eleven", "11" },
	{ "email", "mail" },
	{ "end", "stop" },
	{ "expensiv", "pric" },
	{ "fail", "broken" },
	{ "farewell", "bye" },
	{ "faulty", "broken" },
	{ "fee", "pric" },
	{ "fifteen", "15" },
	{ "fifth", "5" },
	{ "finish", "stop" },
	{ "first", "1" },
	{ "five", "5" },
	{ "four", "4" },
	{ "fourteen", "14" },
	{ "fourth", "4" },
	{ "goodby", "bye" },
	{ "hangup", "bye" },
	{ "help", "help" },
	{ "human", "agent" },
	{ "incorrect", "wrong" },
	{ "interest", "interest" },
	{ "invoic", "bill" },
	{ "issu", "problem" },
	{ "keen", "interest" },
	{ "kid", "child" },
	{ "mail", "mail" },
	{ "meet", "appointment" },
	{ "modify", "chang" },
	{ "moneyback", "refund" },
	{ "mov", "chang" },
	{ "nine", "9" },
	{ "nineteen", "19" },
	{ "ninth", "9" },
	{ "one", "1" },
	{ "operator", "agent" },
	{ "order", "buy" },
	{ "paid", "pay" },
	{ "pardon", "repeat" },
	{ "pay", "pay" },
	{ "payment", "pay" },
	{ "person", "agent" },
	{ "phon", "call" },
	{ "pric", "pric" },
	{ "problem", "problem" },
	{ "purchas", "buy" },
	{ "quit", "stop" },
	{ "rat", "pric" },
	{ "refund", "refund" },
	{ "reimburs", "refund" },
	{ "rep", "agent" },
	{ "repeat", "repeat" },
	{ "representativ", "agent" },
	{ "reschedul", "chang" },
	{ "reserv", "book" },
	{ "ring", "call" },
	{ "schedul", "book" },
	{ "second", "2" },
	{ "seven", "7" },
	{ "seventeen", "17" },
	{ "seventh", "7" },
	{ "six", "6" },
	{ "sixteen", "16" },
	{ "sixth", "6" },
	{ "somebody", "agent" },
	{ "someone", "agent" },
	{ "speak", "talk" },
	{ "spok", "talk" },
	{ "staff", "agent" },
	{ "start", "begin" },
	{ "stop", "stop" },
	{ "support", "help" },
	{ "talk", "talk" },
	{ "telephon", "call" },
	{ "ten", "10" },
	{ "tenth", "10" },
	{ "terminat", "cancel" },
	{ "third", "3" },
	{ "thirteen", "13" },
	{ "three", "3" },
	{ "troubl", "problem" },
	{ "twelve", "12" },
	{ "twenty", "20" },
	{ "two", "2" },
	{ "updat", "chang" },
	{ "visit", "appointment" },
	{ "wrong", "wrong" },
	{ "zero", "0" },
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

static int compare(const void *key, const void *entry)
{
	return strcmp(key, ((const struct synonym *)entry)->word);
}

static const struct synonym *find(const char *word)
{
	return bsearch(word, synonyms, sizeof(synonyms) / sizeof(synonyms[0]),
		       sizeof(synonyms[0]), compare);
}

void word_root(char out[WORD_SIZE], const char *text)
{
	const struct synonym *synonym = find(text);

	snprintf(out, WORD_SIZE, "%s", text);
	if (!synonym && !isdigit((unsigned char)*text)) {
		stem(out, text);
		synonym = find(out);
	}
	if (synonym)
		snprintf(out, WORD_SIZE, "%s", synonym->root);
}
