/* SPDX-License-Identifier: MIT */
/* agent/engine/speech.h - speech out and speech in as one interface with back
 * ends behind it: flite and pocketsphinx in the pool, others by configuration,
 * a scripted one in tests. Audio is 16-bit mono at 8 kHz. Every callback runs
 * on the loop and never inside a call into the engine. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hearing;
struct loop;
struct speech;
struct synthesis;
struct work;

/* Once `samples` of an utterance were played, the first `text_bytes` of its
 * text have been said: one mark at the end of each word. */
struct speech_mark {
	uint64_t samples;
	size_t text_bytes;
};

struct synthesis_events {
	/* The next piece, in order; marks count from the utterance's start. */
	void (*on_audio)(void *owner, const int16_t *samples, size_t n);
	void (*on_marks)(void *owner, const struct speech_mark *marks,
			 size_t n);
	/* 0, or a negative errno: nothing more comes. Once. */
	void (*on_done)(void *owner, int err);
};

struct hearing_events {
	/* What was understood so far in this turn; may change. */
	void (*on_partial)(void *owner, const char *text);
	/* The turn's words, "" when none; confidence 0..1. Follows each
	 * hearing_finish() exactly once. */
	void (*on_final)(void *owner, const char *text, double confidence);
};

enum speech_expect { SPEECH_ANY, SPEECH_DIGITS, SPEECH_YES_NO };

/* What the node expects to hear, to bias recognition. */
struct speech_hint {
	enum speech_expect expect;
	const char *const *phrases; /* labels, examples, keywords */
	size_t n_phrases;
};

struct speech_say {
	const char *text; /* UTF-8, copied */
	const char *voice; /* unknown names: the default voice */
	const struct synthesis_events *events;
};

/* A back end; each member as the function of that name below. */
struct speech_ops {
	int (*say)(struct synthesis **out, struct speech *speech,
		   const struct speech_say *say, void *owner);
	void (*cancel)(struct synthesis **synthesis);
	int (*open)(struct hearing **out, struct speech *speech,
		    const struct hearing_events *events, void *owner);
	void (*hint)(struct hearing *hearing, const struct speech_hint *hint);
	void (*feed)(struct hearing *hearing, const int16_t *samples, size_t n);
	void (*finish)(struct hearing *hearing);
	void (*close)(struct hearing **hearing);
	void (*shut)(struct speech *speech);
};

struct speech {
	const struct speech_ops *ops;
};
struct hearing {
	struct speech *speech; /* borrowed: outlives us */
};
struct synthesis {
	struct speech *speech; /* borrowed: outlives us */
};

/* Starts to synthesise; the owner may cancel at any time, also inside a
 * callback. *out is cleared by synthesis_cancel() alone. */
int speech_say(struct synthesis **out, struct speech *speech,
	       const struct speech_say *say, void *owner);
void synthesis_cancel(struct synthesis **synthesis); /* NULL is fine */

/* One per call. Feed frames from voice start on, with some 200 ms before it;
 * finish at the end of the turn. */
int hearing_open(struct hearing **out, struct speech *speech,
		 const struct hearing_events *events, void *owner);
void hearing_hint(struct hearing *hearing, const struct speech_hint *hint);
void hearing_feed(struct hearing *hearing, const int16_t *samples, size_t n);
void hearing_finish(struct hearing *hearing);
void hearing_close(struct hearing **hearing); /* no callback after */

/* flite and pocketsphinx; recognisers 0: cores + 1. Models load in the pool. */
int speech_open_embedded(struct speech **out, struct loop *loop,
			 struct work *work, unsigned recognisers);
void speech_close(struct speech **speech);
