/* SPDX-License-Identifier: MIT */
#include "agent/engine/sphinx_grammar.h"
#include <ctype.h>
#include <stdlib.h>
#include "agent/engine/words.h"
#include "core/buffer.h"
#include "core/mem.h"

static const char *const yes_no[] = {
	"yes",		"yeah",		"yes please",	  "yes it is",
	"yes i do",	"sure",		"okay",		  "correct",
	"right",	"that's right", "that's correct", "i do",
	"of course",	"absolutely",	"definitely",	  "go ahead",
	"no",		"nope",		"no thanks",	  "no thank you",
	"no it's not",	"not really",	"i don't",	  "not now",
	"that's wrong", "i'm not sure", "i don't know",
};

/* Numbers */

static const char *const units[] = {
	"zero",	   "one",     "two",	   "three",    "four",
	"five",	   "six",     "seven",	   "eight",    "nine",
	"ten",	   "eleven",  "twelve",	   "thirteen", "fourteen",
	"fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
};
static const char *const tens[] = { "",	      "",      "twenty", "thirty",
				    "forty",  "fifty", "sixty",	 "seventy",
				    "eighty", "ninety" };

static void add_word(struct buffer *out, const char *word)
{
	if (out->len)
		buffer_add_char(out, ' ');
	buffer_add_str(out, word);
}

/* Up to 99 as people say it, longer ones digit by digit. */
static void add_number(struct buffer *out, const char *digits)
{
	size_t n = strspn(digits, "0123456789");
	unsigned value = (unsigned)strtoul(digits, NULL, 10);

	if (n > 2 || (n == 2 && *digits == '0')) {
		for (size_t i = 0; i < n; i++)
			add_word(out, units[digits[i] - '0']);
		return;
	}
	if (value >= 20)
		add_word(out, tens[value / 10]);
	if (value < 20 || value % 10)
		add_word(out, units[value < 20 ? value : value % 10]);
}

static bool is_plain(const char *text)
{
	return text[strspn(text, "abcdefghijklmnopqrstuvwxyz'")] == '\0';
}

void sphinx_phrase_write(struct buffer *out, const char *text)
{
	struct words words;

	words_init(&words, text);
	for (size_t i = 0; i < words.n; i++) {
		const char *word = words.word[i].text;

		if (isdigit((unsigned char)*word) &&
		    word[strspn(word, "0123456789")] == '\0')
			add_number(out, word);
		else if (is_plain(word))
			add_word(out, word);
		else {
			buffer_clear(out); /* cannot be spelt */
			break;
		}
	}
	words_reset(&words);
}

/* Phrases */

static bool has_phrase(const struct sphinx_grammar *grammar, const char *text)
{
	for (size_t i = 0; i < grammar->n; i++) {
		if (strcmp(grammar->phrase[i], text) == 0)
			return true;
	}
	return false;
}

static void add_phrase(struct sphinx_grammar *grammar, const char *text)
{
	struct buffer phrase;

	if (grammar->n == SPHINX_PHRASES_MAX)
		return;
	buffer_init(&phrase, SPHINX_PHRASE_BYTES);
	sphinx_phrase_write(&phrase, text);
	if (!buffer_error(&phrase) && phrase.len > 0 &&
	    !has_phrase(grammar, buffer_str(&phrase)))
		grammar->phrase[grammar->n++] = buffer_take(&phrase);
	buffer_reset(&phrase);
}

void sphinx_grammar_init(struct sphinx_grammar *grammar,
			 const struct speech_hint *hint)
{
	*grammar = (struct sphinx_grammar){ .expect = hint->expect };
	grammar->phrase = mem_new_array(SPHINX_PHRASES_MAX, sizeof(char *));
	for (size_t i = 0; i < hint->n_phrases; i++)
		add_phrase(grammar, hint->phrases[i]);
	if (!sphinx_grammar_is_useful(grammar) ||
	    grammar->expect == SPEECH_DIGITS)
		return;
	for (size_t i = 0; i < sizeof(yes_no) / sizeof(yes_no[0]); i++)
		add_phrase(grammar, yes_no[i]);
}

void sphinx_grammar_copy(struct sphinx_grammar *out,
			 const struct sphinx_grammar *grammar)
{
	*out = (struct sphinx_grammar){ .expect = grammar->expect,
					.n = grammar->n };
	out->phrase = mem_new_array(grammar->n + 1, sizeof(char *));
	for (size_t i = 0; i < grammar->n; i++)
		out->phrase[i] = mem_dup_str(grammar->phrase[i]);
}

void sphinx_grammar_reset(struct sphinx_grammar *grammar)
{
	for (size_t i = 0; i < grammar->n; i++)
		mem_free(grammar->phrase[i]);
	mem_free(grammar->phrase);
	*grammar = (struct sphinx_grammar){ .expect = SPEECH_ANY };
}

bool sphinx_grammar_is_useful(const struct sphinx_grammar *grammar)
{
	return grammar->expect != SPEECH_ANY || grammar->n > 0;
}
