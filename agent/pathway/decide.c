/* SPDX-License-Identifier: MIT */
/* One question to the model for each turn: extract, judge the condition, and
 * choose. A global node beats the condition, a condition that is not met keeps
 * the caller on the node, then alwaysPick beats the model's choice. */
#include "agent/pathway/pathway_route.h"
#include "agent/pathway/route_examples.h"
#include "agent/pathway/template.h"
#include "core/arena.h"
#include "core/json.h"
#include "core/loop.h"
#include "core/mem.h"

/* What a question borrows, for as long as it is asked. */
struct asked {
	struct model_question question;
	struct arena *arena; /* owned */
	json_t *extract; /* owned */
	json_t *examples; /* owned: arrays, one for each route */
	char *condition; /* owned */
};

static void finish(struct pathway *pathway, const struct model_answer *answer);

/* The edge that needs no judgement: alwaysPick, or an only one that says
 * nothing about when to take it. */
static const struct graph_edge *sure_edge(const struct graph_node *node)
{
	size_t i;

	for (i = 0; i < node->n_edges; i++)
		if (node->edges[i].is_always)
			return &node->edges[i];
	if (node->n_edges == 1 && !node->edges[0].label[0] &&
	    !node->edges[0].description[0])
		return &node->edges[0];
	return NULL;
}

static const struct graph_edge *way_out(const struct pathway *pathway)
{
	const struct graph_node *node = pathway->place.node;

	if (pathway->turn.purpose == DECIDE_MOVE_ON && node->n_edges == 1)
		return &node->edges[0];
	return sure_edge(node);
}

static bool has_condition(const struct pathway *pathway)
{
	const char *condition =
		json_str(pathway->place.node->data, "condition");

	return pathway->turn.purpose == DECIDE_TURN && condition &&
	       condition[0];
}

/* The global node at that index, the current one left out; NULL past the
 * last. */
static const struct graph_node *global_at(const struct pathway *pathway,
					  size_t index)
{
	const struct graph_node *const *globals;
	size_t i, n;

	globals = graph_globals(pathway->graph, &n);
	for (i = 0; i < n; i++) {
		if (globals[i] == pathway->place.node)
			continue;
		if (index-- == 0)
			return globals[i];
	}
	return NULL;
}

static void add_routes(struct asked *asked, const struct graph_node *node)
{
	struct model_route *routes =
		arena_new(asked->arena, (node->n_edges + 1) * sizeof(*routes));
	size_t i;

	for (i = 0; i < node->n_edges; i++) {
		const struct graph_edge *edge = &node->edges[i];
		json_t *examples = route_examples(node->data, edge);

		if (examples)
			json_array_append_new(asked->examples, examples);
		routes[i] = (struct model_route){
			.id = edge->target,
			.label = edge->label,
			.description = edge->description,
			.examples = examples,
		};
	}
	asked->question.decide.routes = routes;
	asked->question.decide.n_routes = node->n_edges;
}

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

static void add_globals(struct asked *asked, const struct pathway *pathway)
{
	struct model_route *routes;
	size_t i, n;

	graph_globals(pathway->graph, &n);
	routes = arena_new(asked->arena, (n + 1) * sizeof(*routes));
	for (i = 0; global_at(pathway, i); i++) {
		const struct graph_node *node = global_at(pathway, i);

		routes[i] = (struct model_route){
			.id = node->id,
			.label = text_or_empty(
				json_str(node->data, "globalLabel")),
			.description = text_or_empty(
				json_str(node->data, "globalDescription")),
		};
	}
	asked->question.decide.globals = routes;
	asked->question.decide.n_globals = i;
}

