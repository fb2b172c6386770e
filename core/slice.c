/* SPDX-License-Identifier: MIT */
#include "core/slice.h"
#include <errno.h>
#include "core/mem.h"

static unsigned char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : (unsigned char)c;
}

bool slice_eq(struct slice a, struct slice b)
{
	return a.len == b.len && (!a.len || memcmp(a.ptr, b.ptr, a.len) == 0);
}

bool slice_eq_nocase(struct slice a, struct slice b)
{
	size_t i;

	if (a.len != b.len)
		return false;
	for (i = 0; i < a.len; i++)
		if (lower(a.ptr[i]) != lower(b.ptr[i]))
			return false;
	return true;
}

bool slice_has_prefix(struct slice s, struct slice prefix)
{
	return s.len >= prefix.len &&
	       slice_eq(slice_make(s.ptr, prefix.len), prefix);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

struct slice slice_trim(struct slice s)
{
	while (s.len && is_blank(s.ptr[0])) {
		s.ptr++;
		s.len--;
	}
	while (s.len && is_blank(s.ptr[s.len - 1]))
		s.len--;
	return s;
}

ptrdiff_t slice_find(struct slice s, char c)
{
	const char *at = s.len ? memchr(s.ptr, c, s.len) : NULL;

	return at ? at - s.ptr : -1;
}

struct slice slice_cut(struct slice *rest, char sep)
{
	ptrdiff_t at = slice_find(*rest, sep);
	struct slice first = *rest;

	if (at < 0) {
		*rest = (struct slice){ NULL, 0 };
		return first;
	}
	first.len = (size_t)at;
	rest->ptr += at + 1;
	rest->len -= (size_t)at + 1;
	return first;
}

int slice_to_u64(uint64_t *out, struct slice s, uint64_t max)
{
	uint64_t value = 0;
	bool is_over = false;
	size_t i;

	if (!s.len)
		return -EINVAL;
	for (i = 0; i < s.len; i++) {
		uint64_t digit = (uint64_t)(s.ptr[i] - '0');

		if (s.ptr[i] < '0' || s.ptr[i] > '9')
			return -EINVAL;
		if (value > max / 10 || digit > max - value * 10)
			is_over = true; /* a letter may follow: -EINVAL */
		else
			value = value * 10 + digit;
	}
	if (is_over)
		return -ERANGE;
	*out = value;
	return 0;
}

char *slice_dup(struct slice s)
{
	return mem_dup_bytes(s.ptr, s.len);
}

/* Well-formed sequences by lead byte (RFC 3629, section 4): how many bytes
 * follow, and the range of the first of them. */
static const struct {
	unsigned char first, last;
	unsigned char n, low, high;
} leads[] = {
	{ 0x00, 0x7f, 0, 0, 0 },       { 0xc2, 0xdf, 1, 0x80, 0xbf },
	{ 0xe0, 0xe0, 2, 0xa0, 0xbf }, { 0xe1, 0xec, 2, 0x80, 0xbf },
	{ 0xed, 0xed, 2, 0x80, 0x9f }, { 0xee, 0xef, 2, 0x80, 0xbf },
	{ 0xf0, 0xf0, 3, 0x90, 0xbf }, { 0xf1, 0xf3, 3, 0x80, 0xbf },
	{ 0xf4, 0xf4, 3, 0x80, 0x8f },
};

/* Length of the sequence at ptr, at most left; 0: not well-formed. */
static size_t utf8_length(const unsigned char *ptr, size_t left)
{
	size_t i, k;

	for (i = 0; i < sizeof(leads) / sizeof(leads[0]); i++)
		if (ptr[0] >= leads[i].first && ptr[0] <= leads[i].last)
			break;
	if (i == sizeof(leads) / sizeof(leads[0]) || leads[i].n >= left)
		return 0;
	if (leads[i].n && (ptr[1] < leads[i].low || ptr[1] > leads[i].high))
		return 0;
	for (k = 2; k <= leads[i].n; k++)
		if ((ptr[k] & 0xc0) != 0x80)
			return 0;
	return leads[i].n + 1u;
}

bool slice_is_utf8(struct slice s)
{
	const unsigned char *ptr = (const unsigned char *)s.ptr;
	size_t i = 0;

	while (i < s.len) {
		size_t n = utf8_length(ptr + i, s.len - i);

		if (!n)
			return false;
		i += n;
	}
	return true;
}
