/* SPDX-License-Identifier: MIT */
#include "agent/engine/extract.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include "agent/engine/dates.h"
#include "agent/engine/extract_text.h"
#include "agent/engine/numbers.h"
#include "core/mem.h"

enum kind {
	KIND_BOOLEAN,
	KIND_NUMBER,
	KIND_DATE,
	KIND_TIME,
	KIND_EMAIL,
	KIND_PHONE,
	KIND_CODE,
	KIND_PERSON,
	KIND_TEXT
};

enum { WANTED_MAX = 64, PHONE_DIGITS_MIN = 7 };

/* One variable that is asked for. */
struct wanted {
	const char *name; /* borrowed */
	const char *type;
	struct words hints; /* owned: name and description */
	size_t n_name; /* hints that come from the name */
	enum kind kind;
	bool is_known; /* had a value before this utterance */
	bool is_done;
};

struct extraction {
	const struct extract_question *question; /* borrowed */
	struct wanted wanted[WANTED_MAX];
	char *hint_text[WANTED_MAX]; /* owned: what hints point into */
	size_t n;
	uint64_t used_numbers; /* a bit for each word a number began at */
	json_t *found; /* owned */
};

void extract_name_text(char *out, size_t size, const char *name)
{
	size_t n = 0;

	for (const char *s = name; *s && n + 2 < size; s++) {
		bool is_upper = isupper((unsigned char)*s) != 0;

		if (is_upper && s > name && islower((unsigned char)s[-1]))
			out[n++] = ' ';
		out[n++] = *s == '_' || *s == '-' || *s == '.' ? ' ' : *s;
	}
	out[n] = '\0';
}

bool extract_is_set(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!value || json_is_null(value))
		return false;
	return !json_is_string(value) || json_string_length(value) > 0;
}

static bool hints_have(const struct wanted *wanted, size_t n, const char *list)
{
	for (size_t i = 0; i < n && i < wanted->hints.n; i++) {
		if (word_in(wanted->hints.word[i].text, list))
			return true;
	}
	return false;
}

static enum kind text_kind(const struct wanted *wanted, size_t n)
{
	static const struct {
		const char *words;
		enum kind kind;
	} table[] = {
		{ "email mail", KIND_EMAIL },
		{ "phone telephone mobile cell callback", KIND_PHONE },
		{ "zip zipcode postal postcode pin code ssn digits number",
		  KIND_CODE },
		{ "company business product pet brand model street city "
		  "address reason",
		  KIND_TEXT },
		{ "name surname firstname lastname fullname", KIND_PERSON },
		{ "date birthday birthdate birth dob day", KIND_DATE },
		{ "time hour", KIND_TIME },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (hints_have(wanted, n, table[i].words))
			return table[i].kind;
	}
	return KIND_TEXT;
}

static enum kind kind_of(const struct wanted *wanted)
{
	enum kind kind;

	if (word_in(wanted->type, "boolean bool"))
		return KIND_BOOLEAN;
	if (word_in(wanted->type, "integer int number float"))
		return KIND_NUMBER;
	if (word_in(wanted->type, "date datetime"))
		return KIND_DATE;
	kind = text_kind(wanted, wanted->n_name);
	return kind != KIND_TEXT ? kind : text_kind(wanted, wanted->hints.n);
}

