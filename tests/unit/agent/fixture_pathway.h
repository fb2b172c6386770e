/* SPDX-License-Identifier: MIT */
/* tests/unit/agent/fixture_pathway.h - a pathway on a simulated loop, with a
 * model that answers from a script and a network that a test stands in for.
 * JSON is written with ' for " here. */
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include "agent/engine/model.h"
#include "agent/pathway/pathway.h"
#include "core/buffer.h"
#include "core/fetch.h"

/* One answer to MODEL_DECIDE; MODEL_SPEAK speaks the prompt, or `speak`. */
struct scripted {
	int error;
	int route; /* from 1; 0: none fits */
	int global; /* from 1; 0: none */
	bool is_unmet;
	const char *extracted; /* JSON, or NULL */
	const char *asked; /* checked against what was asked when not NULL */
};

struct rig {
	struct loop *loop;
	struct fetch *fetch;
	struct timeline *timeline;
	struct pathway *pathway;
	struct model model; /* scripted */
	struct model *rules; /* or this one */
	struct {
		const struct scripted *next;
		size_t n;
		const char *speak; /* in place of the prompt; "" is silence */
		int speak_error;
		struct timer *timer;
		struct rig_call *call; /* under way */
	} script;
	struct buffer log; /* what came out: one line each */
	char *said; /* the line that is out */
	struct buffer events; /* the timeline, one line each */
	const char *hide; /* an event type left out of events, or NULL */
	struct {
		fetch_answer_fn *answer;
		void *arg;
	} network;
	bool is_held; /* lines are not spoken by themselves */
	bool close_on_say;
};

struct rig_setup {
	const char *nodes, *edges;
	const char *variables, *init;
	const char *start_node_id;
	const char *timezone;
	bool ignore_digits;
	bool use_rules; /* the real model in place of the script */
};

json_t *rig_json(const char *text); /* ' for " */
void rig_open(struct rig *rig, const struct rig_setup *setup);
void rig_close(struct rig *rig);
void rig_script(struct rig *rig, const struct scripted *answers, size_t n);
#define RIG_SCRIPT(rig, ...)                                                   \
	rig_script(rig, (const struct scripted[]){ __VA_ARGS__ },              \
		   sizeof((const struct scripted[]){ __VA_ARGS__ }) /          \
			   sizeof(struct scripted))
/* Starts, and runs until the pathway waits. */
void rig_start(struct rig *rig);
void rig_hear(struct rig *rig, const char *text);
void rig_press(struct rig *rig, const char *digits); /* one after the other */
void rig_run(struct rig *rig, uint64_t ms);
/* Compares what came out since the last time, and forgets it. */
void rig_expect(struct rig *rig, const char *log);
/* The same of events: "1 - conversation.init {...}", an operation's with "(1)"
 * behind the type; ' for ". */
void rig_expect_events(struct rig *rig, const char *events);
/* That these follow each other somewhere among the events. */
void rig_expect_within(struct rig *rig, const char *events);
