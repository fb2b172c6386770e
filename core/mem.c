/* SPDX-License-Identifier: MIT */
#include "core/mem.h"
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *check(void *ptr)
{
	static const char why[] = "parley: out of memory\n";

	if (ptr)
		return ptr;
	if (write(STDERR_FILENO, why, sizeof(why) - 1) < 0)
		_exit(1); /* stderr is gone: nobody would see the abort */
	abort();
}

void *mem_new(size_t size)
{
	return check(calloc(1, size ? size : 1));
}

void *mem_new_array(size_t n, size_t size)
{
	/* calloc() itself refuses a product that overflows. */
	return check(n && size ? calloc(n, size) : calloc(1, 1));
}

void *mem_resize(void *ptr, size_t size)
{
	return check(realloc(ptr, size ? size : 1));
}

char *mem_dup_str(const char *str)
{
	return str ? mem_dup_bytes(str, strlen(str)) : NULL;
}

char *mem_dup_bytes(const void *ptr, size_t len)
{
	char *copy = mem_new(len + 1);

	if (len)
		memcpy(copy, ptr, len);
	return copy;
}

void mem_free(void *ptr)
{
	free(ptr);
}

size_t mem_in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}
