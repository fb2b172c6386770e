/* SPDX-License-Identifier: MIT */
/* tests/unit/agent/fixture_talk.h - a stream of ours and one of a caller on a
 * simulated loop, joined without SIP, with a speech engine that plays a part;
 * and on top of it a dialogue. JSON is written with ' for " here. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "agent/dialogue/dialogue.h"
#include "agent/pathway/timeline.h"
#include "core/fetch.h"
#include "core/loop.h"
#include "core/work.h"
#include "media/playout.h"
#include "media/stream.h"
#include "tests/unit/agent/fixture_speech.h"

struct talk {
	struct loop *loop;
	struct work *work;
	struct media *media;
	struct stream *stream; /* ours */
	struct stream *caller;
	struct actor actor;
	unsigned caller_frames, caller_voiced; /* heard of us */
	/* With a dialogue. */
	struct model *model;
	struct fetch *fetch;
	struct timeline *timeline;
	struct dialogue *dialogue;
	struct buffer events; /* the timeline: "type {payload}" each a line */
	const char *ended; /* why; NULL: not yet */
};

int talk_setup(void **state);
int talk_teardown(void **state);
void talk_run(struct talk *talk, uint64_t ms);
/* The caller speaks for so long, from now on. */
void talk_speak(struct talk *talk, unsigned ms);
void talk_press(struct talk *talk, const char *digits);

struct talk_settings {
	const char *nodes, *edges;
	struct dialogue_settings dialogue;
	bool ignore_digits;
};
void talk_open(struct talk *talk, const struct talk_settings *settings);
/* Runs until an event of the type with this text in its payload has come (NULL:
 * any); fails the test after 30 s. */
void talk_until(struct talk *talk, const char *type, const char *text);
unsigned talk_count(const struct talk *talk, const char *what);
#define expect_event(talk, what)                                               \
	do {                                                                   \
		if (!strstr(buffer_str(&(talk)->events), what))                \
			fail_msg("%s\nis not within\n%s", what,                \
				 buffer_str(&(talk)->events));                 \
	} while (0)
#define expect_no_event(talk, what)                                            \
	do {                                                                   \
		if (strstr(buffer_str(&(talk)->events), what))                 \
			fail_msg("%s\nis within\n%s", what,                    \
				 buffer_str(&(talk)->events));                 \
	} while (0)