static const char *member(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static void add_wanted(struct extraction *x, const json_t *entry)
{
	struct wanted *wanted = &x->wanted[x->n];
	const char *description = member(entry, "description");
	struct words name;
	char text[256];
	size_t size;

	wanted->name = member(entry, "name");
	wanted->type = member(entry, "type");
	if (!*wanted->name)
		return;
	extract_name_text(text, sizeof(text), wanted->name);
	size = strlen(text) + strlen(description) + 2;
	x->hint_text[x->n] = mem_new(size);
	snprintf(x->hint_text[x->n], size, "%s %s", text, description);
	words_init(&wanted->hints, x->hint_text[x->n]);
	words_init(&name, text);
	wanted->n_name = name.n;
	words_reset(&name);
	wanted->kind = kind_of(wanted);
	wanted->is_known = extract_is_set(x->question->known, wanted->name);
	x->n++;
}

static void keep(struct extraction *x, struct wanted *wanted, json_t *value)
{
	if (value && json_object_set_new(x->found, wanted->name, value) == 0)
		wanted->is_done = true;
}

/* All meaningful words of the variable's name were said. */
static bool is_named(const struct wanted *wanted, const struct words *said)
{
	size_t meant = 0;

	for (size_t i = 0; i < wanted->n_name && i < wanted->hints.n; i++) {
		if (wanted->hints.word[i].is_stop)
			continue;
		if (!words_have_root(said, wanted->hints.word[i].root))
			return false;
		meant++;
	}
	return meant > 0;
}

static bool try_boolean(struct extraction *x, struct wanted *wanted,
			bool only_named)
{
	const struct words *said = x->question->said;
	enum polarity answer = words_answer(said);

	if (is_named(wanted, said))
		keep(x, wanted,
		     json_boolean(answer != POLARITY_NO &&
				  !words_are_negated(said)));
	else if (!only_named && answer != POLARITY_NONE)
		keep(x, wanted, json_boolean(answer == POLARITY_YES));
	return wanted->is_done;
}

/* A word beside the number that the variable's name or description holds. */
static bool number_is_for(const struct wanted *wanted, const struct words *said,
			  const struct number *number)
{
	size_t end = number->first + number->n;
	size_t from = number->first > 2 ? number->first - 2 : 0;

	for (size_t i = from; i < said->n && i < end + 2; i++) {
		bool is_inside = i >= number->first && i < end;

		if (!is_inside && !said->word[i].is_stop &&
		    words_have_root(&wanted->hints, said->word[i].root) &&
		    (i >= end || number->first - i <= 2))
			return true;
	}
	return false;
}

static bool try_number(struct extraction *x, struct wanted *wanted,
		       bool only_named)
{
	const struct words *said = x->question->said;
	bool is_integer = word_in(wanted->type, "integer int");
	struct number number;
	size_t from = 0;

	while (number_find(&number, said, from)) {
		uint64_t bit = 1ull << (number.first & 63);

		from = number.first + number.n;
		if (x->used_numbers & bit || (is_integer && !number.is_whole) ||
		    fabs(number.value) > 9e15)
			continue;
		if (only_named && !number_is_for(wanted, said, &number))
			continue;
		x->used_numbers |= bit;
		keep(x, wanted,
		     number.is_whole ? json_integer((json_int_t)number.value)
				     : json_real(number.value));
		return true;
	}
	return false;
}

static bool try_date(struct extraction *x, struct wanted *wanted)
{
	char text[DATE_TEXT_SIZE];
	int64_t days;

	if (!date_find(&days, x->question->said, x->question->today_days))
		return false;
	keep(x, wanted, json_string(date_write(text, days)));
	return true;
}

/* "sales, support or billing" in the description: the one that was said. */
static bool try_choice(struct extraction *x, struct wanted *wanted)
{
	const struct words *said = x->question->said;
	const struct words *hints = &wanted->hints;
	bool is_list = false;

	for (size_t i = wanted->n_name; i < hints->n; i++)
		is_list |= words_match(hints, i, "one of") ||
			   words_match(hints, i, "either");
	if (!is_list)
		return false;
	for (size_t i = wanted->n_name; i < hints->n; i++) {
		const struct word *word = &hints->word[i];

		if (word->is_stop || word_in(word->text, "one either") ||
		    !words_have_root(said, word->root))
			continue;
		keep(x, wanted, json_string(word->text));
		return true;
	}
	return false;
}

/* "my city is boston and ...": what follows the variable's own name. */
static bool try_named_text(struct extraction *x, struct wanted *wanted)
{
	const struct words *said = x->question->said;

	for (size_t i = 0; i + 2 < said->n; i++) {
		const struct word *word = &said->word[i];
		size_t end = i + 2;
		struct slice text;

		if (word->is_stop || !word_in(said->word[i + 1].text, "is are"))
			continue;
		if (!words_have_root(&wanted->hints, word->root))
			continue;
		while (end < said->n && strcmp(said->word[end].text, "and"))
			end++;
		text = words_span(said, i + 2, end - i - 2);
		keep(x, wanted, json_stringn(text.ptr, text.len));
		return wanted->is_done;
	}
	return false;
}

/* Something beyond yes, no and politeness. */
static bool has_content(const struct words *said)
{
	for (size_t i = 0; i < said->n; i++) {
		if (!said->word[i].is_stop &&
		    !word_in(said->word[i].text,
			     "yes yeah no nope okay ok sure right thanks "
			     "thank not correct goodbye bye sorry repeat"))
			return true;
	}
	return false;
}

static bool try_text(struct extraction *x, struct wanted *wanted)
{
	char text[EXTRACT_TEXT_SIZE];
	const struct words *said = x->question->said;

	if (try_choice(x, wanted) || try_named_text(x, wanted))
		return true;
	if (wanted->is_known || !has_content(said))
		return false;
	if (!extract_answer(text, sizeof(text), said))
		return false;
	keep(x, wanted, json_string(text));
	return wanted->is_done;
}

/* "John Smith": the part a first_name or last_name asks for. */
static json_t *person_part(const struct wanted *wanted, char *name)
{
	char *last = strrchr(name, ' ');
	char *first_end = strchr(name, ' ');

	if (hints_have(wanted, wanted->n_name, "last surname family lastname"))
		return last ? json_string(last + 1) : json_string(name);
	if (hints_have(wanted, wanted->n_name, "first given firstname") &&
	    first_end)
		*first_end = '\0';
	return json_string(name);
}

static bool try_pattern(struct extraction *x, struct wanted *wanted)
{
	const struct words *said = x->question->said;
	char text[EXTRACT_TEXT_SIZE];
	bool is_found = false;

	switch (wanted->kind) {
	case KIND_EMAIL:
		is_found = extract_email(text, sizeof(text), said);
		break;
	case KIND_PHONE:
		is_found = extract_digits(text, sizeof(text), said,
					  PHONE_DIGITS_MIN);
		break;
	case KIND_CODE:
		is_found = extract_digits(text, sizeof(text), said, 1);
		break;
	case KIND_TIME:
		is_found = extract_time(text, sizeof(text), said);
		break;
	case KIND_PERSON:
		if (!extract_person(text, sizeof(text), said, wanted->is_known))
			return false;
		keep(x, wanted, person_part(wanted, text));
		return true;
	case KIND_BOOLEAN:
	case KIND_NUMBER:
	case KIND_DATE:
	case KIND_TEXT:
		break;
	}
	if (is_found)
		keep(x, wanted, json_string(text));
	return is_found;
}

/* only_named: claim nothing but what is clearly meant for this variable. */
static bool try_one(struct extraction *x, struct wanted *wanted,
		    bool only_named)
{
	switch (wanted->kind) {
	case KIND_BOOLEAN:
		return try_boolean(x, wanted, only_named);
	case KIND_NUMBER:
		return try_number(x, wanted, only_named);
	case KIND_DATE:
		return !only_named && try_date(x, wanted);
	case KIND_TEXT:
		return only_named ? try_choice(x, wanted) ||
					    try_named_text(x, wanted)
				  : try_text(x, wanted);
	case KIND_TIME:
	case KIND_EMAIL:
	case KIND_PHONE:
	case KIND_CODE:
	case KIND_PERSON:
		return !only_named && try_pattern(x, wanted);
	}
	return false;
}

static bool is_taken(const struct extraction *x, const struct wanted *wanted)
{
	for (size_t i = 0; i < x->n; i++) {
		const struct wanted *other = &x->wanted[i];

		if (other == wanted || other->kind != wanted->kind)
			continue;
		if (wanted->kind == KIND_PERSON || wanted->kind == KIND_NUMBER)
			continue; /* one utterance may fill several */
		if (other->is_done)
			return true;
	}
	return false;
}

/* An answer goes to what is still missing; it corrects a known value only
 * when nothing of its kind is missing. */
static bool is_missing_kind(const struct extraction *x, enum kind kind)
{
	for (size_t i = 0; i < x->n; i++) {
		const struct wanted *wanted = &x->wanted[i];

		if (wanted->kind == kind && !wanted->is_known)
			return true;
	}
	return false;
}

static void run_pass(struct extraction *x, bool only_named)
{
	for (size_t i = 0; i < x->n; i++) {
		struct wanted *wanted = &x->wanted[i];
		bool is_other_missing =
			wanted->is_known && is_missing_kind(x, wanted->kind);

		if (wanted->is_done ||
		    (!only_named && (wanted->kind == KIND_TEXT ||
				     is_other_missing || is_taken(x, wanted))))
			continue;
		try_one(x, wanted, only_named);
	}
}

/* A free text is the whole answer only when nothing else was found in it. */
static void run_texts(struct extraction *x)
{
	for (size_t i = 0; i < x->n; i++) {
		struct wanted *wanted = &x->wanted[i];

		if (wanted->kind == KIND_TEXT && !wanted->is_done &&
		    json_object_size(x->found) == 0)
			try_one(x, wanted, false);
	}
}

json_t *extract_all(const struct extract_question *question)
{
	struct extraction *x = mem_new(sizeof(*x));
	json_t *found = json_object();
	const json_t *entry;
	size_t i;

	x->question = question;
	x->found = found;
	json_array_foreach(question->wanted, i, entry) {
		if (x->n < WANTED_MAX)
			add_wanted(x, entry);
	}
	if (question->said->n > 0) {
		run_pass(x, true);
		run_pass(x, false);
		run_texts(x);
	}
	for (i = 0; i < x->n; i++) {
		words_reset(&x->wanted[i].hints);
		mem_free(x->hint_text[i]);
	}
	mem_free(x);
	return found;
}
