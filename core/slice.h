/* SPDX-License-Identifier: MIT */
/* core/slice.h - a view of bytes that somebody else owns. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct slice {
	const char *ptr; /* borrowed; not NUL-terminated */
	size_t len;
};

#define SLICE(literal) ((struct slice){ (literal), sizeof(literal) - 1 })

static inline struct slice slice_of(const char *str) /* NULL: empty */
{
	return (struct slice){ str, str ? strlen(str) : 0 };
}

static inline struct slice slice_make(const void *ptr, size_t len)
{
	return (struct slice){ ptr, len };
}

bool slice_eq(struct slice a, struct slice b);
bool slice_eq_nocase(struct slice a, struct slice b); /* ASCII */
bool slice_has_prefix(struct slice s, struct slice prefix);
/* Without spaces and tabs at both ends. */
struct slice slice_trim(struct slice s);
/* Index of byte c, or -1. */
ptrdiff_t slice_find(struct slice s, char c);
/* Cuts *rest at the first sep: the part before it is returned, *rest keeps
 * what follows (empty, ptr NULL, when there was no sep). */
struct slice slice_cut(struct slice *rest, char sep);
/* Whole of s as decimal digits, at most max. 0 or -EINVAL/-ERANGE. */
int slice_to_u64(uint64_t *out, struct slice s, uint64_t max);
/* Heap copy with a NUL behind it. */
char *slice_dup(struct slice s);
/* True if all of s is well-formed UTF-8 without overlong forms (RFC 3629). */
bool slice_is_utf8(struct slice s);
