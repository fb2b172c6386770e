/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <time.h>
#include "agent/pathway/zone.h"

/* Month, week (5: the last) and weekday on which the clock changes, and the
 * second of that day on the clock before it. */
struct change {
	int month, week, weekday;
	int32_t second;
};

static bool take(struct slice *s, char c)
{
	if (!s->len || s->ptr[0] != c)
		return false;
	s->ptr++;
	s->len--;
	return true;
}

static bool take_number(int *out, struct slice *s, int max)
{
	int value = 0;
	bool has_digit = false;

	while (s->len && s->ptr[0] >= '0' && s->ptr[0] <= '9') {
		value = value * 10 + (s->ptr[0] - '0');
		if (value > max)
			return false;
		has_digit = true;
		take(s, s->ptr[0]);
	}
	*out = value;
	return has_digit;
}

/* "EST" or "<+0330>": the text itself is not needed. */
static bool take_name(struct slice *s)
{
	size_t before = s->len;

	if (take(s, '<')) {
		while (s->len && s->ptr[0] != '>')
			take(s, s->ptr[0]);
		return take(s, '>');
	}
	while (s->len && ((s->ptr[0] | 32) >= 'a' && (s->ptr[0] | 32) <= 'z'))
		take(s, s->ptr[0]);
	return before - s->len >= 3;
}

/* [+-]h[h][:mm[:ss]] in seconds. */
static bool take_clock(int32_t *out, struct slice *s)
{
	int sign = take(s, '-') ? -1 : 1;
	int hours, minutes = 0, seconds = 0;

	if (sign > 0)
		take(s, '+');
	if (!take_number(&hours, s, 167))
		return false;
	if (take(s, ':') && !take_number(&minutes, s, 59))
		return false;
	if (take(s, ':') && !take_number(&seconds, s, 59))
		return false;
	*out = sign * (hours * 3600 + minutes * 60 + seconds);
	return true;
}

static bool take_change(struct change *out, struct slice *s)
{
	if (!take(s, ',') || !take(s, 'M') ||
	    !take_number(&out->month, s, 12) || !take(s, '.') ||
	    !take_number(&out->week, s, 5) || !take(s, '.') ||
	    !take_number(&out->weekday, s, 6))
		return false;
	out->second = 2 * 3600;
	if (take(s, '/') && !take_clock(&out->second, s))
		return false;
	return out->month >= 1 && out->week >= 1;
}

/* The change's local time in that year, as if it were UTC. */
static int64_t change_at(const struct change *change, int year)
{
	struct tm first = { .tm_year = year,
			    .tm_mon = change->month - 1,
			    .tm_mday = 1 };
	struct tm next = { .tm_year = year,
			   .tm_mon = change->month,
			   .tm_mday = 1 };
	int64_t month_start = timegm(&first); /* fills in tm_wday */
	int days = (int)((timegm(&next) - month_start) / 86400);
	int day = (change->weekday - first.tm_wday + 7) % 7 +
		  (change->week - 1) * 7;

	if (day >= days)
		day -= 7;
	return month_start + (int64_t)day * 86400 + change->second;
}

int zone_rule_offset(int32_t *out, struct slice rule, int64_t unix_seconds)
{
	int32_t standard, summer;
	struct change start, end;
	time_t local;
	int64_t from, until;
	struct tm tm;

	if (!take_name(&rule) || !take_clock(&standard, &rule))
		return -EINVAL;
	standard = -standard; /* written as seconds west */
	*out = standard;
	if (!rule.len)
		return 0;
	if (!take_name(&rule))
		return -EINVAL;
	summer = standard + 3600;
	if (rule.len && rule.ptr[0] != ',') {
		if (!take_clock(&summer, &rule))
			return -EINVAL;
		summer = -summer;
	}
	if (!take_change(&start, &rule) || !take_change(&end, &rule) ||
	    rule.len)
		return -EINVAL;
	local = unix_seconds + standard;
	gmtime_r(&local, &tm);
	from = change_at(&start, tm.tm_year) - standard;
	until = change_at(&end, tm.tm_year) - summer;
	if (from < until ? unix_seconds >= from && unix_seconds < until
			 : unix_seconds >= from || unix_seconds < until)
		*out = summer;
	return 0;
}
