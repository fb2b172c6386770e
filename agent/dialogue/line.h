/* SPDX-License-Identifier: MIT */
/* agent/dialogue/line.h - one thing the agent says: from text through the
 * synthesiser into the playout, and back from the samples really sent to the
 * words really heard. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "agent/engine/speech.h"

struct line;
struct playout;

struct line_events {
	void (*on_first_audio)(void *owner); /* the synthesiser began */
	void (*on_started)(void *owner); /* the first frame went out */
	/* All of it was said; err: the synthesiser failed on the way. */
	void (*on_finished)(void *owner, int err);
};

struct line_options {
	struct speech *speech; /* borrowed: outlives us */
	struct playout *playout; /* borrowed: outlives us */
	const char *text;
	const char *voice;
};

/* Starts to synthesise and play. Never NULL; when the engine refuses,
 * on_finished follows with its error. */
struct line *line_open(struct loop *loop, const struct line_options *options,
		       const struct line_events *events, void *owner);
/* Drops what has not been sent; no callback after. NULL is fine. */
void line_close(struct line **line);
bool line_has_audio(const struct line *line); /* playing, or held */
/* The words sent so far, ended at a word; heap text for mem_free(). */
char *line_heard(const struct line *line);
uint32_t line_played_ms(const struct line *line);
