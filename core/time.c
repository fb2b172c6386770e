/* SPDX-License-Identifier: MIT */
#include "core/time.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

struct clock {
	int64_t year;
	unsigned month, day, hour, minute, second, ms;
	int offset_minutes;
};

/* Days since 1970-01-01 in the Gregorian calendar, by counting from March so
 * that the leap day comes last. */
static int64_t days_of(int64_t year, unsigned month, unsigned day)
{
	int64_t y = year - (month <= 2);
	int64_t era = (y >= 0 ? y : y - 399) / 400;
	int64_t of_era = y - era * 400;
	int64_t of_year =
		(153 * ((int64_t)month + (month > 2 ? -3 : 9)) + 2) / 5 + day -
		1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 +
	       of_year - 719468;
}

static void date_of(struct clock *out, int64_t days)
{
	int64_t z = days + 719468;
	int64_t era = (z >= 0 ? z : z - 146096) / 146097;
	int64_t of_era = z - era * 146097;
	int64_t y =
		(of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) /
		365;
	int64_t of_year = of_era - (365 * y + y / 4 - y / 100);
	int64_t m = (5 * of_year + 2) / 153;

	out->day = (unsigned)(of_year - (153 * m + 2) / 5 + 1);
	out->month = (unsigned)(m < 10 ? m + 3 : m - 9);
	out->year = y + era * 400 + (out->month <= 2);
}

const char *time_write(char out[TIME_TEXT_SIZE], int64_t wall_ms)
{
	const int64_t day_ms = 24 * 3600 * 1000;
	/* Years 0000 to 9999 are what the form can say. */
	const int64_t first = -62167219200000, last = 253402300799999;
	struct clock at = { 0 };
	int64_t days, ms;

	wall_ms = wall_ms < first ? first : wall_ms > last ? last : wall_ms;
	days = wall_ms / day_ms;
	ms = wall_ms % day_ms;
	if (ms < 0) {
		days--;
		ms += day_ms;
	}
	date_of(&at, days);
	snprintf(out, TIME_TEXT_SIZE, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ",
		 (unsigned)at.year % 10000, at.month % 100, at.day % 100,
		 (unsigned)(ms / 3600000) % 100, (unsigned)(ms / 60000 % 60),
		 (unsigned)(ms / 1000 % 60), (unsigned)(ms % 1000));
	return out;
}

/* n digits and then the byte that must follow ('\0': none). */
static bool take_number(unsigned *out, struct slice *s, size_t n, char follow)
{
	uint64_t value;

	if (s->len < n + (follow != '\0') ||
	    slice_to_u64(&value, slice_make(s->ptr, n), 9999))
		return false;
	if (follow && s->ptr[n] != follow)
		return false;
	*out = (unsigned)value;
	n += follow != '\0';
	*s = slice_make(s->ptr + n, s->len - n);
	return true;
}

static bool take_char(struct slice *s, char c)
{
	if (!s->len || s->ptr[0] != c)
		return false;
	*s = slice_make(s->ptr + 1, s->len - 1);
	return true;
}

/* ".5", ".678901": at most nine digits, cut to milliseconds. */
static bool take_fraction(struct clock *at, struct slice *s)
{
	unsigned scale = 100, n = 0;

	if (!take_char(s, '.'))
		return true;
	while (s->len && s->ptr[0] >= '0' && s->ptr[0] <= '9') {
		at->ms += (unsigned)(s->ptr[0] - '0') * scale;
		scale /= 10;
		n++;
		take_char(s, s->ptr[0]);
	}
	return n >= 1 && n <= 9;
}

/* "Z", "-08:00", "-0800" or, when is_optional, nothing. */
static bool take_offset(struct clock *at, struct slice *s, bool is_optional)
{
	unsigned hours = 0, minutes = 0;
	int sign;

	if (!s->len)
		return is_optional;
	if (take_char(s, 'Z') || take_char(s, 'z'))
		return !s->len;
	sign = take_char(s, '-') ? -1 : take_char(s, '+') ? 1 : 0;
	if (!sign || !take_number(&hours, s, 2, '\0'))
		return false;
	take_char(s, ':');
	if (!take_number(&minutes, s, 2, '\0') || s->len)
		return false;
	at->offset_minutes = sign * (int)(hours * 60 + minutes);
	return hours <= 14 && minutes <= 59;
}

static bool take_date(struct clock *at, struct slice *s)
{
	static const unsigned char days[] = { 31, 29, 31, 30, 31, 30,
					      31, 31, 30, 31, 30, 31 };
	unsigned year = 0;
	bool is_leap;

	if (!take_number(&year, s, 4, '-') ||
	    !take_number(&at->month, s, 2, '-') ||
	    !take_number(&at->day, s, 2, '\0'))
		return false;
	at->year = year;
	is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
	return at->month >= 1 && at->month <= 12 && at->day >= 1 &&
	       at->day <= days[at->month - 1] &&
	       (is_leap || at->month != 2 || at->day <= 28);
}

int time_parse(int64_t *wall_ms, struct slice text)
{
	struct clock at = { 0 };
	bool is_iso, is_fine;
	int64_t seconds;

	if (!take_date(&at, &text))
		return -EINVAL;
	is_iso = take_char(&text, 'T') || take_char(&text, 't');
	if (!is_iso && !take_char(&text, ' '))
		return -EINVAL;
	is_fine = take_number(&at.hour, &text, 2, ':') &&
		  take_number(&at.minute, &text, 2, ':') &&
		  take_number(&at.second, &text, 2, '\0') &&
		  take_fraction(&at, &text);
	if (!is_fine || at.hour > 23 || at.minute > 59 || at.second > 59)
		return -EINVAL;
	if (!is_iso)
		take_char(&text, ' ');
	if (!take_offset(&at, &text, !is_iso))
		return -EINVAL;
	seconds = days_of(at.year, at.month, at.day) * 86400 +
		  (int64_t)at.hour * 3600 + at.minute * 60 + at.second -
		  (int64_t)at.offset_minutes * 60;
	*wall_ms = seconds * 1000 + at.ms;
	return 0;
}
