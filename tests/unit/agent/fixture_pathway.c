/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "core/json.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "tests/unit/agent/fixture_pathway.h"

struct rig_call {
	struct model_call base;
	struct rig *rig;
	struct scripted answer;
	enum model_task task;
	char *prompt;
	model_done_fn *on_done;
	void *owner;
	struct model_call **out;
};

/* What a test may check of a question. */
static void check_asked(const struct model_question *question,
			const char *wanted)
{
	struct buffer text;
	char *extract = json_text(question->decide.extract);
	size_t i;

	buffer_init(&text, 64 * 1024);
	buffer_printf(&text, "user=%s", question->user_text);
	for (i = 0; i < question->decide.n_routes; i++)
		buffer_printf(&text, " route=%s",
			      question->decide.routes[i].label);
	for (i = 0; i < question->decide.n_globals; i++)
		buffer_printf(&text, " global=%s",
			      question->decide.globals[i].label);
	if (question->decide.condition[0])
		buffer_printf(&text, " condition=%s",
			      question->decide.condition);
	if (extract)
		buffer_printf(&text, " extract=%s", extract);
	assert_string_equal(buffer_str(&text), wanted);
	buffer_reset(&text);
	mem_free(extract);
}

static void free_call(struct rig_call *call)
{
	call->rig->script.call = NULL;
	mem_free(call->prompt);
	mem_free(call);
}

static void on_answer(void *arg)
{
	struct rig_call *call = arg;
	struct rig_call now = *call;
	struct rig *rig = call->rig;
	json_t *extracted =
		now.answer.extracted ? rig_json(now.answer.extracted) : NULL;
	struct model_answer answer = {
		.error = now.answer.error,
		.route = now.answer.route - 1,
		.global = now.answer.global - 1,
		.is_condition_met = !now.answer.is_unmet && !now.answer.error,
		.extracted = extracted,
		.text = "",
		.output_chars = 7,
	};

	if (now.task == MODEL_SPEAK) {
		answer.error = rig->script.speak_error;
		answer.text =
			rig->script.speak ? rig->script.speak : now.prompt;
	}
	call->prompt = NULL;
	free_call(call);
	*now.out = NULL;
	now.on_done(now.owner, &answer);
	json_decref(extracted);
	mem_free(now.prompt);
}

static int script_ask(struct model_call **out, struct model *model,
		      const struct model_question *question,
		      model_done_fn *on_done, void *owner)
{
	struct rig *rig =
		(struct rig *)((char *)model - offsetof(struct rig, model));
	struct rig_call *call = mem_new(sizeof(*call));

	assert_null(rig->script.call);
	*call = (struct rig_call){ .base = { .model = model },
				   .rig = rig,
				   .task = question->task,
				   .prompt =
					   mem_dup_str(question->speak.prompt),
				   .on_done = on_done,
				   .owner = owner,
				   .out = out };
	if (question->task == MODEL_DECIDE && rig->script.n) {
		call->answer = *rig->script.next++;
		rig->script.n--;
		if (call->answer.asked)
			check_asked(question, call->answer.asked);
	}
	rig->script.call = call;
	*out = &call->base;
	timer_start(rig->script.timer, 0, on_answer, call);
	return 0;
}

static void script_cancel(struct model_call **call)
{
	struct rig_call *mine = (struct rig_call *)*call;

	timer_stop(mine->rig->script.timer);
	free_call(mine);
	*call = NULL;
}

static void script_shut(struct model *model)
{
}

json_t *rig_json(const char *text)
{
	char *copy = mem_dup_str(text);
	json_t *value;
	char *c;

	for (c = copy; *c; c++)
		if (*c == '\'')
			*c = '"';
	value = json_parse(slice_of(copy), NULL);
	if (!value)
		fail_msg("not JSON: %s", text);
	mem_free(copy);
	return value;
}

static void on_say(void *owner, const struct pathway_line *line)
{
	struct rig *rig = owner;

	assert_null(rig->said);
	buffer_printf(&rig->log, "agent%s%s: %s\n",
		      line->is_last ? " last" : "",
		      line->is_uninterruptible ? " blocked" : "", line->text);
	if (rig->close_on_say) {
		pathway_close(&rig->pathway);
		return;
	}
	rig->said = mem_dup_str(line->text);
}

static void on_listen(void *owner, const struct pathway_expect *expect)
{
	static const char *const kinds[] = { "", " digits", " yes_no" };
	struct rig *rig = owner;
	size_t i;

	buffer_printf(&rig->log, "listen%s", kinds[expect->hint.expect]);
	if (expect->digits)
		buffer_printf(&rig->log, " %u", expect->digits);
	if (expect->threshold_ms)
		buffer_printf(&rig->log, " %u ms", expect->threshold_ms);
	for (i = 0; i < expect->hint.n_phrases; i++)
		buffer_printf(&rig->log, "|%s", expect->hint.phrases[i]);
	buffer_add_char(&rig->log, '\n');
}

