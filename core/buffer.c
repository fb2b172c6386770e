/* SPDX-License-Identifier: MIT */
#include "core/buffer.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include "core/mem.h"

void buffer_init(struct buffer *buf, size_t max)
{
	*buf = (struct buffer){ .max = max };
}

void buffer_reset(struct buffer *buf)
{
	mem_free(buf->ptr);
	buffer_init(buf, buf->max);
}

void buffer_clear(struct buffer *buf)
{
	buf->len = 0;
	buf->error = 0;
	if (buf->ptr)
		buf->ptr[0] = '\0';
}

/* True if n more bytes and a NUL fit now. */
static bool reserve(struct buffer *buf, size_t n)
{
	size_t need = buf->len + n + 1;

	if (buf->error)
		return false;
	if (n > buf->max - buf->len) {
		buf->error = -EMSGSIZE;
		return false;
	}
	if (need > buf->size) {
		size_t size = buf->size ? buf->size * 2 : 64;

		if (size < need)
			size = need;
		buf->ptr = mem_resize(buf->ptr, size);
		buf->size = size;
	}
	return true;
}

void buffer_add(struct buffer *buf, struct slice bytes)
{
	if (!reserve(buf, bytes.len))
		return;
	if (bytes.len)
		memcpy(buf->ptr + buf->len, bytes.ptr, bytes.len);
	buf->len += bytes.len;
	buf->ptr[buf->len] = '\0';
}

void buffer_add_str(struct buffer *buf, const char *str)
{
	buffer_add(buf, slice_of(str));
}

void buffer_add_char(struct buffer *buf, char c)
{
	buffer_add(buf, slice_make(&c, 1));
}

void buffer_printf(struct buffer *buf, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (n < 0 || !reserve(buf, (size_t)n))
		return;
	va_start(args, fmt);
	vsnprintf(buf->ptr + buf->len, (size_t)n + 1, fmt, args);
	va_end(args);
	buf->len += (size_t)n;
}

void buffer_consume(struct buffer *buf, size_t n)
{
	if (n >= buf->len) {
		buf->len = 0;
	} else {
		memmove(buf->ptr, buf->ptr + n, buf->len - n);
		buf->len -= n;
	}
	if (buf->ptr)
		buf->ptr[buf->len] = '\0';
}

struct slice buffer_slice(const struct buffer *buf)
{
	return slice_make(buf->ptr, buf->len);
}

const char *buffer_str(const struct buffer *buf)
{
	return buf->ptr ? buf->ptr : "";
}

char *buffer_take(struct buffer *buf)
{
	char *text = buf->ptr ? buf->ptr : mem_new(1);

	buf->ptr = NULL;
	buffer_reset(buf);
	return text;
}

int buffer_error(const struct buffer *buf)
{
	return buf->error;
}
