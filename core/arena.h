/* SPDX-License-Identifier: MIT */
/* core/arena.h - many small allocations, one release: an arena per HTTP
 * request and per parsed SIP message, dropped whole. */
#pragma once
#include <stdarg.h>
#include <stddef.h>
#include "core/slice.h"

struct arena;

struct arena *arena_open(void); /* never NULL */
void arena_close(struct arena **arena); /* frees all that came from it */

/* Zeroed and aligned for any type; lives until arena_close(). */
void *arena_new(struct arena *arena, size_t size);
/* NUL-terminated copies. */
char *arena_dup(struct arena *arena, struct slice text);
char *arena_dup_str(struct arena *arena, const char *str); /* NULL: NULL */
char *arena_printf(struct arena *arena, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