static void on_end(void *owner, const char *why)
{
	struct rig *rig = owner;

	buffer_printf(&rig->log, "end %s\n", why);
}

static void on_event(void *owner, const struct timeline_event *event)
{
	struct rig *rig = owner;
	char *payload = json_text(event->payload);
	char *c;

	if (rig->hide && strcmp(rig->hide, event->type) == 0) {
		mem_free(payload);
		return;
	}
	for (c = payload; c && *c; c++)
		if (*c == '"')
			*c = '\'';
	buffer_printf(&rig->events, "%d %s %s", (int)event->sequence,
		      event->node_id ? event->node_id : "-", event->type);
	if (event->operation_id)
		buffer_printf(&rig->events, "(%d)", (int)event->operation_id);
	buffer_printf(&rig->events, " %s\n", payload ? payload : "-");
	mem_free(payload);
}

static void on_fetch(void *arg, const struct fetch_request *request,
		     struct fetch_result *result)
{
	struct rig *rig = arg;

	rig->network.answer(rig->network.arg, request, result);
}

void rig_open(struct rig *rig, const struct rig_setup *setup)
{
	static const struct model_ops ops = { .ask = script_ask,
					      .cancel = script_cancel,
					      .shut = script_shut };
	static const struct pathway_events events = { .on_say = on_say,
						      .on_listen = on_listen,
						      .on_end = on_end };
	struct fetch_options fetch = { .answer = on_fetch, .answer_arg = rig };
	struct pathway_options options = { .call_id = "call-1",
					   .start_node_id =
						   setup->start_node_id,
					   .timezone = setup->timezone,
					   .ignore_digits =
						   setup->ignore_digits };
	json_t *nodes = rig_json(setup->nodes);
	json_t *edges = rig_json(setup->edges ? setup->edges : "[]");
	json_t *variables =
		setup->variables ? rig_json(setup->variables) : NULL;
	json_t *init = setup->init ? rig_json(setup->init) : NULL;
	struct graph_problem problem;

	*rig = (struct rig){ .model = { &ops } };
	buffer_init(&rig->log, 1 << 20);
	buffer_init(&rig->events, 4 << 20);
	loop_open_sim(&rig->loop, 1757684340000); /* 2025-09-12T13:39:00Z */
	fetch.loop = rig->loop;
	assert_int_equal(fetch_open(&rig->fetch, &fetch), 0);
	rig->timeline = timeline_open(rig->loop, on_event, rig);
	rig->script.timer = timer_new(rig->loop);
	if (graph_open(&options.graph, nodes, edges, false, &problem))
		fail_msg("%s: %s", problem.field, problem.message);
	options.loop = rig->loop;
	if (setup->use_rules)
		assert_int_equal(model_open_rules(&rig->rules, rig->loop), 0);
	options.model = setup->use_rules ? rig->rules : &rig->model;
	options.fetch = rig->fetch;
	options.timeline = rig->timeline;
	options.variables = variables;
	options.init = init;
	assert_int_equal(pathway_open(&rig->pathway, &options, &events, rig),
			 0);
	json_decref(nodes);
	json_decref(edges);
	json_decref(variables);
	json_decref(init);
}

void rig_close(struct rig *rig)
{
	pathway_close(&rig->pathway);
	assert_null(rig->script.call);
	timer_close(&rig->script.timer);
	model_close(&rig->rules);
	timeline_close(&rig->timeline);
	fetch_close(&rig->fetch);
	loop_close(&rig->loop);
	buffer_reset(&rig->log);
	buffer_reset(&rig->events);
	mem_free(rig->said);
}

void rig_script(struct rig *rig, const struct scripted *answers, size_t n)
{
	rig->script.next = answers;
	rig->script.n = n;
}

void rig_run(struct rig *rig, uint64_t ms)
{
	loop_advance_ms(rig->loop, ms);
	while (rig->said && !rig->is_held) {
		char *said = rig->said;

		rig->said = NULL;
		pathway_spoken(rig->pathway, said);
		mem_free(said);
		loop_advance_ms(rig->loop, 0);
	}
}

void rig_start(struct rig *rig)
{
	pathway_start(rig->pathway);
	rig_run(rig, 0);
}

void rig_hear(struct rig *rig, const char *text)
{
	pathway_hear(rig->pathway, text);
	rig_run(rig, 0);
}

void rig_press(struct rig *rig, const char *digits)
{
	for (; *digits; digits++) {
		pathway_press(rig->pathway, *digits);
		rig_run(rig, 0);
	}
}

void rig_expect(struct rig *rig, const char *log)
{
	assert_string_equal(buffer_str(&rig->log), log);
	buffer_clear(&rig->log);
}

void rig_expect_events(struct rig *rig, const char *events)
{
	assert_string_equal(buffer_str(&rig->events), events);
	buffer_clear(&rig->events);
}

void rig_expect_within(struct rig *rig, const char *events)
{
	if (!strstr(buffer_str(&rig->events), events))
		fail_msg("%s\nis not within\n%s", events,
			 buffer_str(&rig->events));
}
