/* SPDX-License-Identifier: MIT */
/* http/percent.h - percent encoding in paths and queries (RFC 3986, 2.1). */
#pragma once
#include <stdbool.h>
#include "core/arena.h"
#include "core/slice.h"

/* Decoded copy, '+' as space in queries; NULL when malformed, with a NUL or
 * not UTF-8. */
const char *percent_decode(struct arena *arena, struct slice text,
			   bool is_query);
