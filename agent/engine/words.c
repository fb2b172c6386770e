/* SPDX-License-Identifier: MIT */
#include "agent/engine/words.h"
#include <ctype.h>
#include <stdlib.h>
#include "agent/engine/stem.h"
#include "core/mem.h"

/* Sorted, for bsearch(). */
static const char *const stop_words[] = {
	"a",	    "about",	"also",	    "am",	"an",	    "and",
	"any",	    "are",	"as",	    "ask",	"asked",    "asking",
	"asks",	    "at",	"be",	    "been",	"being",    "but",
	"button",   "by",	"caller",   "caller's", "callers",  "can",
	"choose",   "chooses",	"chose",    "could",	"customer", "customers",
	"dial",	    "dialed",	"dials",    "did",	"do",	    "does",
	"done",	    "er",	"erm",	    "for",	"from",	    "get",
	"gets",	    "go",	"going",    "gonna",	"got",	    "had",
	"has",	    "have",	"he",	    "hello",	"her",	    "here",
	"hey",	    "hi",	"him",	    "his",	"hit",	    "how",
	"i",	    "i'd",	"i'll",	    "i'm",	"i've",	    "if",
	"in",	    "into",	"is",	    "it",	"it's",	    "its",
	"just",	    "key",	"know",	    "knows",	"let",	    "let's",
	"like",	    "likes",	"may",	    "me",	"mention",  "mentioned",
	"mentions", "might",	"must",	    "my",	"need",	    "needed",
	"needs",    "now",	"number",   "of",	"on",	    "option",
	"or",	    "our",	"out",	    "please",	"press",    "pressed",
	"presses",  "pressing", "really",   "said",	"say",	    "saying",
	"says",	    "select",	"selected", "selects",	"shall",    "she",
	"should",   "so",	"some",	    "tell",	"tells",    "that",
	"that's",   "the",	"their",    "them",	"then",	    "there",
	"these",    "they",	"they're",  "thing",	"things",   "this",
	"those",    "to",	"told",	    "too",	"uh",	    "um",
	"up",	    "us",	"user",	    "user's",	"users",    "very",
	"wanna",    "want",	"wanted",   "wants",	"was",	    "we",
	"we're",    "well",	"were",	    "what",	"what's",   "when",
	"which",    "who",	"whom",	    "will",	"with",	    "would",
	"you",	    "you're",	"your",
};

static const char negations[] =
	"not never none nothing neither nor without cannot cant can't dont "
	"don't doesnt doesn't didnt didn't isnt isn't arent aren't wasnt "
	"wasn't wont won't wouldnt wouldn't couldnt couldn't shouldnt "
	"shouldn't havent haven't hasnt hasn't hadnt hadn't ain't unable";

static const char yes_strong[] = "yes yeah yep yup yea ya yah aye sure ok "
				 "okay okey certainly absolutely definitely "
				 "affirmative indeed agreed mhm";
static const char yes_weak[] =
	"correct right exactly true fine perfect great good alright positive "
	"please";
static const char no_strong[] = "no nope nah negative";
static const char no_weak[] = "wrong incorrect false never not";

static const char label_yes[] =
	"yes yeah agree agrees agreed confirm confirms confirmed accept "
	"accepts accepted approve approves approved affirmative consent "
	"consents willing positive positively interested correct happy";
static const char label_no[] =
	"no decline declines declined refuse refuses refused reject rejects "
	"rejected disagree disagrees deny denies denied uninterested negative "
	"negatively incorrect wrong";

