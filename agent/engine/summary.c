/* SPDX-License-Identifier: MIT */
#include "agent/engine/summary.h"
#include "agent/engine/extract.h"
#include "agent/engine/words.h"
#include "core/buffer.h"

enum { VARIABLES_MAX = 12, QUOTE_BYTES = 160 };

bool summary_is_builtin(const char *variable)
{
	static const char builtin[] =
		"lastUserMessage prevNodePrompt now now_utc today from to "
		"short_from short_to call_id phone_number timezone language "
		"timestamp metadata request_data input memory sip";

	return word_in(variable, builtin) || strchr(variable, '.') ||
	       strchr(variable, ' ');
}

static const char *content_of(const json_t *entry, const char *role)
{
	const char *is = json_string_value(json_object_get(entry, "role"));
	const char *text = json_string_value(json_object_get(entry, "content"));

	if (!is || !text || strcmp(is, role) != 0 || *text == '<')
		return NULL; /* "<Call Connected>" is no turn of the caller */
	return *text ? text : NULL;
}

static size_t count_turns(const json_t *history, const char *role,
			  const char **first, const char **last)
{
	const json_t *entry;
	size_t i, n = 0;

	json_array_foreach(history, i, entry) {
		const char *text = content_of(entry, role);

		if (!text)
			continue;
		if (n++ == 0)
			*first = text;
		*last = text;
	}
	return n;
}

static void add_quote(struct buffer *out, const char *text)
{
	size_t n = strlen(text), keep = n;

	if (n > QUOTE_BYTES) {
		keep = QUOTE_BYTES;
		while (keep > 0 && ((unsigned char)text[keep] >> 6) == 2)
			keep--;
	}
	buffer_add_char(out, '"');
	buffer_add(out, slice_make(text, keep));
	buffer_add_str(out, keep < n ? "...\"" : "\"");
}

static void add_outcome(struct buffer *out, const char *outcome, size_t turns)
{
	if (!outcome || !*outcome || strcmp(outcome, "completed") == 0)
		buffer_add_str(out, "The call was completed");
	else
		buffer_printf(out, "The call ended as %s", outcome);
	if (turns == 0)
		buffer_add_str(out, "; the caller said nothing.");
	else
		buffer_printf(out, " after %zu turn%s of the caller.", turns,
			      turns == 1 ? "" : "s");
}

static void add_value(struct buffer *out, const json_t *value)
{
	if (json_is_string(value))
		buffer_printf(out, "%s", json_string_value(value));
	else if (json_is_integer(value))
		buffer_printf(out, "%lld",
			      (long long)json_integer_value(value));
	else if (json_is_real(value))
		buffer_printf(out, "%g", json_real_value(value));
	else
		buffer_add_str(out, json_is_true(value) ? "yes" : "no");
}

static void add_variables(struct buffer *out, const json_t *variables)
{
	const char *key;
	const json_t *value;
	size_t n = 0;

	json_object_foreach((json_t *)variables, key, value) {
		char name[128];

		if (summary_is_builtin(key) ||
		    !extract_is_set(variables, key) || json_is_object(value) ||
		    json_is_array(value) || n >= VARIABLES_MAX)
			continue;
		extract_name_text(name, sizeof(name), key);
		buffer_printf(out, "%s%s: ", n++ ? ", " : " Collected: ", name);
		add_value(out, value);
	}
	if (n)
		buffer_add_char(out, '.');
}

void summary_write(struct buffer *out, const struct model_question *question)
{
	const char *first = NULL, *last = NULL;
	size_t turns = count_turns(question->history, "user", &first, &last);

	add_outcome(out, question->summarise.outcome, turns);
	if (turns > 0) {
		buffer_add_str(out, " They began with ");
		add_quote(out, first);
		if (turns > 1) {
			buffer_add_str(out, " and last said ");
			add_quote(out, last);
		}
		buffer_add_char(out, '.');
	}
	add_variables(out, question->variables);
}
