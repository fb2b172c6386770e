/* SPDX-License-Identifier: MIT */
#include "agent/engine/extract_text.h"
#include <ctype.h>
#include <stdio.h>
#include "agent/engine/numbers.h"
#include "core/buffer.h"

/* Copies and cuts at a whole character. */
static bool put(char *out, size_t size, struct slice text)
{
	size_t n = text.len < size ? text.len : size - 1;

	while (n > 0 && n < text.len && ((unsigned char)text.ptr[n] >> 6) == 2)
		n--;
	if (n > 0)
		memcpy(out, text.ptr, n);
	out[n] = '\0';
	return n > 0 && slice_is_utf8(slice_make(out, n));
}

static bool put_buffer(char *out, size_t size, struct buffer *buf)
{
	bool is_good = !buffer_error(buf) && put(out, size, buffer_slice(buf));

	buffer_reset(buf);
	return is_good;
}

static const char name_ends[] =
	"and from with calling here i i'm my the at but speaking is was want "
	"wanted would who in on of for to please that it it's thanks";
static const char not_names[] =
	"yes no not yeah yep nope okay ok sure sorry what why who when where "
	"how hello hi hey thanks thank bye goodbye the a an is are i my i'd "
	"want need can could please maybe um uh of to don't do calling "
	"looking interested fine good great here just trying going having "
	"happy glad afraid very it this that about";

static void add_titled(struct buffer *buf, struct slice word)
{
	if (buf->len)
		buffer_add_char(buf, ' ');
	buffer_add_char(buf, (char)toupper((unsigned char)word.ptr[0]));
	buffer_add(buf, slice_make(word.ptr + 1, word.len - 1));
}

/* Words ahead of i that are letters read one by one: "j o h n". */
static size_t spelt(const struct words *said, size_t i)
{
	size_t n = 0;

	while (i + n < said->n && said->word[i + n].text[1] == '\0' &&
	       isalpha((unsigned char)said->word[i + n].text[0]))
		n++;
	return n >= 2 ? n : 0;
}

static bool person_at(char *out, size_t size, const struct words *said,
		      size_t i)
{
	struct buffer buf;
	size_t taken = 0;

	buffer_init(&buf, EXTRACT_TEXT_SIZE);
	while (i < said->n && taken < 4) {
		size_t n = spelt(said, i);

		if (n == 0 && (word_in(said->word[i].text, name_ends) ||
			       word_in(said->word[i].text, not_names) ||
			       isdigit((unsigned char)said->word[i].root[0])))
			break;
		add_titled(&buf, words_span(said, i, 1));
		for (size_t k = 1; k < n; k++)
			buffer_add_str(&buf, said->word[i + k].text);
		i += n ? n : 1;
		taken++;
		if (i < said->n && said->source[said->word[i - 1].end] != ' ')
			break; /* punctuation ends a name */
	}
	return put_buffer(out, size, &buf);
}

/* The first name behind one of leads, of one or two words each. */
static bool person_behind(char *out, size_t size, const struct words *said,
			  const char *const *leads)
{
	for (size_t i = 0; i < said->n; i++) {
		for (size_t k = 0; leads[k]; k++) {
			size_t n = strchr(leads[k], ' ') ? 2 : 1;

			if (words_match(said, i, leads[k]) &&
			    person_at(out, size, said, i + n))
				return true;
		}
	}
	return false;
}

bool extract_person(char *out, size_t size, const struct words *said,
		    bool is_introduced)
{
	static const char *const sure[] = { "name is", "name's", "names",
					    "call me", NULL };
	static const char *const likely[] = { "this is", "i am",  "i'm",
					      "it's",	 "it is", NULL };

	if (person_behind(out, size, said, sure) ||
	    person_behind(out, size, said, likely))
		return true;
	if (said->n >= 2 && said->n <= 4 &&
	    word_in(said->word[said->n - 1].text, "speaking here"))
		return person_at(out, size, said, 0);
	if (is_introduced || said->n == 0 ||
	    (said->n > 4 && spelt(said, 0) == 0))
		return false;
	for (size_t i = 0; i < said->n; i++) {
		if (word_in(said->word[i].text, not_names))
			return false;
	}
	return person_at(out, size, said, 0);
}

