/* SPDX-License-Identifier: MIT */
/* http/range.h - which part of a file a Range header asks for (RFC 9110,
 * 14). */
#pragma once
#include <stdint.h>
#include "core/slice.h"

struct range {
	uint64_t first;
	uint64_t n; /* bytes from there */
};

/* 1: a part; 0: the whole, also for a header that is malformed or names
 * several parts; -1: cannot be satisfied. */
int range_parse(struct range *out, struct slice header, uint64_t size);
