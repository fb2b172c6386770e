/* SPDX-License-Identifier: MIT */
#include "agent/dialogue/ear.h"

#include <assert.h>
#include <string.h>
#include "core/buffer.h"
#include "core/mem.h"
#include "media/stream.h"

enum { PAST_FRAMES = 15, TEXT_MAX_BYTES = 16 * 1024, PENDING_MAX = 1024 };

struct ear {
	struct hearing *hearing; /* owned */
	const struct ear_events *events;
	void *owner;
	int16_t past[PAST_FRAMES][STREAM_FRAME_SAMPLES];
	unsigned at; /* the oldest */
	bool is_feeding;
	struct buffer pending; /* a purpose for each final to come */
	struct buffer text;
};

static void on_partial(void *owner, const char *text)
{
	struct ear *ear = owner;

	if (ear->is_feeding)
		ear->events->on_partial(ear->owner, text);
}

static void on_final(void *owner, const char *text, double confidence)
{
	struct ear *ear = owner;
	enum ear_purpose purpose;

	assert(ear->pending.len);
	purpose = (enum ear_purpose)ear->pending.ptr[0];
	buffer_consume(&ear->pending, 1);
	if (purpose != EAR_DROP)
		ear->events->on_words(ear->owner, text, purpose);
}

int ear_open(struct ear **out, struct speech *speech,
	     const struct ear_events *events, void *owner)
{
	static const struct hearing_events hearing_events = {
		.on_partial = on_partial,
		.on_final = on_final,
	};
	struct ear *ear = mem_new(sizeof(*ear));
	int err;

	ear->events = events;
	ear->owner = owner;
	buffer_init(&ear->pending, PENDING_MAX);
	buffer_init(&ear->text, TEXT_MAX_BYTES);
	err = hearing_open(&ear->hearing, speech, &hearing_events, ear);
	if (err)
		ear_close(&ear);
	*out = ear;
	return err;
}

void ear_close(struct ear **ear)
{
	if (!*ear)
		return;
	hearing_close(&(*ear)->hearing);
	buffer_reset(&(*ear)->pending);
	buffer_reset(&(*ear)->text);
	mem_free(*ear);
	*ear = NULL;
}

void ear_hint(struct ear *ear, const struct speech_hint *hint)
{
	hearing_hint(ear->hearing, hint);
}

void ear_frame(struct ear *ear, const int16_t *samples)
{
	memcpy(ear->past[ear->at], samples, sizeof(ear->past[0]));
	ear->at = (ear->at + 1) % PAST_FRAMES;
	if (ear->is_feeding)
		hearing_feed(ear->hearing, samples, STREAM_FRAME_SAMPLES);
}

void ear_begin(struct ear *ear)
{
	if (ear->is_feeding)
		return;
	ear->is_feeding = true;
	for (unsigned i = 0; i < PAST_FRAMES; i++)
		hearing_feed(ear->hearing,
			     ear->past[(ear->at + i) % PAST_FRAMES],
			     STREAM_FRAME_SAMPLES);
}

void ear_finish(struct ear *ear, enum ear_purpose purpose)
{
	if (!ear->is_feeding || ear->pending.len == PENDING_MAX)
		return;
	ear->is_feeding = false;
	buffer_add_char(&ear->pending, (char)purpose);
	hearing_finish(ear->hearing);
}

void ear_keep(struct ear *ear, const char *text)
{
	if (ear->text.len + strlen(text) + 1 > TEXT_MAX_BYTES)
		return;
	if (ear->text.len)
		buffer_add_char(&ear->text, ' ');
	buffer_add_str(&ear->text, text);
}

const char *ear_kept(const struct ear *ear)
{
	return buffer_str(&ear->text);
}

bool ear_is_busy(const struct ear *ear)
{
	return ear->is_feeding || ear->pending.len;
}

char *ear_take(struct ear *ear)
{
	if (ear_is_busy(ear) || !ear->text.len)
		return NULL;
	return buffer_take(&ear->text);
}
