/* SPDX-License-Identifier: MIT */
#include "core/arena.h"
#include <assert.h>
#include <stdalign.h>
#include <stdio.h>
#include "core/mem.h"

enum { CHUNK_BYTES = 4096 };

struct chunk {
	struct chunk *next; /* owned */
	size_t used;
	size_t size;
	alignas(max_align_t) unsigned char bytes[];
};

struct arena {
	struct chunk *chunks; /* owned; the first is the one being filled */
};

struct arena *arena_open(void)
{
	return mem_new(sizeof(struct arena));
}

void arena_close(struct arena **arena)
{
	struct chunk *chunk, *next;

	if (!*arena)
		return;
	for (chunk = (*arena)->chunks; chunk; chunk = next) {
		next = chunk->next;
		mem_free(chunk);
	}
	mem_free(*arena);
	*arena = NULL;
}

/* A request larger than a chunk gets one of its own, behind the first, so
 * that the rest of the first is not lost. */
static struct chunk *add_chunk(struct arena *arena, size_t size)
{
	bool is_large = size > CHUNK_BYTES / 2;
	struct chunk *chunk;

	size = is_large ? size : CHUNK_BYTES;
	chunk = mem_new(sizeof(*chunk) + size);
	chunk->size = size;
	if (is_large && arena->chunks) {
		chunk->next = arena->chunks->next;
		arena->chunks->next = chunk;
	} else {
		chunk->next = arena->chunks;
		arena->chunks = chunk;
	}
	return chunk;
}

void *arena_new(struct arena *arena, size_t size)
{
	const size_t unit = alignof(max_align_t);
	struct chunk *chunk = arena->chunks;
	void *ptr;

	assert(size < SIZE_MAX / 2);
	size = (size + unit - 1) / unit * unit;
	if (!chunk || chunk->size - chunk->used < size)
		chunk = add_chunk(arena, size);
	ptr = chunk->bytes + chunk->used;
	chunk->used += size;
	return ptr;
}

char *arena_dup(struct arena *arena, struct slice text)
{
	char *copy = arena_new(arena, text.len + 1);

	if (text.len)
		memcpy(copy, text.ptr, text.len);
	return copy;
}

char *arena_dup_str(struct arena *arena, const char *str)
{
	return str ? arena_dup(arena, slice_of(str)) : NULL;
}

char *arena_printf(struct arena *arena, const char *fmt, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, fmt);
	n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	assert(n >= 0);
	text = arena_new(arena, (size_t)n + 1);
	va_start(args, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, args);
	va_end(args);
	return text;
}
