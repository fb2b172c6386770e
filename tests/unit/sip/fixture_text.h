/* SPDX-License-Identifier: MIT */
/* Text as it comes from the network: in heap memory of exactly its size, so
 * that reading one byte too far is seen. */
#pragma once
#include "core/buffer.h"
#include "core/slice.h"

struct fixture_text {
	char *ptr; /* owned */
	size_t len;
};

struct slice fixture_text_open(struct fixture_text *text, struct slice from);
void fixture_text_close(struct fixture_text *text);
/* cmocka's comparison of a slice with a string. */
#define assert_slice(actual, expected)                                         \
	fixture_assert_slice(actual, expected, __FILE__, __LINE__)
void fixture_assert_slice(struct slice actual, const char *expected,
			  const char *file, int line);
