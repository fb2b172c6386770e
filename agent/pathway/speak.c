/* SPDX-License-Identifier: MIT */
/* What the pathway says. A text is said as it stands; a prompt is phrased by
 * the model. When nothing fitted the caller's words, a caller expects to be
 * told so and to be asked again: "Sorry, I did not catch that." goes before the
 * node's text, and before a prompt's phrase when it is the one said before. */
#include <stdio.h>
#include <string.h>
#include "agent/pathway/pathway_route.h"
#include "agent/pathway/template.h"
#include "core/json.h"
#include "core/mem.h"

static const char sorry[] = "Sorry, I did not catch that.";

static void deliver_say(struct pathway *pathway)
{
	struct pathway_line line = {
		.text = pathway->line.text,
		.is_uninterruptible = pathway->line.is_uninterruptible,
		.is_last = pathway->line.after == AFTER_END ||
			   (pathway->line.after == AFTER_NODE &&
			    pathway->place.node->type == NODE_END_CALL),
	};

	pathway->events->on_say(pathway->owner, &line);
}

void pathway_say(struct pathway *pathway, const char *text,
		 enum pathway_after after, const char *why)
{
	char *copy = mem_dup_str(text);

	mem_free(pathway->line.text);
	pathway->line = (struct pathway_spoken_line){
		.text = copy,
		.after = after,
		.why = why,
	};
	pathway_post(pathway, PATHWAY_SAYING, deliver_say);
}

void pathway_model_failed(struct pathway *pathway, int error)
{
	json_t *payload = json_object();
	char message[160];

	snprintf(message, sizeof(message), "The model failed: %s.",
		 strerror(-error));
	json_put_str(payload, "message", message);
	json_put_str(payload, "tool_name", "model");
	timeline_add(pathway->timeline, "tool.error", 0, payload);
}

static bool blocks_interruptions(const json_t *data)
{
	const json_t *options = json_object_get(data, "modelOptions");
	const json_t *flag = json_object_get(options, "block_interruptions");
	bool is_blocked = false;

	if (!flag)
		flag = json_object_get(data, "block_interruptions");
	return flag && json_to_bool(&is_blocked, flag) == 0 && is_blocked;
}

/* Nothing to say: the node goes on, or the caller is waited for. */
static void say_nothing(struct pathway *pathway, enum pathway_after after,
			enum pathway_tone tone)
{
	if (after == AFTER_NODE)
		pathway_after_node(pathway, true);
	else if (tone == TONE_SORRY)
		pathway_say(pathway, sorry, AFTER_LISTEN, NULL);
	else
		pathway_listen(pathway);
}

/* The node's line, after an apology where one is due. */
static void say_line(struct pathway *pathway, const char *text,
		     enum pathway_after after, bool is_sorry)
{
	struct pathway_place *place = &pathway->place;
	char *said = mem_dup_str(text);
	struct buffer line;

	mem_free(place->said);
	place->said = said;
	buffer_init(&line, strlen(said) + sizeof(sorry) + 1);
	if (is_sorry)
		buffer_printf(&line, "%s ", sorry);
	buffer_add_str(&line, said);
	pathway_say(pathway, buffer_str(&line), after, NULL);
	pathway->line.is_uninterruptible =
		blocks_interruptions(place->node->data);
	buffer_reset(&line);
}

static const char *fallback(const struct graph_node *node)
{
	switch (node->type) {
	case NODE_END_CALL:
		return "Goodbye.";
	case NODE_WEBHOOK:
		return "One moment, please.";
	case NODE_TRANSFER:
		return "One moment, please. I will connect you.";
	case NODE_DEFAULT:
	case NODE_OTHER:
		break;
	}
	return "I am sorry, could you say that again?";
}

static void on_phrased(void *owner, const struct model_answer *answer)
{
	struct pathway *pathway = owner;
	struct pathway_place *place = &pathway->place;
	enum pathway_after after = pathway->line.after;
	bool is_repeated = place->said && !answer->error &&
			   strcmp(place->said, answer->text) == 0;
	json_t *payload;

	if (answer->error) {
		pathway_model_failed(pathway, answer->error);
		say_line(pathway, fallback(place->node), after, false);
		return;
	}
	payload = json_object();
	json_put_str(payload, "action", "speak");
	json_put_int(payload, "output_chars", answer->output_chars);
	timeline_add(pathway->timeline, "llm.action", 0, payload);
	if (answer->text[0])
		say_line(pathway, answer->text, after,
			 is_repeated && pathway->line.tone == TONE_SORRY);
	else
		say_nothing(pathway, after, pathway->line.tone);
}

static void phrase(struct pathway *pathway, enum pathway_after after,
		   enum pathway_tone tone)
{
	const struct graph_node *node = pathway->place.node;
	struct model_question question = {
		.task = MODEL_SPEAK,
		.user_text = pathway->turn.text ? pathway->turn.text : "",
		.history = pathway->history,
		.variables = variables_json(pathway->variables),
		.decide = { .condition = "" },
		.speak = { .prompt = pathway->place.words,
			   .examples = json_object_get(node->data,
						       "dialogueExamples") },
		.summarise = { .outcome = "", .prompt = "" },
	};
	int err;

	pathway->line.after = after;
	pathway->line.tone = tone;
	pathway_enter(pathway, PATHWAY_PHRASING);
	err = model_ask(&pathway->turn.call, pathway->model, &question,
			on_phrased, pathway);
	if (!err)
		return;
	pathway->turn.call = NULL;
	pathway_model_failed(pathway, err);
	say_line(pathway, fallback(node), after, false);
}

void pathway_say_node(struct pathway *pathway, enum pathway_after after,
		      enum pathway_tone tone)
{
	struct pathway_place *place = &pathway->place;
	const char *text = json_str(place->node->data, "text");
	const char *prompt = json_str(place->node->data, "prompt");
	bool has_text = text && text[0];

	mem_free(place->words);
	place->words = template_text(has_text ? text : prompt, TEMPLATE_TEXT,
				     pathway->variables);
	/* A node that leads nowhere just goes on talking. */
	if (!place->node->n_edges)
		tone = TONE_PLAIN;
	if (!place->words[0])
		say_nothing(pathway, after, tone);
	else if (has_text)
		say_line(pathway, place->words, after, tone == TONE_SORRY);
	else
		phrase(pathway, after, tone);
}
