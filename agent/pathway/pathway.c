/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include "agent/pathway/expect.h"
#include "agent/pathway/pathway_route.h"
#include "agent/pathway/webhook_node.h"
#include "core/json.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/timer.h"

enum { SILENCES_MAX = 3 };

#define BIT(state) (1u << PATHWAY_##state)

static const struct {
	const char *name;
	unsigned next; /* a bit for each state that may follow */
} states[] = {
	[PATHWAY_IDLE] = { "idle", BIT(STEPPING) },
	[PATHWAY_STEPPING] = { "stepping",
			       BIT(STEPPING) | BIT(DECIDING) | BIT(PHRASING) |
				       BIT(FETCHING) | BIT(TRANSFERRING) |
				       BIT(SAYING) | BIT(LISTENING) |
				       BIT(ENDED) },
	[PATHWAY_DECIDING] = { "deciding", BIT(STEPPING) | BIT(PHRASING) |
						   BIT(FETCHING) | BIT(SAYING) |
						   BIT(DECIDING) |
						   BIT(LISTENING) },
	[PATHWAY_PHRASING] = { "phrasing",
			       BIT(SAYING) | BIT(STEPPING) | BIT(DECIDING) |
				       BIT(FETCHING) | BIT(TRANSFERRING) |
				       BIT(LISTENING) | BIT(ENDED) },
	[PATHWAY_FETCHING] = { "fetching", BIT(STEPPING) | BIT(DECIDING) |
						   BIT(PHRASING) | BIT(SAYING) |
						   BIT(LISTENING) },
	[PATHWAY_TRANSFERRING] = { "transferring",
				   BIT(TRANSFERRING) | BIT(SAYING) },
	[PATHWAY_SAYING] = { "saying", BIT(STEPPING) | BIT(DECIDING) |
					       BIT(PHRASING) | BIT(FETCHING) |
					       BIT(TRANSFERRING) | BIT(SAYING) |
					       BIT(LISTENING) | BIT(ENDED) },
	[PATHWAY_LISTENING] = { "listening",
				BIT(LISTENING) | BIT(DECIDING) | BIT(STEPPING) |
					BIT(SAYING) | BIT(PHRASING) },
	[PATHWAY_ENDED] = { "ended", 0 },
};

void pathway_enter(struct pathway *pathway, enum pathway_state next)
{
	assert(states[pathway->state].next & 1u << next);
	log_debug("call", pathway->call_id, "pathway %s: %s -> %s",
		  pathway->place.node->id, states[pathway->state].name,
		  states[next].name);
	timer_stop(pathway->post);
	pathway->state = next;
}

static void on_post(void *arg)
{
	struct pathway *pathway = arg;

	pathway->step(pathway);
}

void pathway_post(struct pathway *pathway, enum pathway_state state,
		  void (*step)(struct pathway *pathway))
{
	pathway_enter(pathway, state);
	pathway->step = step;
	timer_start(pathway->post, 0, on_post, pathway);
}

static void deliver_listen(struct pathway *pathway)
{
	struct expect expect;

	expect_init(&expect, pathway->graph, pathway->place.node);
	pathway->events->on_listen(pathway->owner, &expect.is);
	expect_reset(&expect); /* our own: the pathway may be gone */
}

void pathway_listen(struct pathway *pathway)
{
	pathway->place.steps = 0;
	pathway_post(pathway, PATHWAY_LISTENING, deliver_listen);
	if (pathway->keys.n)
		pathway_take_keys(pathway);
}

static void deliver_end(struct pathway *pathway)
{
	pathway->events->on_end(pathway->owner, pathway->line.why);
}

void pathway_end(struct pathway *pathway, const char *why)
{
	pathway->line.why = why;
	pathway_post(pathway, PATHWAY_ENDED, deliver_end);
}

void pathway_add_history(struct pathway *pathway, const char *role,
			 const char *content)
{
	json_t *entry = json_object();

	json_put_str(entry, "role", role);
	json_put_str(entry, "content", content);
	json_array_append_new(pathway->history, entry);
}

int pathway_open(struct pathway **out, const struct pathway_options *options,
		 const struct pathway_events *events, void *owner)
{
	const char *id = options->start_node_id;
	const struct graph_node *start =
		id && id[0] ? graph_find(options->graph, id)
			    : graph_start(options->graph);
	struct variables_options known = {
		.loop = options->loop,
		.initial = options->variables,
		.call_id = options->call_id,
		.timezone = options->timezone,
	};
	struct graph *graph = options->graph;
	struct pathway *pathway;

	*out = NULL;
	if (!start) {
		graph_close(&graph);
		return -ENOENT;
	}
	pathway = mem_new(sizeof(*pathway));
	*pathway = (struct pathway){
		.loop = options->loop,
		.graph = graph,
		.model = options->model,
		.fetch = options->fetch,
		.timeline = options->timeline,
		.variables = variables_open(&known),
		.history = json_array(),
		.given.init = options->init ? json_deep_copy(options->init)
					    : json_object(),
		.given.transfer_list = json_deep_copy(options->transfer_list),
		.call_id = mem_dup_str(options->call_id),
		.events = events,
		.owner = owner,
		.post = timer_new(options->loop),
	};
	pathway->place.node = start;
	pathway->keys.timer = timer_new(options->loop);
	pathway->keys.is_ignored = options->ignore_digits;
	pathway_add_history(pathway, "user", "<Call Connected>");
	timeline_set_conversation(pathway->timeline, options->call_id);
	*out = pathway;
	return 0;
}

static void close_background(struct pathway *pathway)
{
	while (pathway->background) {
		struct pathway_background *next = pathway->background->next;

		webhook_node_close(&pathway->background->run);
		mem_free(pathway->background);
		pathway->background = next;
	}
}