static const struct {
	const char *words;
	enum polarity means;
} phrases[] = {
	{ "not sure", POLARITY_NONE },
	{ "not certain", POLARITY_NONE },
	{ "don't know", POLARITY_NONE },
	{ "do not know", POLARITY_NONE },
	{ "dont know", POLARITY_NONE },
	{ "no idea", POLARITY_NONE },
	{ "of course not", POLARITY_NO },
	{ "absolutely not", POLARITY_NO },
	{ "definitely not", POLARITY_NO },
	{ "certainly not", POLARITY_NO },
	{ "not really", POLARITY_NO },
	{ "i would rather not", POLARITY_NO },
	{ "i'd rather not", POLARITY_NO },
	{ "no problem", POLARITY_YES },
	{ "no worries", POLARITY_YES },
	{ "no objection", POLARITY_YES },
	{ "not a problem", POLARITY_YES },
	{ "why not", POLARITY_YES },
	{ "of course", POLARITY_YES },
	{ "sounds good", POLARITY_YES },
	{ "sounds great", POLARITY_YES },
	{ "go ahead", POLARITY_YES },
	{ "go for it", POLARITY_YES },
	{ "that works", POLARITY_YES },
	{ "works for me", POLARITY_YES },
	{ "you bet", POLARITY_YES },
	{ "uh huh", POLARITY_YES },
	{ "i agree", POLARITY_YES },
	{ "i confirm", POLARITY_YES },
	{ "i do not", POLARITY_NO },
	{ "i am not", POLARITY_NO },
	{ "i would not", POLARITY_NO },
	{ "i'm good", POLARITY_NO },
	{ "uh uh", POLARITY_NO },
};

bool word_in(const char *text, const char *list)
{
	for (const char *at = list; *at && *text; at += *at == ' ') {
		size_t n = 0;

		while (text[n] && at[n] == text[n])
			n++;
		if (!text[n] && (at[n] == ' ' || !at[n]))
			return true;
		while (*at && *at != ' ')
			at++;
	}
	return false;
}

static int compare(const void *key, const void *entry)
{
	return strcmp(key, *(const char *const *)entry);
}

static bool is_stop(const char *text)
{
	return bsearch(text, stop_words,
		       sizeof(stop_words) / sizeof(stop_words[0]),
		       sizeof(stop_words[0]), compare) != NULL;
}

/* Typographic marks that are no part of a word; the single quote is one. */
static size_t mark_length(const unsigned char *s, bool *is_apostrophe)
{
	*is_apostrophe = false;
	if (s[0] == 0xc2 && s[1] == 0xa0)
		return 2;
	if (s[0] == 0xe2 && s[1] == 0x80 && s[2]) {
		*is_apostrophe = s[2] == 0x99 || s[2] == 0x98;
		return 3;
	}
	return 0;
}

static bool is_digit_at(const char *s)
{
	return isdigit((unsigned char)*s) != 0;
}

/* The point of "3.5", the comma of "1,000". */
static bool is_inside_number(const char *s, const char *begin)
{
	size_t after = strspn(s + 1, "0123456789");
	const char *first = s;

	while (first > begin && is_digit_at(first - 1))
		first--;
	if (first == s)
		return false;
	if (*s == ',')
		return after == 3;
	return *s == '.' && after > 0 && first == begin;
}

/* Length of the character at s when it belongs to the word, 0 at its end.
 * *c is what it adds to the text; NUL: nothing. */
static size_t word_step(const char *s, const char *begin, char *c)
{
	const unsigned char *u = (const unsigned char *)s;
	bool is_apostrophe;
	size_t mark = mark_length(u, &is_apostrophe);

	*c = (char)tolower(*u);
	if (mark) {
		*c = '\'';
		return is_apostrophe && s > begin && isalpha(u[3]) ? 3 : 0;
	}
	if (isalnum(*u) || *u >= 0x80)
		return 1;
	if (s == begin)
		return 0;
	if (is_inside_number(s, begin)) {
		*c = *s == ',' ? '\0' : '.';
		return 1;
	}
	return *s == '\'' && isalpha(u[1]) ? 1 : 0;
}

static const char *read_word(struct word *word, const char *s)
{
	const char *begin = s;
	size_t n = 0, step;
	char c;

	while (*s && (step = word_step(s, begin, &c)) > 0) {
		if (c && n + 1 < WORD_SIZE)
			word->text[n++] = c;
		s += step;
	}
	word->text[n] = '\0';
	return s;
}

