/* SPDX-License-Identifier: MIT */
#include "agent/pathway/template.h"
#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include "core/json.h"
#include "core/mem.h"

enum { TEMPLATE_MAX = 256 * 1024 };

static struct slice trim(struct slice s)
{
	while (s.len && isspace((unsigned char)s.ptr[0]))
		s = slice_make(s.ptr + 1, s.len - 1);
	while (s.len && isspace((unsigned char)s.ptr[s.len - 1]))
		s.len--;
	return s;
}

/* Between quotes: text, escaped. Elsewhere: JSON as it is, and quotes around
 * text that is no JSON by itself. */
static void write_json(struct buffer *out, const json_t *value,
		       struct slice text, bool in_string)
{
	json_t *bare = in_string ? NULL : json_parse(text, NULL);
	json_t *string = json_stringn(text.ptr ? text.ptr : "", text.len);
	struct buffer quoted;

	if (!in_string && (bare || !json_is_string(value))) {
		buffer_add(out, json_is_null(value) ? SLICE("null") : text);
	} else {
		buffer_init(&quoted, TEMPLATE_MAX);
		json_write(&quoted, string);
		if (in_string && quoted.len >= 2)
			buffer_add(out,
				   slice_make(quoted.ptr + 1, quoted.len - 2));
		else
			buffer_add(out, buffer_slice(&quoted));
		buffer_reset(&quoted);
	}
	json_decref(bare);
	json_decref(string);
}

static void write_percent(struct buffer *out, struct slice text)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if (c < 128 && (isalnum(c) || strchr("-._~", c)))
			buffer_add_char(out, (char)c);
		else
			buffer_printf(out, "%%%02X", c);
	}
}

static void write_value(struct buffer *out, const json_t *value,
			enum template_style style, bool in_string)
{
	bool is_text = json_is_string(value);
	char *other = is_text || json_is_null(value) ? NULL : json_text(value);
	struct slice text = is_text ? slice_make(json_string_value(value),
						 json_string_length(value))
				    : slice_of(other);

	switch (style) {
	case TEMPLATE_TEXT:
		buffer_add(out, text);
		break;
	case TEMPLATE_JSON:
		write_json(out, value, text, in_string);
		break;
	case TEMPLATE_URL:
		if (out->len)
			write_percent(out, text);
		else
			buffer_add(out, text);
		break;
	}
	mem_free(other);
}

/* Bytes up to and with "}}", or 0 when text opens no complete placeholder. */
static size_t placeholder(struct slice *name, const char *text)
{
	const char *end, *again;

	if (strncmp(text, "{{", 2) != 0 || text[2] == '{')
		return 0;
	end = strstr(text + 2, "}}");
	again = strstr(text + 2, "{{");
	if (!end || (again && again < end))
		return 0;
	*name = trim(slice_make(text + 2, (size_t)(end - text) - 2));
	return (size_t)(end - text) + 2;
}

static void fill_in(struct buffer *out, const char *text,
		    enum template_style style,
		    const struct variables *variables)
{
	struct slice name = { 0 };
	bool in_string = false; /* of JSON */

	while (*text) {
		size_t len = placeholder(&name, text);
		json_t *value = len ? variables_find(variables, name) : NULL;

		len = len ? len : text[0] == '\\' && text[1] ? 2 : 1;
		if (value)
			write_value(out, value, style, in_string);
		else
			buffer_add(out, slice_make(text, len));
		if (text[0] == '"')
			in_string = !in_string;
		text += len;
		json_decref(value);
	}
}

char *template_text(const char *text, enum template_style style,
		    const struct variables *variables)
{
	struct buffer out;

	buffer_init(&out, TEMPLATE_MAX);
	buffer_add_str(&out, "");
	fill_in(&out, text ? text : "", style, variables);
	if (!buffer_error(&out) && out.ptr)
		return buffer_take(&out);
	buffer_reset(&out);
	return mem_dup_str("");
}

static json_t *fill_string(const char *text, const struct variables *variables)
{
	struct slice name = { 0 };
	size_t len = placeholder(&name, text);
	json_t *value = NULL;
	char *filled;

	if (len && text[len] == '\0')
		value = variables_find(variables, name);
	if (value)
		return value;
	filled = template_text(text, TEMPLATE_TEXT, variables);
	value = json_string(filled);
	mem_free(filled);
	return value;
}

json_t *template_json(const json_t *value, const struct variables *variables)
{
	const char *key;
	json_t *item, *out;
	size_t i;

	if (json_is_string(value))
		return fill_string(json_string_value(value), variables);
	if (json_is_array(value)) {
		out = json_array();
		json_array_foreach((json_t *)value, i, item)
			json_array_append_new(out,
					      template_json(item, variables));
		return out;
	}
	if (!json_is_object(value))
		return json_deep_copy(value);
	out = json_object();
	json_object_foreach((json_t *)value, key, item)
		json_put(out, key, template_json(item, variables));
	return out;
}
