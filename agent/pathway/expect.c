/* SPDX-License-Identifier: MIT */
#include "agent/pathway/expect.h"
#include <ctype.h>
#include <string.h>
#include "agent/pathway/route_examples.h"
#include "core/json.h"
#include "core/mem.h"

enum { PHRASES_MAX = 200, PHRASE_BYTES_MAX = 60 };

/* True if word stands in text on its own, in any case. */
static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);
	const char *at = text;

	while ((at = strcasestr(at, word))) {
		bool is_start = at == text || !isalnum((unsigned char)at[-1]);

		if (is_start && !isalnum((unsigned char)at[len]))
			return true;
		at++;
	}
	return false;
}

/* "press 1", "1": a label that stands for one key. */
static bool is_key_label(const char *label)
{
	size_t len = strlen(label);
	char word[2] = { 0 };

	if (len == 1)
		return isdigit((unsigned char)label[0]);
	for (word[0] = '0'; word[0] <= '9'; word[0]++)
		if (has_word(label, "press") && has_word(label, word))
			return true;
	return false;
}

static bool is_of_type(const json_t *variable, const char *type)
{
	const char *given = json_str(variable, "type");

	return given && strcasecmp(given, type) == 0;
}

static bool has_type(const json_t *extract, const char *type)
{
	const json_t *variable;
	size_t i;

	json_array_foreach(extract, i, variable)
		if (is_of_type(variable, type))
			return true;
	return false;
}

/* "the 5 digit code", "a four-digit PIN": 5, 4; else 0. */
static unsigned digits_named(const char *text)
{
	static const char *const words[] = { "two",   "three", "four",
					     "five",  "six",   "seven",
					     "eight", "nine",  "ten" };
	const char *at = strcasestr(text, "digit");
	const char *start;
	unsigned i;

	if (!at || at == text)
		return 0;
	start = at - 1; /* the space or hyphen before it */
	while (start > text && isalnum((unsigned char)start[-1]))
		start--;
	if (isdigit((unsigned char)start[0])) {
		i = (unsigned)(start[0] - '0');
		if (isdigit((unsigned char)start[1]))
			i = i * 10 + (unsigned)(start[1] - '0');
		return i <= 32 ? i : 0;
	}
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strncasecmp(start, words[i], strlen(words[i])) == 0)
			return i + 2;
	return 0;
}

unsigned expect_digits(const struct graph_node *node)
{
	json_t *extract = route_extract(node->data);
	unsigned digits = 1;
	const json_t *variable;
	size_t i;

	json_array_foreach(extract, i, variable) {
		if (!is_of_type(variable, "integer") &&
		    !is_of_type(variable, "number") &&
		    !digits_named(json_str(variable, "description")))
			continue;
		digits = digits_named(json_str(variable, "description"));
		break;
	}
	json_decref(extract);
	return digits;
}

static enum speech_expect kind_of(const struct graph_node *node,
				  const json_t *extract)
{
	bool has_yes_no = has_type(extract, "boolean");
	size_t i;

	if (has_type(extract, "integer") || has_type(extract, "number") ||
	    expect_digits(node) != 1)
		return SPEECH_DIGITS;
	for (i = 0; i < node->n_edges; i++) {
		const char *label = node->edges[i].label;

		if (is_key_label(label))
			return SPEECH_DIGITS;
		if (has_word(label, "yes") || has_word(label, "no"))
			has_yes_no = true;
	}
	return has_yes_no ? SPEECH_YES_NO : SPEECH_ANY;
}

static void add_phrase(struct expect *expect, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	if (len && len <= PHRASE_BYTES_MAX &&
	    expect->is.hint.n_phrases < PHRASES_MAX)
		expect->phrases[expect->is.hint.n_phrases++] = text;
}

static void add_keywords(struct expect *expect, const json_t *data)
{
	const json_t *keyword;
	size_t i;

	json_array_foreach(json_object_get(data, "keywords"), i, keyword)
		add_phrase(expect, json_string_value(keyword));
}

static void add_edges(struct expect *expect, const struct graph_node *node)
{
	json_t *text;
	size_t i, k;

	for (i = 0; i < node->n_edges; i++) {
		const struct graph_edge *edge = &node->edges[i];
		json_t *examples = route_examples(node->data, edge);

		add_phrase(expect, edge->label);
		add_phrase(expect, edge->description);
		json_array_foreach(examples, k, text) {
			json_array_append(expect->examples, text);
			add_phrase(expect, json_string_value(text));
		}
		json_decref(examples);
	}
}

static uint32_t threshold_ms(const json_t *data)
{
	const json_t *value = json_object_get(
		json_object_get(data, "modelOptions"), "interruptionThreshold");
	double ms;

	if (!value || json_to_real(&ms, value) || !(ms > 0))
		return 0;
	return ms > 10000 ? 10000 : (uint32_t)ms;
}

void expect_init(struct expect *expect, const struct graph *graph,
		 const struct graph_node *node)
{
	json_t *extract = route_extract(node->data);
	const struct graph_node *const *globals;
	size_t i, n;

	*expect = (struct expect){
		.examples = json_array(),
		.phrases = mem_new_array(PHRASES_MAX, sizeof(*expect->phrases)),
	};
	add_edges(expect, node);
	add_keywords(expect, node->data);
	globals = graph_globals(graph, &n);
	for (i = 0; i < n; i++)
		add_phrase(expect, json_str(globals[i]->data, "globalLabel"));
	expect->is.hint.phrases = expect->phrases;
	expect->is.hint.expect = kind_of(node, extract);
	expect->is.threshold_ms = threshold_ms(node->data);
	if (expect->is.hint.expect == SPEECH_DIGITS)
		expect->is.digits = expect_digits(node);
	json_decref(extract);
}

void expect_reset(struct expect *expect)
{
	json_decref(expect->examples);
	mem_free(expect->phrases);
	*expect = (struct expect){ 0 };
}
