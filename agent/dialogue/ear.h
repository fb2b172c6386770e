/* SPDX-License-Identifier: MIT */
/* agent/dialogue/ear.h - the caller as far as heard: keeps the last 300 ms, for
 * the voice detector is sure late, feeds the recogniser while a turn lasts and
 * gathers the words of a turn that it hands over in pieces. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "agent/engine/speech.h"

struct ear;

enum ear_purpose {
	EAR_TURN, /* the words are the caller's turn */
	EAR_JUDGE, /* they decide whether it was one */
	EAR_DROP /* it was none */
};

struct ear_events {
	void (*on_partial)(void *owner, const char *text);
	/* Of the stretch that ear_finish() ended; "" when none were said. Not
	 * called for EAR_DROP. */
	void (*on_words)(void *owner, const char *text,
			 enum ear_purpose purpose);
};

int ear_open(struct ear **out, struct speech *speech,
	     const struct ear_events *events, void *owner);
void ear_close(struct ear **ear);
void ear_hint(struct ear *ear, const struct speech_hint *hint);
void ear_frame(struct ear *ear, const int16_t *samples); /* each 20 ms */
void ear_begin(struct ear *ear); /* feeds, from 300 ms ago; or goes on */
void ear_finish(struct ear *ear, enum ear_purpose purpose);
void ear_keep(struct ear *ear, const char *text); /* belongs to the turn */
const char *ear_kept(const struct ear *ear);
/* Between ear_begin() and the last of its words. */
bool ear_is_busy(const struct ear *ear);
/* The turn's words, heap text; NULL while it is busy or when there are none. */
char *ear_take(struct ear *ear);