static bool is_email_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("._%+-", c));
}

/* An address as it is written. */
static bool written_email(char *out, size_t size, const char *source)
{
	for (const char *at = strchr(source, '@'); at;
	     at = strchr(at + 1, '@')) {
		const char *begin = at, *end = at + 1;
		const char *dot;

		while (begin > source && is_email_char(begin[-1]))
			begin--;
		while (is_email_char(*end))
			end++;
		while (end > at + 1 && end[-1] == '.')
			end--;
		dot = memchr(at, '.', (size_t)(end - at));
		if (begin < at && dot && dot > at + 1)
			return put(out, size,
				   slice_make(begin, (size_t)(end - begin)));
	}
	return false;
}

static const char *email_sign(const char *text)
{
	static const struct {
		const char *word, *sign;
	} signs[] = {
		{ "dot", "." },	 { "point", "." },	{ "period", "." },
		{ "dash", "-" }, { "hyphen", "-" },	{ "minus", "-" },
		{ "plus", "+" }, { "underscore", "_" },
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (strcmp(text, signs[i].word) == 0)
			return signs[i].sign;
	}
	return NULL;
}

/* Words [from, to) run together as an address says them. */
static void add_email_part(struct buffer *buf, const struct words *said,
			   size_t from, size_t to)
{
	while (from < to) {
		const char *text = said->word[from].text;
		const char *sign = email_sign(text);
		struct number number;

		if (!sign && number_find(&number, said, from) &&
		    number.first == from && from + number.n <= to) {
			buffer_add_str(buf, number.digits);
			from += number.n;
			continue;
		}
		buffer_add_str(buf, sign ? sign : text);
		from++;
	}
}

/* Where the part before "at" begins: behind "my e-mail is" and the like. */
static size_t local_begin(const struct words *said, size_t at)
{
	size_t from = at;

	while (from > 0 &&
	       !word_in(said->word[from - 1].text,
			"is it's its email mail address to me use that's at "
			"yes sure okay and um uh my"))
		from--;
	return from;
}

static size_t domain_end(const struct words *said, size_t at)
{
	size_t end = at + 1, dots = 0;

	while (end < said->n) {
		const char *text = said->word[end].text;

		if (email_sign(text) && strcmp(email_sign(text), ".") == 0)
			dots++;
		else if (dots && !email_sign(said->word[end - 1].text))
			break;
		end++;
	}
	return dots ? end : 0;
}

bool extract_email(char *out, size_t size, const struct words *said)
{
	if (written_email(out, size, said->source))
		return true;
	for (size_t at = said->n; at-- > 1;) {
		size_t from = local_begin(said, at);
		size_t end = domain_end(said, at);
		struct buffer buf;

		if (strcmp(said->word[at].text, "at") != 0 || from == at ||
		    at + 1 >= said->n)
			continue;
		buffer_init(&buf, EXTRACT_TEXT_SIZE);
		add_email_part(&buf, said, from, at);
		buffer_add_char(&buf, '@');
		add_email_part(&buf, said, at + 1, end ? end : at + 2);
		if (!end && !word_in(said->word[at + 1].text,
				     "gmail yahoo hotmail outlook icloud"))
			buffer_reset(&buf);
		else if (!end)
			buffer_add_str(&buf, ".com");
		if (buf.len)
			return put_buffer(out, size, &buf);
	}
	return false;
}

static bool has_plus(const struct words *said, const struct number *number)
{
	const struct word *word = &said->word[number->first];

	return (word->at > 0 && said->source[word->at - 1] == '+') ||
	       (number->first > 0 && strcmp(word[-1].text, "plus") == 0);
}

bool extract_digits(char *out, size_t size, const struct words *said,
		    size_t min_digits)
{
	struct number number;
	struct buffer buf;
	size_t from = 0, count = 0;

	buffer_init(&buf, EXTRACT_TEXT_SIZE);
	while (number_find(&number, said, from)) {
		if (count == 0 && has_plus(said, &number))
			buffer_add_char(&buf, '+');
		for (const char *s = number.digits; *s; s++) {
			if (isdigit((unsigned char)*s)) {
				buffer_add_char(&buf, *s);
				count++;
			}
		}
		from = number.first + number.n;
	}
	return put_buffer(out, size, &buf) && count >= min_digits;
}

