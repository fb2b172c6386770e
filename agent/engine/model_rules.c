/* SPDX-License-Identifier: MIT */
/* The answer is worked out at once, since the question is only borrowed, and
 * delivered by a timer. */
#include "agent/engine/dates.h"
#include "agent/engine/extract.h"
#include "agent/engine/model.h"
#include "agent/engine/phrase.h"
#include "agent/engine/score.h"
#include "agent/engine/summary.h"
#include "agent/engine/words.h"
#include "core/buffer.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"

enum { TEXT_MAX = 1024 * 1024, DAY_MS = 24 * 60 * 60 * 1000 };

struct rules {
	struct model base;
	struct loop *loop; /* borrowed: outlives us */
};

struct rules_call {
	struct model_call base;
	struct model_call **slot; /* borrowed: the asker's, cleared by us */
	struct timer *timer; /* owned */
	model_done_fn *on_done;
	void *owner;
	struct model_answer answer;
	json_t *extracted; /* owned */
	struct buffer text;
};

static void close_call(struct rules_call *call)
{
	*call->slot = NULL;
	timer_close(&call->timer);
	json_decref(call->extracted);
	buffer_reset(&call->text);
	mem_free(call);
}

/* Today where the caller is: variable `now` says it in words. */
static int64_t today(const struct rules *rules, const json_t *variables)
{
	int64_t wall_days = loop_wall_ms(rules->loop) / DAY_MS, days;
	struct words words;
	bool is_found;

	words_init(&words,
		   json_string_value(json_object_get(variables, "now")));
	is_found = date_find(&days, &words, wall_days);
	words_reset(&words);
	return is_found ? days : wall_days;
}

/* The condition speaks of this variable: all words of its name occur. */
static bool names_variable(const struct words *condition, const char *variable)
{
	char text[256];
	struct words name;
	bool has_all;

	extract_name_text(text, sizeof(text), variable);
	words_init(&name, text);
	has_all = name.n > 0;
	for (size_t i = 0; i < name.n; i++)
		has_all &= words_have_root(condition, name.word[i].root);
	words_reset(&name);
	return has_all;
}

struct known {
	const json_t *extracted;
	const json_t *variables;
};

static bool is_set(const struct known *known, const char *name)
{
	return extract_is_set(known->extracted, name) ||
	       extract_is_set(known->variables, name);
}

/* Whether all variables that are named have a value; *named counts them.
 * named_only false: each that is to be extracted counts. */
static bool all_set(const struct words *condition, const json_t *extract,
		    const struct known *known, bool named_only, size_t *named)
{
	const json_t *entry;
	bool is_good = true;
	size_t i;

	json_array_foreach(extract, i, entry) {
		const char *name =
			json_string_value(json_object_get(entry, "name"));

		if (!name || (named_only && !names_variable(condition, name)))
			continue;
		(*named)++;
		is_good &= is_set(known, name);
	}
	return is_good;
}

static size_t count_named(const struct words *condition, const json_t *known,
			  bool *is_good)
{
	const char *key;
	const json_t *value;
	size_t n = 0;

	json_object_foreach((json_t *)known, key, value) {
		if (summary_is_builtin(key) || !names_variable(condition, key))
			continue;
		n++;
		*is_good &= extract_is_set(known, key);
	}
	return n;
}

/* A condition that names nothing we hold: an answer of the right kind. */
static bool is_answered(const struct words *condition, const struct words *said)
{
	enum polarity wants = words_polarity(condition);
	enum polarity answer = words_answer(said);

	if (wants != POLARITY_NONE && answer != POLARITY_NONE)
		return wants == answer;
	return said->n > 0 && wants == POLARITY_NONE;
}

static bool judge(const struct model_question *question,
		  const struct words *said, const json_t *extracted)
{
	struct known known = { extracted, question->variables };
	struct words condition;
	size_t named = 0, all = 0;
	bool is_met;

	words_init(&condition, question->decide.condition);
	is_met = all_set(&condition, question->decide.extract, &known, true,
			 &named);
	named += count_named(&condition, question->variables, &is_met);
	if (named == 0) {
		is_met = all_set(&condition, question->decide.extract, &known,
				 false, &all);
		if (all == 0)
			is_met = is_answered(&condition, said);
	}
	if (condition.n == 0)
		is_met = true;
	words_reset(&condition);
	return is_met;
}

static void decide(struct rules_call *call, const struct rules *rules,
		   const struct model_question *question)
{
	const char *text = question->user_text ? question->user_text : "";
	double route_score, global_score;
	struct words said;
	struct extract_question ask;
	struct score_question score;

	words_init(&said, text);
	ask = (struct extract_question){
		.said = &said,
		.wanted = question->decide.extract,
		.known = question->variables,
		.today_days = today(rules, question->variables),
	};
	call->extracted = extract_all(&ask);
	score = (struct score_question){ .text = text,
					 .said = &said,
					 .routes = question->decide.routes,
					 .n = question->decide.n_routes,
					 .extracted = call->extracted };
	call->answer.route = score_route(&score, &route_score);
	score.routes = question->decide.globals;
	score.n = question->decide.n_globals;
	call->answer.global = score_global(&score, &global_score);
	if (global_score <= route_score)
		call->answer.global = -1; /* an edge of the node is nearer */
	call->answer.is_condition_met = judge(question, &said, call->extracted);
	call->answer.extracted = call->extracted;
	words_reset(&said);
}

static void on_timer(void *arg)
{
	struct rules_call *call = arg;
	struct rules_call copy = *call;

	*call->slot = NULL;
	timer_close(&call->timer);
	mem_free(call);
	copy.on_done(copy.owner, &copy.answer);
	json_decref(copy.extracted);
	buffer_reset(&copy.text);
}

static int rules_ask(struct model_call **out, struct model *model,
		     const struct model_question *question,
		     model_done_fn *on_done, void *owner)
{
	struct rules *rules = (struct rules *)model;
	struct rules_call *call = mem_new(sizeof(*call));

	*call = (struct rules_call){ .base.model = model,
				     .slot = out,
				     .timer = timer_new(rules->loop),
				     .on_done = on_done,
				     .owner = owner };
	call->answer = (struct model_answer){ .route = -1,
					      .global = -1,
					      .is_condition_met = true };
	buffer_init(&call->text, TEXT_MAX);
	switch (question->task) {
	case MODEL_DECIDE:
		decide(call, rules, question);
		break;
	case MODEL_SPEAK:
		phrase_write(&call->text, question->speak.prompt,
			     question->speak.examples, question->user_text);
		break;
	case MODEL_SUMMARISE:
		summary_write(&call->text, question);
		break;
	}
	call->answer.text = buffer_str(&call->text);
	call->answer.output_chars = (unsigned)call->text.len;
	*out = &call->base;
	timer_start(call->timer, 0, on_timer, call);
	return 0;
}

static void rules_cancel(struct model_call **call)
{
	close_call((struct rules_call *)*call);
	*call = NULL;
}

static void rules_shut(struct model *model)
{
	mem_free(model);
}

int model_open_rules(struct model **out, struct loop *loop)
{
	static const struct model_ops ops = { .ask = rules_ask,
					      .cancel = rules_cancel,
					      .shut = rules_shut };
	struct rules *rules = mem_new(sizeof(*rules));

	*rules = (struct rules){ .base.ops = &ops, .loop = loop };
	*out = &rules->base;
	return 0;
}
