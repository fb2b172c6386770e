/* SPDX-License-Identifier: MIT */
/* Entering nodes and moving between them. A transition belongs to the node
 * that was left: its event carries that node's id. */
#include <stdio.h>
#include <string.h>
#include "agent/pathway/condition.h"
#include "agent/pathway/graph_priv.h"
#include "agent/pathway/pathway_route.h"
#include "agent/pathway/template.h"
#include "agent/pathway/webhook_node.h"
#include "core/json.h"
#include "core/mem.h"

enum { STEPS_MAX = 50 };

static void write_transition(struct pathway *pathway, const char *chosen,
			     const char *label, const char *failure)
{
	json_t *payload = json_object();
	json_t *changes = variables_changes(pathway->variables);

	json_put_str(payload, "chosen_node_id", chosen);
	if (label && label[0])
		json_put_str(payload, "chosen_label", label);
	json_put_str(payload, "previous_node_id", pathway->place.node->id);
	if (changes)
		json_put(payload, "variable_changes", changes);
	if (failure)
		json_put(payload, "failures", json_pack("[s]", failure));
	timeline_add(pathway->timeline, "node.transition", 0, payload);
}

/* True when this pathway has run too long without waiting for the caller. */
static bool is_loop(struct pathway *pathway)
{
	if (++pathway->place.steps <= STEPS_MAX)
		return false;
	write_transition(pathway, pathway->place.node->id, NULL,
			 "The pathway was stopped: 50 steps without waiting "
			 "for the caller.");
	pathway_say(pathway, "I am sorry, something went wrong. Goodbye.",
		    AFTER_END, "loop");
	return true;
}

static void move(struct pathway *pathway, const struct graph_node *target)
{
	struct pathway_place *place = &pathway->place;

	variables_leave_node(pathway->variables, place->words);
	mem_free(place->words);
	mem_free(place->said);
	place->words = place->said = NULL;
	place->node = target;
}

void pathway_go(struct pathway *pathway, const struct graph_node *target,
		const char *label, bool is_global)
{
	struct pathway_place *place = &pathway->place;

	write_transition(pathway, target->id, label, NULL);
	if (!is_global)
		place->back = NULL;
	else if (!place->back)
		place->back = place->node;
	move(pathway, target);
	pathway_post(pathway, PATHWAY_STEPPING, pathway_run_node);
}

void pathway_stay(struct pathway *pathway, const char *failure,
		  enum pathway_tone tone)
{
	write_transition(pathway, pathway->place.node->id, NULL, failure);
	pathway_say_node(pathway, AFTER_LISTEN, tone);
}

/* Back at the node a global one was reached from: it asks again. */
static void resume(struct pathway *pathway)
{
	timeline_enter_node(pathway->timeline, pathway->place.node->id);
	if (!is_loop(pathway))
		pathway_say_node(pathway, AFTER_LISTEN, TONE_PLAIN);
}

/* enableGlobalAutoReturn; when it is absent, a global node with edges of its
 * own leads on and others return. */
static bool returns(const struct pathway *pathway)
{
	const struct graph_node *node = pathway->place.node;
	const json_t *flag =
		json_object_get(node->data, "enableGlobalAutoReturn");
	bool is_set;

	if (!pathway->place.back)
		return false;
	if (flag && json_to_bool(&is_set, flag) == 0)
		return is_set;
	return node->n_edges == 0;
}

static void go_back(struct pathway *pathway)
{
	const struct graph_node *back = pathway->place.back;

	write_transition(pathway, back->id, NULL, NULL);
	pathway->place.back = NULL;
	move(pathway, back);
	pathway_post(pathway, PATHWAY_STEPPING, resume);
}

/* ---- Webhook ---- */

/* All are judged in order and the last true one wins; the completion entry
 * beats them all, also when the request failed: it is over either way. */
static const json_t *response_target(const struct pathway *pathway)
{
	const json_t *routes =
		json_object_get(pathway->place.node->data, "responsePathways");
	const json_t *route, *chosen = NULL;
	size_t i;

	json_array_foreach(routes, i, route) {
		const char *name = json_string_value(json_array_get(route, 0));
		const json_t *given = json_array_get(route, 2);
		enum condition_op op;
		json_t *value;
		char *compared;

		if (strcmp(name, GRAPH_COMPLETION) == 0)
			return json_array_get(route, 3);
		if (condition_parse(
			    &op, json_string_value(json_array_get(route, 1))))
			continue;
		compared =
			json_is_string(given) || !given || json_is_null(given)
				? template_text(json_string_value(given),
						TEMPLATE_TEXT,
						pathway->variables)
				: json_text(given);
		value = variables_find(pathway->variables, slice_of(name));
		if (condition_holds(value, op, compared))
			chosen = json_array_get(route, 3);
		json_decref(value);
		mem_free(compared);
	}
	return chosen;
}

