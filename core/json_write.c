/* SPDX-License-Identifier: MIT */
/* Writing as JSON.stringify does (ECMA-262, 25.5.2 and 6.1.6.1.20). */
#include "core/json.h"
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "core/mem.h"

enum {
	DIGITS_MAX = 17, /* enough for every double */
	DIGITS_SURE = 15, /* every decimal of so many survives a double */
	DEPTH_MAX = 1000, /* of a tree we built ourselves */
};

/* 0.DIGITS times ten to the power of point */
struct decimal {
	char digits[DIGITS_MAX + 1];
	int n;
	int point;
};

static void write_value(struct buffer *out, const json_t *value, int depth);

static void write_string(struct buffer *out, struct slice text)
{
	static const char names[0x20] = {
		['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n',
		['\r'] = 'r', ['\t'] = 't',
	};
	size_t i, begin = 0;

	buffer_add_char(out, '"');
	for (i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		buffer_add(out, slice_make(text.ptr + begin, i - begin));
		begin = i + 1;
		if (c >= 0x20)
			buffer_printf(out, "\\%c", c);
		else if (names[c])
			buffer_printf(out, "\\%c", names[c]);
		else
			buffer_printf(out, "\\u%04x", c);
	}
	buffer_add(out, slice_make(text.ptr + begin, text.len - begin));
	buffer_add_char(out, '"');
}

/* n digits of value, rounded; value > 0. */
static void round_to(struct decimal *out, double value, int n)
{
	char text[40];

	/* D.DDDDe+XX, where the point may be another sign by locale */
	snprintf(text, sizeof(text), "%.*e", n - 1, value);
	out->digits[0] = text[0];
	if (n > 1)
		memcpy(out->digits + 1, text + 2, (size_t)n - 1);
	out->digits[n] = '\0';
	out->n = n;
	out->point = atoi(strchr(text, 'e') + 1) + 1;
}

static bool is_exact(const struct decimal *decimal, double value)
{
	char text[40];

	snprintf(text, sizeof(text), "%se%d", decimal->digits,
		 decimal->point - decimal->n);
	return strtod(text, NULL) == value;
}

/* The next decimal of as many digits. */
static void step_up(struct decimal *decimal)
{
	int i = decimal->n - 1;

	while (i >= 0 && decimal->digits[i] == '9')
		decimal->digits[i--] = '0';
	if (i >= 0) {
		decimal->digits[i]++;
		return;
	}
	decimal->digits[0] = '1';
	decimal->point++;
}

/* Above a power of two the doubles lie twice as far apart as below it: there
 * a decimal that is not the nearest may still stand for the value. */
static bool fits_16(struct decimal *out, double value)
{
	round_to(out, value, 16);
	if (is_exact(out, value))
		return true;
	step_up(out);
	return is_exact(out, value);
}

static void shortest(struct decimal *out, double value)
{
	int n = value < DBL_MIN ? 1 : DIGITS_SURE; /* denormals know less */

	for (; n <= DIGITS_SURE; n++) {
		round_to(out, value, n);
		if (is_exact(out, value))
			break;
	}
	if (n > DIGITS_SURE && !fits_16(out, value))
		round_to(out, value, DIGITS_MAX);
	while (out->n > 1 && out->digits[out->n - 1] == '0')
		out->digits[--out->n] = '\0';
}

static void write_real(struct buffer *out, double value)
{
	struct decimal d;

	if (!isfinite(value)) {
		buffer_add_str(out, "null");
		return;
	}
	if (value == 0) { /* -0 too */
		buffer_add_char(out, '0');
		return;
	}
	if (value < 0)
		buffer_add_char(out, '-');
	shortest(&d, fabs(value));
	if (d.n <= d.point && d.point <= 21)
		buffer_printf(out, "%s%.*s", d.digits, d.point - d.n,
			      "000000000000000000000");
	else if (d.point > 0 && d.point <= 21)
		buffer_printf(out, "%.*s.%s", d.point, d.digits,
			      d.digits + d.point);
	else if (d.point > -6 && d.point <= 0)
		buffer_printf(out, "0.%.*s%s", -d.point, "000000", d.digits);
	else
		buffer_printf(out, "%c%s%se%+d", d.digits[0],
			      d.n > 1 ? "." : "", d.digits + 1, d.point - 1);
}

static void write_integer(struct buffer *out, int64_t value)
{
	const int64_t exact = INT64_C(1) << 53;

	if (value > exact || value < -exact)
		write_real(out, (double)value);
	else
		buffer_printf(out, "%lld", (long long)value);
}

static void write_array(struct buffer *out, const json_t *array, int depth)
{
	size_t i;

	buffer_add_char(out, '[');
	for (i = 0; i < json_array_size(array); i++) {
		if (i)
			buffer_add_char(out, ',');
		write_value(out, json_array_get(array, i), depth);
	}
	buffer_add_char(out, ']');
}

struct member {
	uint64_t index;
	const char *key;
	const json_t *value;
};

/* "0" to "4294967294" without leading zeros: an array index. */
static bool is_index(uint64_t *out, const char *key)
{
	if (*key < '0' || *key > '9' || (*key == '0' && key[1]))
		return false;
	return slice_to_u64(out, slice_of(key), UINT32_MAX - 1) == 0;
}

static int compare(const void *a, const void *b)
{
	const struct member *left = a, *right = b;

	return (left->index > right->index) - (left->index < right->index);
}

static void write_member(struct buffer *out, const char *key,
			 const json_t *value, int depth)
{
	if (out->ptr[out->len - 1] != '{')
		buffer_add_char(out, ',');
	write_string(out, slice_of(key));
	buffer_add_char(out, ':');
	write_value(out, value, depth);
}

static size_t count_indices(const json_t *object)
{
	json_t *mine = (json_t *)object; /* jansson iterates non-const */
	uint64_t index;
	size_t n = 0;
	void *iter;

	for (iter = json_object_iter(mine); iter;
	     iter = json_object_iter_next(mine, iter))
		n += is_index(&index, json_object_iter_key(iter));
	return n;
}

static void write_indices(struct buffer *out, const json_t *object, int depth)
{
	size_t n = count_indices(object), i = 0;
	json_t *mine = (json_t *)object;
	struct member *members;
	uint64_t index;
	void *iter;

	if (!n)
		return;
	members = mem_new_array(n, sizeof(members[0]));
	for (iter = json_object_iter(mine); iter;
	     iter = json_object_iter_next(mine, iter))
		if (is_index(&index, json_object_iter_key(iter)))
			members[i++] =
				(struct member){ index,
						 json_object_iter_key(iter),
						 json_object_iter_value(iter) };
	qsort(members, n, sizeof(members[0]), compare);
	for (i = 0; i < n && !buffer_error(out); i++)
		write_member(out, members[i].key, members[i].value, depth);
	mem_free(members);
}

static void write_object(struct buffer *out, const json_t *object, int depth)
{
	json_t *mine = (json_t *)object;
	uint64_t index;
	void *iter;

	buffer_add_char(out, '{');
	write_indices(out, object, depth);
	for (iter = json_object_iter(mine); iter && !buffer_error(out);
	     iter = json_object_iter_next(mine, iter))
		if (!is_index(&index, json_object_iter_key(iter)))
			write_member(out, json_object_iter_key(iter),
				     json_object_iter_value(iter), depth);
	buffer_add_char(out, '}');
}

static void write_value(struct buffer *out, const json_t *value, int depth)
{
	if (depth > DEPTH_MAX)
		out->error = out->error ? out->error : -ELOOP;
	if (buffer_error(out))
		return;
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		write_object(out, value, depth + 1);
		break;
	case JSON_ARRAY:
		write_array(out, value, depth + 1);
		break;
	case JSON_STRING:
		write_string(out, slice_make(json_string_value(value),
					     json_string_length(value)));
		break;
	case JSON_INTEGER:
		write_integer(out, json_integer_value(value));
		break;
	case JSON_REAL:
		write_real(out, json_real_value(value));
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		buffer_add_str(out, json_is_true(value) ? "true" : "false");
		break;
	case JSON_NULL:
		buffer_add_str(out, "null");
		break;
	}
}

void json_write(struct buffer *out, const json_t *value)
{
	write_value(out, value, 0);
}