static void asked_init(struct asked *asked, const struct pathway *pathway)
{
	const struct graph_node *node = pathway->place.node;
	enum pathway_purpose purpose = pathway->turn.purpose;

	*asked = (struct asked){
		.question = { .task = MODEL_DECIDE,
			      .user_text = text_or_empty(pathway->turn.text),
			      .history = pathway->history,
			      .variables = variables_json(pathway->variables),
			      .speak = { .prompt = "" },
			      .summarise = { .outcome = "", .prompt = "" } },
		.arena = arena_open(),
		.extract = route_extract(node->data),
		.examples = json_array(),
	};
	asked->condition = template_text(
		has_condition(pathway) ? json_str(node->data, "condition")
				       : NULL,
		TEMPLATE_TEXT, pathway->variables);
	asked->question.decide.condition = asked->condition;
	/* A webhook's variables were extracted when it was entered. */
	if (purpose != DECIDE_MOVE_ON || node->type != NODE_WEBHOOK)
		asked->question.decide.extract = asked->extract;
	if (purpose != DECIDE_EXTRACT && !way_out(pathway))
		add_routes(asked, node);
	if (purpose == DECIDE_TURN)
		add_globals(asked, pathway);
}

static void asked_reset(struct asked *asked)
{
	arena_close(&asked->arena);
	json_decref(asked->extract);
	json_decref(asked->examples);
	mem_free(asked->condition);
}

static bool is_open(const struct asked *asked)
{
	return asked->question.decide.extract ||
	       asked->question.decide.n_routes ||
	       asked->question.decide.n_globals || asked->condition[0];
}

static void invoke(struct pathway *pathway, const struct asked *asked)
{
	struct pathway_turn *turn = &pathway->turn;
	uint64_t now = loop_now_us(pathway->loop);
	json_t *names, *payload;
	const json_t *variable;
	size_t i;

	if (asked->question.decide.extract) {
		payload = json_object();
		names = json_array();
		json_array_foreach(asked->extract, i, variable)
			json_array_append(names,
					  json_object_get(variable, "name"));
		json_put(payload, "variables_requested", names);
		operation_invoke(&turn->extraction, "var_extraction", now,
				 payload);
	}
	if (asked->condition[0])
		operation_invoke(&turn->condition, "loop_condition", now,
				 json_pack("{s:s}", "type", "condition"));
}

static void on_decided(void *owner, const struct model_answer *answer)
{
	finish(owner, answer);
}

static void ask(struct pathway *pathway, struct asked *asked)
{
	struct model_answer failed = { .route = -1, .global = -1, .text = "" };

	failed.error = model_ask(&pathway->turn.call, pathway->model,
				 &asked->question, on_decided, pathway);
	asked_reset(asked);
	if (!failed.error)
		return;
	pathway->turn.call = NULL;
	finish(pathway, &failed);
}

void pathway_decide(struct pathway *pathway, enum pathway_purpose purpose,
		    const char *text)
{
	struct pathway_turn *turn = &pathway->turn;
	struct model_answer nothing = {
		.route = -1, .global = -1, .is_condition_met = true, .text = ""
	};
	struct asked asked;

	if (text) {
		char *copy = mem_dup_str(text);

		mem_free(turn->text);
		turn->text = copy;
	}
	turn->purpose = purpose;
	turn->extraction = (struct operation){ .timeline = pathway->timeline };
	turn->condition = (struct operation){ .timeline = pathway->timeline };
	pathway_enter(pathway, PATHWAY_DECIDING);
	asked_init(&asked, pathway);
	turn->is_asked = is_open(&asked);
	if (turn->is_asked) {
		invoke(pathway, &asked);
		ask(pathway, &asked);
	} else {
		asked_reset(&asked);
		finish(pathway, &nothing);
	}
}

void pathway_decide_again(struct pathway *pathway, const char *text)
{
	struct pathway_turn *turn = &pathway->turn;
	struct buffer both;
	struct asked asked;

	model_cancel(&turn->call);
	buffer_init(&both, 256 * 1024);
	buffer_printf(&both, "%s %s", turn->text, text);
	mem_free(turn->text);
	turn->text = buffer_take(&both);
	asked_init(&asked, pathway);
	ask(pathway, &asked);
}

/* ---- the answer ---- */

static void take_extracted(struct pathway *pathway, const json_t *extracted)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)extracted, name, value)
		if (!json_is_null(value))
			variables_set(pathway->variables, name,
				      json_incref(value));
}

