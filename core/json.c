/* SPDX-License-Identifier: MIT */
/* Reading, and small helpers around jansson's tree. */
#include "core/json.h"
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "core/mem.h"

static void set_problem(struct json_problem *problem, int line, int column,
			const char *text)
{
	if (!problem)
		return;
	problem->line = line;
	problem->column = column;
	snprintf(problem->text, sizeof(problem->text), "%s", text);
}

/* What a look at the raw text finds before jansson parses it: jansson nests
 * 2048 deep, and fails on whole numbers that JavaScript reads as a double. */
struct scan {
	struct slice text;
	size_t at;
	int depth;
	struct buffer widened; /* text with ".0" behind large numbers */
	size_t copied; /* of text into widened */
};

static void skip_string(struct scan *scan)
{
	for (scan->at++; scan->at < scan->text.len; scan->at++) {
		if (scan->text.ptr[scan->at] == '"')
			return;
		if (scan->text.ptr[scan->at] == '\\')
			scan->at++;
	}
}

static bool is_in_number(char c)
{
	return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' ||
	       c == 'e' || c == 'E';
}

static bool is_large(struct slice digits, bool is_negative)
{
	uint64_t value;

	return slice_to_u64(&value, digits,
			    (uint64_t)INT64_MAX + is_negative) == -ERANGE;
}

static void skip_number(struct scan *scan)
{
	const char *begin = scan->text.ptr + scan->at;
	struct slice number = { begin, 0 }, digits;
	bool is_negative = *begin == '-';

	while (scan->at + number.len < scan->text.len &&
	       is_in_number(begin[number.len]))
		number.len++;
	digits = slice_make(begin + is_negative, number.len - is_negative);
	scan->at += number.len - 1;
	if (!is_large(digits, is_negative))
		return;
	buffer_add(&scan->widened, slice_make(scan->text.ptr + scan->copied,
					      scan->at + 1 - scan->copied));
	buffer_add_str(&scan->widened, ".0");
	scan->copied = scan->at + 1;
}

static bool is_too_deep(struct scan *scan)
{
	for (; scan->at < scan->text.len; scan->at++) {
		char c = scan->text.ptr[scan->at];

		if (c == '"')
			skip_string(scan);
		else if (c == '[' || c == '{')
			scan->depth++;
		else if (c == ']' || c == '}')
			scan->depth--;
		else if (c == '-' || (c >= '0' && c <= '9'))
			skip_number(scan);
		if (scan->depth > JSON_DEPTH_MAX)
			return true;
	}
	return false;
}

static void locate(const struct scan *scan, int *line, int *column)
{
	size_t i;

	*line = *column = 1;
	for (i = 0; i < scan->at; i++) {
		(*column)++;
		if (scan->text.ptr[i] == '\n') {
			(*line)++;
			*column = 1;
		}
	}
}

json_t *json_parse(struct slice text, struct json_problem *problem)
{
	const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;
	struct scan scan = { .text = text };
	json_error_t error;
	json_t *value = NULL;
	int line, column;

	buffer_init(&scan.widened, SIZE_MAX / 4);
	if (is_too_deep(&scan)) {
		locate(&scan, &line, &column);
		set_problem(problem, line, column, "nested too deeply");
		goto out;
	}
	if (scan.copied) {
		buffer_add(&scan.widened, slice_make(text.ptr + scan.copied,
						     text.len - scan.copied));
		text = buffer_slice(&scan.widened);
	}
	value = json_loadb(text.len ? text.ptr : "", text.len, flags, &error);
	if (!value)
		set_problem(problem, error.line, error.column, error.text);
out:
	buffer_reset(&scan.widened);
	return value;
}

char *json_text(const json_t *value)
{
	struct buffer out;

	if (!value)
		return NULL;
	buffer_init(&out, SIZE_MAX / 4);
	json_write(&out, value);
	assert(!buffer_error(&out));
	return buffer_take(&out);
}

const char *json_str(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

int json_to_bool(bool *out, const json_t *value)
{
	const char *text = json_string_value(value);

	if (json_is_boolean(value))
		*out = json_is_true(value);
	else if (text && strcmp(text, "true") == 0)
		*out = true;
	else if (text && strcmp(text, "false") == 0)
		*out = false;
	else
		return -EINVAL;
	return 0;
}

/* Decimal text as JSON writes numbers; strtod() alone would also take
 * blanks, hexadecimal, "inf" and "nan". */
static bool is_decimal(struct slice text)
{
	size_t i;

	if (!text.len || text.len > 64)
		return false;
	for (i = 0; i < text.len; i++)
		if (!is_in_number(text.ptr[i]))
			return false;
	return text.ptr[0] != '+';
}

int json_to_real(double *out, const json_t *value)
{
	const char *text = json_string_value(value);
	double real;
	char *end;

	if (json_is_number(value)) {
		*out = json_number_value(value);
		return 0;
	}
	if (!text || !is_decimal(slice_make(text, json_string_length(value))))
		return -EINVAL;
	real = strtod(text, &end);
	if (*end || !isfinite(real))
		return -EINVAL;
	*out = real;
	return 0;
}

void json_put(json_t *object, const char *key, json_t *value)
{
	int err = json_object_set_new(object, key, value);

	assert(!err); /* our keys are UTF-8, our objects no cycles */
}

/* What came from a peer need not be UTF-8; jansson would refuse it. */
static json_t *lenient_string(const char *text)
{
	struct slice rest = slice_of(text);
	struct buffer clean;
	json_t *value;

	buffer_init(&clean, SIZE_MAX / 4);
	while (rest.len) {
		size_t n = rest.len < 4 ? rest.len : 4;

		while (n && !slice_is_utf8(slice_make(rest.ptr, n)))
			n--;
		buffer_add(&clean,
			   n ? slice_make(rest.ptr, n) : SLICE("\xef\xbf\xbd"));
		n = n ? n : 1;
		rest = slice_make(rest.ptr + n, rest.len - n);
	}
	value = json_string(buffer_str(&clean));
	buffer_reset(&clean);
	return value;
}

void json_put_str(json_t *object, const char *key, const char *text)
{
	json_t *value = text ? json_string(text) : json_null();

	json_put(object, key, value ? value : lenient_string(text));
}

void json_put_int(json_t *object, const char *key, int64_t value)
{
	json_put(object, key, json_integer(value));
}

void json_put_bool(json_t *object, const char *key, bool value)
{
	json_put(object, key, json_boolean(value));
}