void pathway_close(struct pathway **pathway)
{
	struct pathway *p = *pathway;

	if (!p)
		return;
	model_cancel(&p->turn.call);
	webhook_node_close(&p->webhook);
	close_background(p);
	timer_close(&p->post);
	timer_close(&p->keys.timer);
	variables_close(&p->variables);
	graph_close(&p->graph);
	json_decref(p->history);
	json_decref(p->given.init);
	json_decref(p->given.transfer_list);
	mem_free(p->place.words);
	mem_free(p->place.said);
	mem_free(p->line.text);
	mem_free(p->turn.text);
	mem_free(p->call_id);
	mem_free(p);
	*pathway = NULL;
}

void pathway_start(struct pathway *pathway)
{
	json_t *payload = json_object();
	const json_t *own = variables_json(pathway->variables);

	json_put_str(payload, "pathway_id",
		     json_str(pathway->given.init, "pathway_id"));
	json_put_str(payload, "start_node_id", pathway->place.node->id);
	json_put(payload, "initial_variables", json_deep_copy(own));
	json_object_update_missing(payload, pathway->given.init);
	json_decref(pathway->given.init);
	pathway->given.init = NULL;
	timeline_add(pathway->timeline, "conversation.init", 0, payload);
	pathway_post(pathway, PATHWAY_STEPPING, pathway_run_node);
}

static void write_assistant(struct pathway *pathway, const char *heard)
{
	const char *whole = pathway->line.text;
	json_t *payload = json_object();

	json_put_str(payload, "text", heard[0] ? heard : NULL);
	if (strcmp(heard, whole) != 0)
		json_put_str(payload, "generated_response", whole);
	timeline_add(pathway->timeline, "transcript.assistant", 0, payload);
	if (heard[0])
		pathway_add_history(pathway, "assistant", heard);
}

void pathway_spoken(struct pathway *pathway, const char *heard)
{
	if (pathway->state != PATHWAY_SAYING)
		return;
	write_assistant(pathway, heard ? heard : "");
	switch (pathway->line.after) {
	case AFTER_NODE:
		pathway_after_node(pathway, false);
		break;
	case AFTER_LISTEN:
		pathway_listen(pathway);
		break;
	case AFTER_END:
		pathway_end(pathway, pathway->line.why);
		break;
	}
}

void pathway_stop(struct pathway *pathway, const char *heard)
{
	timer_stop(pathway->post);
	timer_stop(pathway->keys.timer);
	if (pathway->state != PATHWAY_SAYING || !heard)
		return;
	write_assistant(pathway, heard);
	pathway_enter(pathway, PATHWAY_ENDED);
}

/* What was pressed before, then what was said. Heap text. */
static char *after_keys(struct pathway *pathway, const char *text)
{
	struct buffer all;

	timer_stop(pathway->keys.timer);
	buffer_init(&all, strlen(text) + PATHWAY_KEYS_MAX + 1);
	if (pathway->keys.n) {
		buffer_add_str(&all, pathway->keys.digits);
		buffer_add_char(&all, ' ');
		pathway->keys.n = 0;
		pathway->keys.digits[0] = '\0';
	}
	buffer_add_str(&all, text);
	return buffer_take(&all);
}

/* Words that come while the pathway waits for nothing are on record, but no
 * turn: the next question was not out when they were said. */
void pathway_hear(struct pathway *pathway, const char *text)
{
	json_t *payload;
	char *whole;

	if (pathway->state == PATHWAY_IDLE || pathway->state == PATHWAY_ENDED)
		return;
	if (!text[0]) {
		if (pathway->state == PATHWAY_LISTENING)
			pathway_listen(pathway);
		return;
	}
	payload = json_object();
	json_put_str(payload, "text", text);
	timeline_add(pathway->timeline, "transcript.user", 0, payload);
	pathway_add_history(pathway, "user", text);
	variables_remember(pathway->variables, text);
	pathway->place.silences = 0;
	if (pathway->state == PATHWAY_LISTENING) {
		whole = after_keys(pathway, text);
		pathway_decide(pathway, DECIDE_TURN, whole);
		mem_free(whole);
	} else if (pathway->state == PATHWAY_DECIDING &&
		   pathway->turn.purpose == DECIDE_TURN) {
		pathway_decide_again(pathway, text);
	}
}

void pathway_press(struct pathway *pathway, char digit)
{
	char button[2] = { digit, '\0' };
	struct pathway_keys *keys = &pathway->keys;
	json_t *payload;

	if (pathway->state == PATHWAY_IDLE || pathway->state == PATHWAY_ENDED)
		return;
	payload = json_object();
	json_put_str(payload, "button", button);
	timeline_add(pathway->timeline, "button.press", 0, payload);
	pathway->place.silences = 0;
	if (!keys->is_ignored && keys->n < PATHWAY_KEYS_MAX) {
		keys->digits[keys->n++] = digit;
		keys->digits[keys->n] = '\0';
	}
	if (pathway->state == PATHWAY_LISTENING)
		pathway_listen(pathway);
}

void pathway_silence(struct pathway *pathway)
{
	if (pathway->state != PATHWAY_LISTENING)
		return;
	if (++pathway->place.silences < SILENCES_MAX)
		pathway_say(pathway, "Are you still there?", AFTER_LISTEN,
			    NULL);
	else
		pathway_say(pathway, "Goodbye.", AFTER_END, "silence");
}

const json_t *pathway_variables(const struct pathway *pathway)
{
	return variables_json(pathway->variables);
}

const json_t *pathway_history(const struct pathway *pathway)
{
	return pathway->history;
}
