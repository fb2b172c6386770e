/* SPDX-License-Identifier: MIT */
/* media/prefetch.h - asking the caches for memory before its turn comes. With
 * hundreds of calls each finds its memory cold, and would wait for it longer
 * than its work takes. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { PREFETCH_LINE_BYTES = 64 };

/* Only a hint: never wrong, whatever is there. */
static inline void prefetch_bytes(const void *ptr, size_t n)
{
	const char *end = (const char *)ptr + n;
	const char *at =
		(const char *)ptr - (uintptr_t)ptr % PREFETCH_LINE_BYTES;

	for (; at < end; at += PREFETCH_LINE_BYTES)
		__builtin_prefetch(at);
}
