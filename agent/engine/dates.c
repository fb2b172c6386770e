/* SPDX-License-Identifier: MIT */
#include "agent/engine/dates.h"
#include <stdio.h>
#include <stdlib.h>
#include "agent/engine/numbers.h"

struct civil {
	int64_t year;
	unsigned month, day;
};

/* Howard Hinnant, "chrono-compatible low-level date algorithms". */
static int64_t civil_days(struct civil date)
{
	int64_t y = date.year - (date.month <= 2);
	int64_t era = (y >= 0 ? y : y - 399) / 400;
	int64_t yoe = y - era * 400;
	int64_t shifted = (date.month + 9) % 12;
	int64_t doy = (153 * shifted + 2) / 5 + date.day - 1;

	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static struct civil civil_of(int64_t days)
{
	int64_t z = days + 719468;
	int64_t era = (z >= 0 ? z : z - 146096) / 146097;
	int64_t doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t mp = (5 * doy + 2) / 153;
	struct civil date = { .year = yoe + era * 400,
			      .month = (unsigned)(mp < 10 ? mp + 3 : mp - 9),
			      .day = (unsigned)(doy - (153 * mp + 2) / 5 + 1) };

	date.year += date.month <= 2;
	return date;
}

/* 0 and the days, or false for 30 February. */
static bool commit(int64_t *out_days, struct civil date)
{
	struct civil again;
	int64_t days;

	if (date.month < 1 || date.month > 12 || date.day < 1 ||
	    date.day > 31 || date.year < 1800 || date.year > 2999)
		return false;
	days = civil_days(date);
	again = civil_of(days);
	if (again.day != date.day)
		return false;
	*out_days = days;
	return true;
}

static const char *const months[] = {
	"january jan", "february feb", "march mar",
	"april apr",   "may",	       "june jun",
	"july jul",    "august aug",   "september sept sep",
	"october oct", "november nov", "december dec",
};

static const char *const weekdays[] = {
	/* 1970-01-01 was a Thursday. */
	"thursday thu", "friday fri",  "saturday sat",	"sunday sun",
	"monday mon",	"tuesday tue", "wednesday wed",
};

static unsigned month_at(const struct words *words, size_t i)
{
	for (unsigned m = 0; i < words->n && m < 12; m++) {
		if (word_in(words->word[i].text, months[m]))
			return m + 1;
	}
	return 0;
}

/* A year of four digits at word i. */
static int64_t year_at(const struct words *words, size_t i)
{
	struct number number;

	if (i < words->n && word_in(words->word[i].text, "of in"))
		i++;
	/* "2025 1:39 PM": digits that are a year go no further. */
	if (i < words->n && strspn(words->word[i].text, "0123456789") == 4 &&
	    !words->word[i].text[4])
		return strtol(words->word[i].text, NULL, 10);
	if (!number_find(&number, words, i) || number.first != i ||
	    number.value < 1900 || number.value > 2200 || !number.is_whole)
		return 0;
	return (int64_t)number.value;
}

static bool with_year(int64_t *out_days, struct civil date, int64_t today)
{
	int64_t days;

	if (date.year)
		return commit(out_days, date);
	date.year = civil_of(today).year;
	if (!commit(&days, date) || days < today) {
		date.year++;
		return commit(out_days, date);
	}
	*out_days = days;
	return true;
}

/* "march the fifth twenty twenty six": the day's run of numbers may hold the
 * year, too, so the day is read by itself. */
static bool month_first(int64_t *out_days, const struct words *words, size_t i,
			int64_t today)
{
	struct civil date = { .month = month_at(words, i) };
	size_t n, at = i + 1;

	if (!date.month)
		return false;
	if (at < words->n && strcmp(words->word[at].text, "the") == 0)
		at++;
	n = number_ordinal(&date.day, words, at);
	if (n == 0)
		return false;
	date.year = year_at(words, at + n);
	return with_year(out_days, date, today);
}

static bool day_first(int64_t *out_days, const struct words *words, size_t i,
		      int64_t today)
{
	struct civil date = { 0 };
	size_t at = i, n = number_ordinal(&date.day, words, i);

	if (n == 0)
		return false;
	at += n;
	if (at < words->n && strcmp(words->word[at].text, "of") == 0)
		at++;
	date.month = month_at(words, at);
	if (!date.month)
		return false;
	date.year = year_at(words, at + 1);
	return with_year(out_days, date, today);
}

static bool all_digits(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

static bool joined(const struct words *words, size_t i)
{
	const struct word *left = &words->word[i], *right = left + 1;

	return right->at == left->end + 1 &&
	       strchr("-/", words->source[left->end]) != NULL;
}

/* "2026-03-05", "3/5/2026", "25/12/2026" */
static bool numeric(int64_t *out_days, const struct words *words, size_t i,
		    int64_t today)
{
	struct civil date;
	unsigned long a, b, c;

	(void)today;
	if (i + 2 >= words->n || !joined(words, i) || !joined(words, i + 1) ||
	    !all_digits(words->word[i].text) ||
	    !all_digits(words->word[i + 1].text) ||
	    !all_digits(words->word[i + 2].text))
		return false;
	a = strtoul(words->word[i].text, NULL, 10);
	b = strtoul(words->word[i + 1].text, NULL, 10);
	c = strtoul(words->word[i + 2].text, NULL, 10);
	if (a > 3000 || b > 3000 || c > 3000)
		return false;
	if (a > 31) {
		date = (struct civil){ (int64_t)a, (unsigned)b, (unsigned)c };
		return commit(out_days, date);
	}
	if (c < 100)
		c += 2000;
	date = (struct civil){ (int64_t)c, (unsigned)a, (unsigned)b };
	if (a > 12)
		date = (struct civil){ (int64_t)c, (unsigned)b, (unsigned)a };
	return commit(out_days, date);
}

static bool named(int64_t *out_days, const struct words *words, size_t i,
		  int64_t today)
{
	static const struct {
		const char *phrase;
		int offset;
	} near[] = {
		{ "day after tomorrow", 2 },
		{ "day before yesterday", -2 },
		{ "tomorrow", 1 },
		{ "today", 0 },
		{ "tonight", 0 },
		{ "yesterday", -1 },
		{ "next week", 7 },
		{ "in a week", 7 },
		{ "a week from now", 7 },
	};

	for (size_t k = 0; k < sizeof(near) / sizeof(near[0]); k++) {
		if (words_match(words, i, near[k].phrase)) {
			*out_days = today + near[k].offset;
			return true;
		}
	}
	for (int64_t d = 0; d < 7; d++) {
		if (word_in(words->word[i].text, weekdays[d])) {
			int64_t ahead = (d - today % 7 + 14) % 7;

			*out_days = today + (ahead ? ahead : 7);
			return true;
		}
	}
	return false;
}

/* "in three days", "two weeks from now", "four days ago" */
static bool distance(int64_t *out_days, const struct words *words, size_t i,
		     int64_t today)
{
	bool is_in = strcmp(words->word[i].text, "in") == 0;
	struct number number;
	const char *unit;
	size_t after;
	int64_t days;

	if (!number_find(&number, words, i + is_in) ||
	    number.first != i + is_in || !number.is_whole ||
	    number.value > 10000 || number.first + number.n >= words->n)
		return false;
	after = number.first + number.n;
	unit = words->word[after].text;
	days = (int64_t)number.value * (word_in(unit, "week weeks") ? 7 : 1);
	if (!word_in(unit, "day days week weeks"))
		return false;
	if (words_match(words, after + 1, "ago"))
		days = -days;
	else if (!is_in && !words_match(words, after + 1, "from"))
		return false;
	*out_days = today + days;
	return true;
}

bool date_find(int64_t *out_days, const struct words *words, int64_t today_days)
{
	static bool (*const readers[])(int64_t *, const struct words *, size_t,
				       int64_t) = {
		numeric, month_first, day_first, distance, named,
	};
	size_t n = sizeof(readers) / sizeof(readers[0]);

	/* A weekday beside a full date says less than the date. */
	for (size_t r = 0; r < n; r++) {
		for (size_t i = 0; i < words->n; i++) {
			if (readers[r](out_days, words, i, today_days))
				return true;
		}
	}
	return false;
}

const char *date_write(char out[DATE_TEXT_SIZE], int64_t days)
{
	struct civil date = civil_of(days);

	snprintf(out, DATE_TEXT_SIZE, "%04u-%02u-%02u",
		 (unsigned)date.year % 10000, date.month % 100, date.day % 100);
	return out;
}