static void write_results(struct pathway *pathway,
			  const struct model_answer *answer,
			  const struct graph_edge *edge)
{
	struct pathway_turn *turn = &pathway->turn;
	json_t *payload;

	if (turn->extraction.prefix) {
		payload = json_object();
		json_put(payload, "variables_extracted",
			 answer->extracted ? json_deep_copy(answer->extracted)
					   : json_object());
		json_put_int(payload, "duration_ms",
			     operation_ms(&turn->extraction,
					  loop_now_us(pathway->loop)));
		operation_result(&turn->extraction, payload);
	}
	if (turn->condition.prefix) {
		char *condition = template_text(
			json_str(pathway->place.node->data, "condition"),
			TEMPLATE_TEXT, pathway->variables);

		payload = json_object();
		json_put_bool(payload, "conditions_met",
			      answer->is_condition_met);
		if (edge && answer->global < 0)
			json_put_str(payload, "target_node", edge->target);
		json_put_str(payload, "condition_prompt", condition);
		operation_result(&turn->condition, payload);
		mem_free(condition);
	}
}

static void write_action(struct pathway *pathway,
			 const struct model_answer *answer, bool is_moving)
{
	json_t *payload = json_object();
	const char *action = is_moving ? "choose_path" : "stay";

	if (answer->global >= 0)
		action = "choose_global";
	else if (pathway->turn.purpose == DECIDE_EXTRACT)
		action = "extract_variables";
	json_put_str(payload, "action", action);
	json_put_int(payload, "output_chars", answer->output_chars);
	timeline_add(pathway->timeline, "llm.action", 0, payload);
}

static void fail(struct pathway *pathway, int error)
{
	struct pathway_turn *turn = &pathway->turn;

	pathway_model_failed(pathway, error);
	if (turn->extraction.prefix)
		operation_error(&turn->extraction, "The model failed.", NULL);
	if (turn->condition.prefix)
		operation_error(&turn->condition, "The model failed.", NULL);
}

static const struct graph_edge *chosen_edge(const struct pathway *pathway,
					    const struct model_answer *answer)
{
	const struct graph_node *node = pathway->place.node;

	if (pathway->turn.purpose == DECIDE_EXTRACT)
		return NULL;
	if (pathway->turn.condition.prefix && !answer->is_condition_met)
		return NULL;
	if (way_out(pathway))
		return way_out(pathway);
	if (answer->route >= 0 && (size_t)answer->route < node->n_edges)
		return &node->edges[answer->route];
	/* The condition was the question; one way leads on. */
	if (pathway->turn.condition.prefix && node->n_edges == 1)
		return &node->edges[0];
	return NULL;
}

static void go_on(struct pathway *pathway, const struct graph_edge *edge)
{
	pathway_go(pathway, graph_find(pathway->graph, edge->target),
		   edge->label, false);
}

static void finish_turn(struct pathway *pathway,
			const struct model_answer *answer,
			const struct graph_edge *edge)
{
	const struct graph_node *global =
		answer->global >= 0 ? global_at(pathway, (size_t)answer->global)
				    : NULL;

	if (global)
		pathway_go(pathway, global,
			   json_str(global->data, "globalLabel"), true);
	else if (pathway->turn.condition.prefix && !answer->is_condition_met)
		pathway_stay(pathway, "The condition is not met.", TONE_PLAIN);
	else if (edge)
		go_on(pathway, edge);
	else if (pathway->place.node->n_edges)
		pathway_stay(pathway, "No path fits what the caller said.",
			     TONE_SORRY);
	else
		pathway_say_node(pathway, AFTER_LISTEN, TONE_PLAIN);
}

static void finish(struct pathway *pathway, const struct model_answer *answer)
{
	const struct graph_edge *edge = chosen_edge(pathway, answer);

	if (answer->error) {
		fail(pathway, answer->error);
	} else {
		take_extracted(pathway, answer->extracted);
		if (pathway->turn.is_asked)
			write_action(pathway, answer, edge != NULL);
		write_results(pathway, answer, edge);
	}
	switch (pathway->turn.purpose) {
	case DECIDE_TURN:
		if (answer->error)
			pathway_stay(pathway, "The model failed.", TONE_SORRY);
		else
			finish_turn(pathway, answer, edge);
		break;
	case DECIDE_MOVE_ON:
		if (edge)
			go_on(pathway, edge);
		else
			pathway_listen(pathway);
		break;
	case DECIDE_EXTRACT:
		pathway_start_webhook(pathway);
		break;
	}
}
