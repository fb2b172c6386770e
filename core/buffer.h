/* SPDX-License-Identifier: MIT */
/* core/buffer.h - growing bytes under a ceiling. The first failure (past the
 * ceiling: -EMSGSIZE) is remembered and later writes do nothing, so a writer of
 * text checks buffer_error() once, at its end. Always NUL-terminated. */
#pragma once
#include <stddef.h>
#include "core/slice.h"

struct buffer {
	char *ptr; /* owned; NULL until the first write */
	size_t len;
	size_t size; /* allocated */
	size_t max; /* ceiling for len */
	int error;
};

void buffer_init(struct buffer *buf, size_t max);
void buffer_reset(struct buffer *buf); /* frees; max stays, error clears */
void buffer_clear(struct buffer *buf); /* len 0, keeps the memory */
void buffer_add(struct buffer *buf, struct slice bytes);
void buffer_add_str(struct buffer *buf, const char *str);
void buffer_add_char(struct buffer *buf, char c);
void buffer_printf(struct buffer *buf, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Drops the first n bytes. */
void buffer_consume(struct buffer *buf, size_t n);
struct slice buffer_slice(const struct buffer *buf);
/* "" when empty. Valid until the next write. */
const char *buffer_str(const struct buffer *buf);
/* Hands the bytes over, NUL-terminated; the caller frees with mem_free(). */
char *buffer_take(struct buffer *buf);
int buffer_error(const struct buffer *buf);
