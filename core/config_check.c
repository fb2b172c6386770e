/* SPDX-License-Identifier: MIT */
#include "core/config_priv.h"
#include <errno.h>

enum { NAME_MAX_BYTES = 128 };

int config_to_number(int64_t *out, struct slice value)
{
	bool is_negative = value.len && value.ptr[0] == '-';
	uint64_t number;

	if (is_negative)
		value = slice_make(value.ptr + 1, value.len - 1);
	if (slice_to_u64(&number, value, INT64_MAX))
		return -EINVAL;
	*out = is_negative ? -(int64_t)number : (int64_t)number;
	return 0;
}

int config_to_bool(bool *out, struct slice value)
{
	static const struct {
		struct slice word;
		bool is_on;
	} words[] = {
		{ SLICE("on"), true },	 { SLICE("off"), false },
		{ SLICE("true"), true }, { SLICE("false"), false },
		{ SLICE("yes"), true },	 { SLICE("no"), false },
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!slice_eq_nocase(words[i].word, value))
			continue;
		*out = words[i].is_on;
		return 0;
	}
	return -EINVAL;
}

static bool is_choice(const char *choices, struct slice value)
{
	struct slice rest = slice_of(choices);

	while (rest.len)
		if (slice_eq(slice_cut(&rest, '|'), value))
			return true;
	return false;
}

static void name_value(const struct config_key *key, struct slice value,
		       struct buffer *what)
{
	buffer_printf(what, "%s = %.*s: ", key->name,
		      (int)(value.len > 200 ? 200 : value.len),
		      value.len ? value.ptr : "");
}

int config_check(const struct config_key *key, struct slice value,
		 struct buffer *what)
{
	int64_t number;
	bool is_on;

	switch (key->type) {
	case CONFIG_TEXT:
		return 0;
	case CONFIG_NUMBER:
		if (config_to_number(&number, value) == 0 &&
		    number >= key->min && number <= key->max)
			return 0;
		name_value(key, value, what);
		buffer_printf(what, "wanted is a number from %lld to %lld",
			      (long long)key->min, (long long)key->max);
		return -EINVAL;
	case CONFIG_BOOL:
		if (config_to_bool(&is_on, value) == 0)
			return 0;
		name_value(key, value, what);
		buffer_add_str(what, "wanted is on or off");
		return -EINVAL;
	case CONFIG_CHOICE:
		if (is_choice(key->choices, value))
			return 0;
		name_value(key, value, what);
		buffer_printf(what, "wanted is one of %s", key->choices);
		return -EINVAL;
	}
	return -EINVAL;
}

/* Levenshtein's distance, by one row of his table. */
static size_t distance(struct slice a, struct slice b)
{
	size_t row[NAME_MAX_BYTES + 1], i, k;

	for (k = 0; k <= b.len; k++)
		row[k] = k;
	for (i = 0; i < a.len; i++) {
		size_t corner = row[0];

		row[0] = i + 1;
		for (k = 0; k < b.len; k++) {
			size_t best = corner + (a.ptr[i] != b.ptr[k]);

			corner = row[k + 1];
			best = best < row[k] + 1 ? best : row[k] + 1;
			best = best < corner + 1 ? best : corner + 1;
			row[k + 1] = best;
		}
	}
	return row[b.len];
}

const char *config_nearest(const struct config_key *keys, size_t n,
			   struct slice name)
{
	size_t i, best = SIZE_MAX;
	const char *found = "";

	if (name.len > NAME_MAX_BYTES)
		name.len = NAME_MAX_BYTES;
	for (i = 0; i < n; i++) {
		size_t far = distance(slice_of(keys[i].name), name);

		if (far >= best)
			continue;
		best = far;
		found = keys[i].name;
	}
	return found;
}
