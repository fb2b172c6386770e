/* SPDX-License-Identifier: MIT */
#include "fixture_text.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

struct slice fixture_text_open(struct fixture_text *text, struct slice from)
{
	text->len = from.len;
	text->ptr = malloc(from.len ? from.len : 1);
	assert_non_null(text->ptr);
	if (from.len)
		memcpy(text->ptr, from.ptr, from.len);
	return slice_make(text->ptr, text->len);
}

void fixture_text_close(struct fixture_text *text)
{
	free(text->ptr);
	text->ptr = NULL;
}

void fixture_assert_slice(struct slice actual, const char *expected,
			  const char *file, int line)
{
	if (slice_eq(actual, slice_of(expected)))
		return;
	print_error("\"%.*s\" is not \"%s\"\n", (int)actual.len,
		    actual.ptr ? actual.ptr : "", expected);
	_fail(file, line);
}
