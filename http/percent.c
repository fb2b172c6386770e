/* SPDX-License-Identifier: MIT */
#include "http/percent.h"

#include "core/hex.h"

/* The byte that text[at] == '%' begins; -1 when it is none. */
static int escaped(struct slice text, size_t at)
{
	int high, low;

	if (at + 2 >= text.len)
		return -1;
	high = hex_value(text.ptr[at + 1]);
	low = hex_value(text.ptr[at + 2]);
	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

const char *percent_decode(struct arena *arena, struct slice text,
			   bool is_query)
{
	char *out = arena_new(arena, text.len + 1);
	size_t n = 0;

	if (slice_find(text, '\0') >= 0)
		return NULL;
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];

		if (c == '%') {
			int byte = escaped(text, i);

			if (byte <= 0)
				return NULL;
			c = (char)byte;
			i += 2;
		} else if (c == '+' && is_query) {
			c = ' ';
		}
		out[n++] = c;
	}
	return slice_is_utf8(slice_make(out, n)) ? out : NULL;
}
