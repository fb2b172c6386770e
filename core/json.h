/* SPDX-License-Identifier: MIT */
/* core/json.h - JSON over jansson's tree: strict limits on the way in, and on
 * the way out exactly what JavaScript's JSON.stringify writes after a parse
 * (compact, shortest numbers, whole-number keys first in rising order, no
 * trailing newline), because a published signature check hashes that. */
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "core/buffer.h"
#include "core/slice.h"

struct json_problem {
	int line;
	int column;
	char text[160]; /* for people */
};

enum { JSON_DEPTH_MAX = 64 };

/* NULL and *problem when text is not one JSON value, nests over 64, repeats a
 * key, or holds NUL. The caller json_decref()s. problem may be NULL. */
json_t *json_parse(struct slice text, struct json_problem *problem);
/* Appends; the buffer's ceiling bounds it. */
void json_write(struct buffer *out, const json_t *value);
/* Heap text for mem_free(); NULL for a NULL value. */
char *json_text(const json_t *value);
/* String member or NULL when absent, null or of another type. */
const char *json_str(const json_t *object, const char *key);
/* "$.a.b[0]['c d']" (also without "$."); borrowed, or NULL when the path
 * matches nothing. -EINVAL in *err for a path that is not one. */
json_t *json_path(const json_t *root, struct slice path, int *err);
/* What a client may send as number or boolean: the value itself or the only
 * strings tolerated, "true", "false" and decimal text. 0 or -EINVAL. */
int json_to_bool(bool *out, const json_t *value);
int json_to_real(double *out, const json_t *value);
/* Sets key to text, or to null when text is NULL. */
void json_put_str(json_t *object, const char *key, const char *text);
void json_put_int(json_t *object, const char *key, int64_t value);
void json_put_bool(json_t *object, const char *key, bool value);
/* Takes over value's reference. */
void json_put(json_t *object, const char *key, json_t *value);
