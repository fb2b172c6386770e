/* SPDX-License-Identifier: MIT */
#include "agent/engine/sphinx_fsg.h"
#include "core/mem.h"
#include "core/slice.h"

/* States: 0 begin, 1 end, 2 to 5 for numbers, then the phrases' own. */
enum { BEGIN, END, DIGITS, NUMBERS, AFTER_TENS, AFTER_UNIT, FIRST_FREE };

static const char *const digit[] = { "zero",  "oh",    "one",  "two",
				     "three", "four",  "five", "six",
				     "seven", "eight", "nine", "double" };
static const char *const teen[] = { "ten",	"eleven",    "twelve",
				    "thirteen", "fourteen",  "fifteen",
				    "sixteen",	"seventeen", "eighteen",
				    "nineteen" };
static const char *const tens[] = { "twenty", "thirty",	 "forty",  "fifty",
				    "sixty",  "seventy", "eighty", "ninety" };
static const char *const hundred[] = { "hundred" };

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

struct builder {
	fsg_model_t *fsg; /* owned by the caller */
	int state; /* next free one */
	int alternatives;
};

static void add_word(struct builder *builder, int from, int to,
		     const char *word)
{
	int id = fsg_model_word_add(builder->fsg, word);

	fsg_model_trans_add(builder->fsg, from, to, 0, id);
}

static void add_words(struct builder *builder, int from, int to,
		      const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_word(builder, from, to, list[i]);
}

/* Any digits, or numbers such as "forty two" and "eight hundred". */
static void add_digits(struct builder *builder)
{
	static const int begins[] = { BEGIN, NUMBERS };

	add_words(builder, BEGIN, DIGITS, digit, COUNT(digit));
	add_words(builder, DIGITS, DIGITS, digit, COUNT(digit));
	for (size_t i = 0; i < COUNT(begins); i++) {
		add_words(builder, begins[i], NUMBERS, teen, COUNT(teen));
		add_words(builder, begins[i], NUMBERS, tens, COUNT(tens));
		add_words(builder, begins[i], AFTER_TENS, tens, COUNT(tens));
		add_words(builder, begins[i], AFTER_UNIT, digit + 2, 9);
	}
	add_words(builder, AFTER_TENS, NUMBERS, digit + 2, 9);
	add_words(builder, AFTER_UNIT, NUMBERS, hundred, COUNT(hundred));
	fsg_model_null_trans_add(builder->fsg, DIGITS, END, 0);
	fsg_model_null_trans_add(builder->fsg, NUMBERS, END, 0);
	builder->alternatives++;
}

static bool can_say(const struct sphinx_words *words, const char *phrase)
{
	struct slice rest = slice_of(phrase);
	bool is_good = true;

	while (rest.len && is_good) {
		char *word = slice_dup(slice_cut(&rest, ' '));

		is_good = words->knows(words->owner, word);
		mem_free(word);
	}
	return is_good;
}

static void add_phrase(struct builder *builder, const char *phrase)
{
	struct slice rest = slice_of(phrase);
	int from = BEGIN;

	while (rest.len) {
		char *word = slice_dup(slice_cut(&rest, ' '));
		int to = rest.len ? builder->state++ : END;

		add_word(builder, from, to, word);
		from = to;
		mem_free(word);
	}
	builder->alternatives++;
}

static int count_states(const struct sphinx_grammar *grammar)
{
	int n = FIRST_FREE;

	for (size_t i = 0; i < grammar->n; i++) {
		for (const char *s = grammar->phrase[i]; *s; s++)
			n += *s == ' ';
	}
	return n;
}

fsg_model_t *sphinx_fsg_build(const struct sphinx_grammar *grammar,
			      ps_decoder_t *ps,
			      const struct sphinx_words *words)
{
	float weight = (float)cmd_ln_float_r(ps_get_config(ps), "-lw");
	struct builder builder = {
		.fsg = fsg_model_init("turn", ps_get_logmath(ps), weight,
				      count_states(grammar)),
		.state = FIRST_FREE,
	};

	builder.fsg->start_state = BEGIN;
	builder.fsg->final_state = END;
	if (grammar->expect == SPEECH_DIGITS)
		add_digits(&builder);
	for (size_t i = 0; i < grammar->n; i++) {
		if (can_say(words, grammar->phrase[i]))
			add_phrase(&builder, grammar->phrase[i]);
	}
	if (builder.alternatives == 0) {
		fsg_model_free(builder.fsg);
		return NULL;
	}
	return builder.fsg;
}
