/* SPDX-License-Identifier: MIT */
/* core/mem.h - memory that is there or the process is not: out of memory
 * aborts here, so no caller has a path for it. Sizes that come from a peer are
 * bounded before they reach this file. */
#pragma once
#include <stddef.h>

/* Zeroed; never NULL. */
void *mem_new(size_t size);
/* Zeroed array; aborts when n * size overflows. */
void *mem_new_array(size_t n, size_t size);
/* Old content kept, new part undefined; ptr may be NULL. */
void *mem_resize(void *ptr, size_t size);
/* NUL-terminated copies; mem_dup_str(NULL) is NULL. */
char *mem_dup_str(const char *str);
char *mem_dup_bytes(const void *ptr, size_t len);
void mem_free(void *ptr); /* NULL is fine */
/* Bytes of the heap that are in use, libraries' too; 0 under a sanitizer. */
size_t mem_in_use(void);