bool extract_answer(char *out, size_t size, const struct words *said)
{
	static const char *const leads[] = {
		"um",
		"uh",
		"er",
		"well",
		"so",
		"oh",
		"yes",
		"yeah",
		"okay",
		"ok",
		"sure",
		"hi",
		"hello",
		"please",
		"it's",
		"it is",
		"that is",
		"that's",
		"i think",
		"i would like",
		"i'd like",
		"i want",
		"my address is",
		"the address is",
		"i live at",
		"i live in",
		"i need",
		"the",
		"a",
		"an",
	};
	size_t first = 0, n = said->n;

	for (size_t k = 0; k < sizeof(leads) / sizeof(leads[0]); k++) {
		struct slice rest = slice_of(leads[k]);
		size_t words = 0;

		if (!words_match(said, first, leads[k]))
			continue;
		for (; rest.len; words++)
			slice_cut(&rest, ' ');
		if (first + words >= n)
			break;
		first += words;
		k = (size_t)-1; /* again from the first lead */
	}
	while (n > first + 1 && word_in(said->word[n - 1].text, "please um uh"))
		n--;
	return put(out, size, words_span(said, first, n - first));
}

static bool clock_at(const struct words *said, size_t i, unsigned *hour,
		     unsigned *minute, size_t *used)
{
	struct number number;
	unsigned long all;

	if (words_match(said, i, "noon") || words_match(said, i, "midnight")) {
		*hour = said->word[i].text[0] == 'n' ? 12 : 24;
		*used = 1;
		return true;
	}
	if (!number_find(&number, said, i) || number.first != i ||
	    !number.is_whole || number.value < 0 || number.value > 2359)
		return false;
	all = (unsigned long)number.value;
	*hour = (unsigned)(all > 24 ? all / 100 : all);
	*minute = (unsigned)(all > 24 ? all % 100 : 0);
	*used = number.n;
	return *hour <= 23 && *minute <= 59;
}

/* "half past three", "quarter to nine" */
static bool spoken_clock(const struct words *said, size_t i, unsigned *hour,
			 unsigned *minute, size_t *used)
{
	static const struct {
		const char *lead;
		unsigned minute;
		bool is_before;
	} leads[] = { { "half past", 30, false },
		      { "quarter past", 15, false },
		      { "quarter after", 15, false },
		      { "quarter to", 45, true } };

	for (size_t k = 0; k < sizeof(leads) / sizeof(leads[0]); k++) {
		if (!words_match(said, i, leads[k].lead) ||
		    !clock_at(said, i + 2, hour, minute, used))
			continue;
		*minute = leads[k].minute;
		*hour = leads[k].is_before ? (*hour + 23) % 24 : *hour;
		*used += 2;
		return true;
	}
	return clock_at(said, i, hour, minute, used);
}

static bool is_clock(const struct words *said, size_t i, size_t after,
		     bool *is_pm, bool *is_am)
{
	const char *next = after < said->n ? said->word[after].text : "";
	const char *last = i > 0 ? said->word[i - 1].text : "";
	bool is_marked = word_in(next, "pm am p a o'clock oclock") ||
			 word_in(last, "at around about by half quarter") ||
			 !isdigit((unsigned char)said->word[i].text[0]);

	*is_pm = *is_am = false;
	for (size_t k = after; k < said->n && k < after + 4; k++) {
		const char *text = said->word[k].text;

		*is_pm |= word_in(text, "pm p afternoon evening");
		*is_am |= word_in(text, "am a morning");
	}
	return is_marked || after >= said->n ||
	       said->source[said->word[i].end] == ':';
}

bool extract_time(char *out, size_t size, const struct words *said)
{
	for (size_t i = 0; i < said->n; i++) {
		unsigned hour = 0, minute = 0;
		bool is_pm, is_am;
		size_t used = 0;

		if (!spoken_clock(said, i, &hour, &minute, &used) ||
		    !is_clock(said, i, i + used, &is_pm, &is_am))
			continue;
		hour = is_pm && hour < 12 ? hour + 12 : hour;
		hour = is_am && hour == 12 ? 0 : hour % 24;
		snprintf(out, size, "%02u:%02u", hour, minute);
		return true;
	}
	return false;
}