void words_init(struct words *words, const char *source)
{
	const char *s = source ? source : "";
	size_t size = 0;

	*words = (struct words){ .source = s };
	while (*s && words->n < WORDS_MAX) {
		struct word word = { .at = (size_t)(s - words->source) };
		const char *end = read_word(&word, s);

		if (end == s) {
			bool ignored;
			size_t mark =
				mark_length((const unsigned char *)s, &ignored);

			s += mark ? mark : 1;
			continue;
		}
		s = end;
		word.end = (size_t)(end - words->source);
		word.is_stop = is_stop(word.text);
		word_root(word.root, word.text);
		if (words->n == size) {
			size = size ? size * 2 : 16;
			words->word =
				mem_resize(words->word, size * sizeof(word));
		}
		words->word[words->n++] = word;
	}
}

void words_reset(struct words *words)
{
	mem_free(words->word);
	*words = (struct words){ .source = "" };
}

struct slice words_span(const struct words *words, size_t first, size_t n)
{
	size_t at;

	if (first >= words->n || n == 0)
		return (struct slice){ "", 0 };
	if (n > words->n - first)
		n = words->n - first;
	at = words->word[first].at;
	return slice_make(words->source + at,
			  words->word[first + n - 1].end - at);
}

bool words_match(const struct words *words, size_t first, const char *phrase)
{
	struct slice rest = slice_of(phrase);

	if (first >= words->n || words->word[first].text[0] != *phrase)
		return false; /* most of the time */
	while (rest.len) {
		struct slice want = slice_cut(&rest, ' ');

		if (first >= words->n ||
		    !slice_eq(slice_of(words->word[first].text), want))
			return false;
		first++;
	}
	return true;
}

bool words_have_root(const struct words *words, const char *root)
{
	for (size_t i = 0; i < words->n; i++) {
		if (strcmp(words->word[i].root, root) == 0)
			return true;
	}
	return false;
}

static int find_phrase(const struct words *words, size_t first)
{
	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
		if (words_match(words, first, phrases[i].words))
			return (int)i;
	}
	return -1;
}

/* What one word says by itself; weak ones count in short answers alone. */
static enum polarity word_says(const char *text, bool is_short)
{
	if (word_in(text, yes_strong))
		return POLARITY_YES;
	if (word_in(text, no_strong))
		return POLARITY_NO;
	if (is_short && word_in(text, yes_weak))
		return POLARITY_YES;
	if (is_short && word_in(text, no_weak))
		return POLARITY_NO;
	return POLARITY_NONE;
}

enum polarity words_answer(const struct words *words)
{
	bool is_short = words->n <= 5, is_negated = false;

	for (size_t i = 0; i < words->n; i++) {
		const char *text = words->word[i].text;
		int phrase = find_phrase(words, i);
		enum polarity says;

		if (phrase >= 0)
			return phrases[phrase].means;
		if (word_in(text, negations)) {
			is_negated = true;
			continue;
		}
		says = word_says(text, is_short);
		if (says == POLARITY_YES && is_negated)
			return POLARITY_NO;
		if (says != POLARITY_NONE)
			return says;
	}
	return is_negated ? POLARITY_NO : POLARITY_NONE;
}

enum polarity words_polarity(const struct words *words)
{
	bool is_negated = words_are_negated(words);

	for (size_t i = 0; i < words->n; i++) {
		const char *text = words->word[i].text;

		if (word_in(text, label_no))
			return POLARITY_NO;
		if (word_in(text, label_yes))
			return is_negated ? POLARITY_NO : POLARITY_YES;
	}
	return is_negated ? POLARITY_NO : POLARITY_NONE;
}

bool words_are_negated(const struct words *words)
{
	for (size_t i = 0; i < words->n; i++) {
		if (word_in(words->word[i].text, negations))
			return true;
	}
	return false;
}
