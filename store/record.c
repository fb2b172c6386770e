/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "core/mem.h"
#include "core/secret.h"
#include "store/db_priv.h"

const struct field *record_find(const struct record *record, const char *name,
				size_t *hint)
{
	size_t i, at;

	for (i = 0; i < record->n; i++) {
		at = (*hint + i) % record->n;
		if (strcmp(record->fields[at].name, name) == 0) {
			*hint = at + 1;
			return &record->fields[at];
		}
	}
	return NULL;
}

static void copy_field(const struct field *field, struct arena *arena,
		       char *row)
{
	void *at = row + field->offset;
	struct slice *bytes = at;

	switch (field->type) {
	case FIELD_TEXT:
		*(const char **)at =
			arena_dup_str(arena, *(const char *const *)at);
		break;
	case FIELD_BYTES:
		bytes->ptr = arena_dup(arena, *bytes);
		break;
	case FIELD_INT64:
	case FIELD_INT:
	case FIELD_PORT:
	case FIELD_BOOL:
	case FIELD_REAL:
	case FIELD_HASH:
		break;
	}
}

void *record_copy(const struct record *record, struct arena *arena,
		  const void *row)
{
	char *copy = arena_new(arena, record->size);
	size_t i;

	memcpy(copy, row, record->size);
	for (i = 0; i < record->n; i++)
		copy_field(&record->fields[i], arena, copy);
	return copy;
}

/* Empty bytes are an empty blob, not NULL: ptr may be NULL with length 0. */
static void bind_bytes(sqlite3_stmt *stmt, int i, const void *ptr, size_t len)
{
	sqlite3_bind_blob64(stmt, i, len ? ptr : "", len, SQLITE_STATIC);
}

void record_bind(const struct field *field, sqlite3_stmt *stmt, int i,
		 const void *row)
{
	const void *at = (const char *)row + field->offset;
	const struct slice *bytes = at;

	switch (field->type) {
	case FIELD_TEXT:
		sqlite3_bind_text(stmt, i, *(const char *const *)at, -1,
				  SQLITE_STATIC);
		break;
	case FIELD_INT64:
		sqlite3_bind_int64(stmt, i, *(const int64_t *)at);
		break;
	case FIELD_INT:
		sqlite3_bind_int(stmt, i, *(const int *)at);
		break;
	case FIELD_PORT:
		sqlite3_bind_int(stmt, i, *(const uint16_t *)at);
		break;
	case FIELD_BOOL:
		sqlite3_bind_int(stmt, i, *(const bool *)at);
		break;
	case FIELD_REAL:
		sqlite3_bind_double(stmt, i, *(const double *)at);
		break;
	case FIELD_BYTES:
		bind_bytes(stmt, i, bytes->ptr, bytes->len);
		break;
	case FIELD_HASH:
		bind_bytes(stmt, i, at, SECRET_HASH_BYTES);
		break;
	}
}

static struct slice column_bytes(sqlite3_stmt *stmt, int i)
{
	const void *ptr = sqlite3_column_blob(stmt, i);

	return slice_make(ptr, (size_t)sqlite3_column_bytes(stmt, i));
}

static const char *read_text(sqlite3_stmt *stmt, int i, struct arena *arena)
{
	const void *text = sqlite3_column_text(stmt, i);
	size_t len = (size_t)sqlite3_column_bytes(stmt, i);

	return text ? arena_dup(arena, slice_make(text, len)) : NULL;
}

static void read_hash(uint8_t *hash, struct slice bytes)
{
	if (bytes.len == SECRET_HASH_BYTES)
		memcpy(hash, bytes.ptr, SECRET_HASH_BYTES);
}

static void read_field(const struct field *field, sqlite3_stmt *stmt, int i,
		       struct arena *arena, char *row)
{
	void *at = row + field->offset;
	struct slice bytes;

	switch (field->type) {
	case FIELD_TEXT:
		*(const char **)at = read_text(stmt, i, arena);
		break;
	case FIELD_INT64:
		*(int64_t *)at = sqlite3_column_int64(stmt, i);
		break;
	case FIELD_INT:
		*(int *)at = sqlite3_column_int(stmt, i);
		break;
	case FIELD_PORT:
		*(uint16_t *)at = (uint16_t)sqlite3_column_int(stmt, i);
		break;
	case FIELD_BOOL:
		*(bool *)at = sqlite3_column_int(stmt, i) != 0;
		break;
	case FIELD_REAL:
		*(double *)at = sqlite3_column_double(stmt, i);
		break;
	case FIELD_BYTES:
		bytes = column_bytes(stmt, i);
		*(struct slice *)at =
			slice_make(arena_dup(arena, bytes), bytes.len);
		break;
	case FIELD_HASH:
		read_hash(at, column_bytes(stmt, i));
		break;
	}
}

void record_read(const struct record *record, sqlite3_stmt *stmt,
		 struct arena *arena, void *row)
{
	int n = sqlite3_column_count(stmt);
	const struct field *field;
	size_t hint = 0;
	int i;

	memset(row, 0, record->size);
	for (i = 0; i < n; i++) {
		field = record_find(record, sqlite3_column_name(stmt, i),
				    &hint);
		if (field)
			read_field(field, stmt, i, arena, row);
	}
}
