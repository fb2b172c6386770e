/* SPDX-License-Identifier: MIT */
#include "agent/engine/phrase.h"
#include <math.h>
#include "agent/engine/words.h"
#include "core/buffer.h"
#include "core/mem.h"

static const double example_min = 0.5;

/* Examples */

static bool key_has(const char *key, const char *list)
{
	struct words words;
	bool has = false;

	words_init(&words, key);
	for (size_t i = 0; i < words.n; i++)
		has |= word_in(words.word[i].text, list);
	words_reset(&words);
	return has;
}

/* The last thing a "Conversation History" says for the caller: a text, or an
 * array of {role, content}. */
static const char *last_said(const json_t *history)
{
	const json_t *entry;
	const char *text = json_string_value(history);
	const char *line = NULL;
	size_t i;

	json_array_foreach(history, i, entry) {
		const json_t *role = json_object_get(entry, "role");
		const json_t *content = json_object_get(entry, "content");

		if (json_is_string(content) && json_is_string(role) &&
		    strcmp(json_string_value(role), "user") == 0)
			text = json_string_value(content);
	}
	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncasecmp(at, "user:", 5) == 0)
			line = at + 5;
	}
	return line ? line : text;
}

static void read_example(const json_t *example, const char **said,
			 const char **answer)
{
	const char *key;
	const json_t *value;

	*said = *answer = NULL;
	if (json_is_array(example)) {
		*said = json_string_value(json_array_get(example, 0));
		*answer = json_string_value(json_array_get(example, 1));
	}
	json_object_foreach((json_t *)example, key, value) {
		if (key_has(key, "response assistant agent answer output reply "
				 "dialogue"))
			*answer = json_string_value(value);
		else if (key_has(key, "history user input question caller "
				      "conversation"))
			*said = last_said(value);
	}
}

/* Share of meaningful words in common (Dice). */
static double closeness(const struct words *a, const struct words *b)
{
	size_t common = 0, n = 0;

	for (size_t i = 0; i < a->n; i++) {
		n += !a->word[i].is_stop;
		common += !a->word[i].is_stop &&
			  words_have_root(b, a->word[i].root);
	}
	for (size_t i = 0; i < b->n; i++)
		n += !b->word[i].is_stop;
	return n ? fmin(1, 2.0 * (double)common / (double)n) : 0;
}

static const char *closest(const json_t *examples, const char *user_text)
{
	const json_t *example;
	const char *best = NULL;
	double best_score = example_min;
	struct words user;
	size_t i;

	words_init(&user, user_text);
	json_array_foreach(examples, i, example) {
		const char *said, *answer;
		struct words words;
		double score;

		read_example(example, &said, &answer);
		words_init(&words, said);
		score = said && answer ? closeness(&user, &words) : 0;
		words_reset(&words);
		if (score > best_score || (score == best_score && !best)) {
			best_score = score;
			best = answer;
		}
	}
	words_reset(&user);
	return best;
}

/* Quotes */

/* Length of an opening or closing quotation mark at s, 0 for none. */
static size_t quote_at(const char *s)
{
	if (*s == '"')
		return 1;
	if (strncmp(s, "\xe2\x80\x9c", 3) == 0 ||
	    strncmp(s, "\xe2\x80\x9d", 3) == 0 ||
	    strncmp(s, "\xe2\x80\x9e", 3) == 0)
		return 3;
	return strncmp(s, "\xc2\xab", 2) == 0 || strncmp(s, "\xc2\xbb", 2) == 0
		       ? 2
		       : 0;
}

static const char *find_quote(const char *s, size_t *len)
{
	for (; *s; s++) {
		*len = quote_at(s);
		if (*len)
			return s;
	}
	return NULL;
}

/* What stands ahead of a quote tells who speaks it. */
static bool is_ours(struct slice lead, struct slice quote)
{
	static const char say[] = "say saying ask asking tell telling greet "
				  "respond reply answer state read repeat "
				  "exactly verbatim with following message";
	char *text = slice_dup(lead), *quoted = slice_dup(quote);
	struct words words, inner;
	bool is_said = false, is_caller = false, is_sentence;

	words_init(&words, text);
	words_init(&inner, quoted);
	for (size_t i = words.n > 8 ? words.n - 8 : 0; i < words.n; i++) {
		const char *word = words.word[i].text;

		is_said |= word_in(word, say);
		is_caller |= word_in(word, "says said if when press pressed") &&
			     i + 5 >= words.n;
	}
	is_sentence = inner.n > 1 && quote.len > 0 &&
		      strchr(".!?", quote.ptr[quote.len - 1]) != NULL;
	is_said = is_said ? inner.n > 0 : is_sentence;
	words_reset(&words);
	words_reset(&inner);
	mem_free(text);
	mem_free(quoted);
	return is_said && !is_caller;
}

static bool find_quoted(struct slice *out, const char *prompt)
{
	const char *from = prompt, *open;
	size_t open_len, close_len;

	while ((open = find_quote(from, &open_len)) != NULL) {
		const char *begin = open + open_len;
		const char *close = find_quote(begin, &close_len);
		struct slice lead = slice_make(from, (size_t)(open - from));

		if (!close)
			return false;
		*out = slice_trim(slice_make(begin, (size_t)(close - begin)));
		if (out->len && is_ours(lead, *out))
			return true;
		from = close + close_len;
	}
	return false;
}

/* "Say: welcome" without quotes. */
static const char *without_say(const char *prompt)
{
	static const char *const leads[] = {
		"say:", "say exactly:", "tell the caller:", "tell the user:"
	};

	prompt += strspn(prompt, " \t\r\n");
	for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
		size_t n = strlen(leads[i]);

		if (strncasecmp(prompt, leads[i], n) == 0)
			return prompt + n + strspn(prompt + n, " \t\r\n");
	}
	return prompt;
}

void phrase_write(struct buffer *out, const char *prompt,
		  const json_t *examples, const char *user_text)
{
	const char *answer = closest(examples, user_text);
	struct slice quoted;

	if (answer)
		buffer_add_str(out, answer);
	else if (find_quoted(&quoted, prompt))
		buffer_add(out, quoted);
	else
		buffer_add(out, slice_trim(slice_of(without_say(prompt))));
}
