/* SPDX-License-Identifier: MIT */
#include "http/range.h"

#include <errno.h>

/* Digits; a number past 2^64 counts as the largest. 0 or -EINVAL. */
static int parse_number(uint64_t *out, struct slice text)
{
	int err = slice_to_u64(out, text, UINT64_MAX);

	if (err == -ERANGE)
		*out = UINT64_MAX;
	return err == -ERANGE ? 0 : err;
}

/* "-N": the last N bytes. */
static int parse_suffix(struct range *out, struct slice text, uint64_t size)
{
	uint64_t n;

	if (parse_number(&n, text))
		return 0;
	if (!n || !size)
		return -1;
	out->n = n < size ? n : size;
	out->first = size - out->n;
	return 1;
}

static int parse_from(struct range *out, struct slice from, struct slice to,
		      uint64_t size)
{
	uint64_t first, last = UINT64_MAX;

	if (parse_number(&first, from))
		return 0;
	if (to.len && (parse_number(&last, to) || last < first))
		return 0;
	if (first >= size)
		return -1;
	out->first = first;
	out->n = (last < size ? last + 1 : size) - first;
	return 1;
}

int range_parse(struct range *out, struct slice header, uint64_t size)
{
	struct slice unit, from, rest = header;

	*out = (struct range){ 0, size };
	unit = slice_cut(&rest, '=');
	if (!slice_eq_nocase(unit, SLICE("bytes")) || slice_find(rest, '-') < 0)
		return 0;
	from = slice_cut(&rest, '-');
	return from.len ? parse_from(out, from, rest, size)
			: parse_suffix(out, rest, size);
}