static void leave_webhook(struct pathway *pathway)
{
	const json_t *target = response_target(pathway);
	const char *id = json_str(target, "id");

	if (id)
		pathway_go(pathway, graph_find(pathway->graph, id),
			   json_str(target, "name"), false);
	else if (returns(pathway))
		go_back(pathway);
	else
		pathway_decide(pathway, DECIDE_MOVE_ON, NULL);
}

static void on_webhook(void *owner, struct webhook_node *run)
{
	struct pathway *pathway = owner;

	webhook_node_close(&pathway->webhook);
	if (pathway->state == PATHWAY_FETCHING)
		leave_webhook(pathway);
}

static void on_background(void *owner, struct webhook_node *run)
{
	struct pathway_background *done = owner;
	struct pathway_background **at = &done->pathway->background;

	while (*at != done)
		at = &(*at)->next;
	*at = done->next;
	webhook_node_close(&done->run);
	mem_free(done);
}

void pathway_start_webhook(struct pathway *pathway)
{
	struct webhook_node_options options = {
		.loop = pathway->loop,
		.fetch = pathway->fetch,
		.timeline = pathway->timeline,
		.variables = pathway->variables,
		.data = pathway->place.node->data,
	};
	struct pathway_background *background;

	if (webhook_is_fire_and_forget(options.data)) {
		background = mem_new(sizeof(*background));
		background->pathway = pathway;
		background->next = pathway->background;
		pathway->background = background;
		background->run =
			webhook_node_open(&options, on_background, background);
	} else {
		pathway->webhook =
			webhook_node_open(&options, on_webhook, pathway);
	}
	pathway_say_node(pathway, AFTER_NODE, TONE_PLAIN);
}

/* ---- any node ---- */

static bool skips_response(const struct graph_node *node)
{
	return graph_is_set(json_object_get(node->data, "modelOptions"),
			    "skipUserResponse") ||
	       graph_is_set(node->data, "skipUserResponse");
}

void pathway_after_node(struct pathway *pathway, bool is_silent)
{
	const struct graph_node *node = pathway->place.node;

	switch (node->type) {
	case NODE_END_CALL:
		pathway_end(pathway, "end_call");
		return;
	case NODE_WEBHOOK:
		if (pathway->webhook)
			pathway_enter(pathway, PATHWAY_FETCHING);
		else
			leave_webhook(pathway);
		return;
	case NODE_TRANSFER:
		pathway_transfer(pathway);
		return;
	case NODE_DEFAULT:
	case NODE_OTHER:
		break;
	}
	if (returns(pathway))
		go_back(pathway);
	else if (is_silent || skips_response(node))
		pathway_decide(pathway, DECIDE_MOVE_ON, NULL);
	else
		pathway_listen(pathway);
}

static void write_tag(struct pathway *pathway)
{
	const json_t *tag = json_object_get(pathway->place.node->data, "tag");

	if (json_str(tag, "name"))
		timeline_add(pathway->timeline, "node.tag", 0,
			     json_deep_copy(tag));
}

static void write_unknown(struct pathway *pathway)
{
	const struct graph_node *node = pathway->place.node;
	json_t *payload = json_object();
	char message[160];

	snprintf(message, sizeof(message),
		 "This node has the type '%.60s', which is not known here: it "
		 "acts as Default.",
		 node->type_name);
	json_put_str(payload, "message", message);
	json_put_str(payload, "type", node->type_name);
	timeline_add(pathway->timeline, "tool.error", 0, payload);
}

void pathway_run_node(struct pathway *pathway)
{
	const struct graph_node *node = pathway->place.node;

	if (is_loop(pathway))
		return;
	timeline_enter_node(pathway->timeline, node->id);
	write_tag(pathway);
	switch (node->type) {
	case NODE_WEBHOOK:
		pathway_decide(pathway, DECIDE_EXTRACT, NULL);
		return;
	case NODE_OTHER:
		write_unknown(pathway);
		break;
	case NODE_DEFAULT:
	case NODE_TRANSFER:
	case NODE_END_CALL:
		break;
	}
	pathway_say_node(pathway, AFTER_NODE, TONE_PLAIN);
}
