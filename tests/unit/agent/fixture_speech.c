/* SPDX-License-Identifier: MIT */
#include "tests/unit/agent/fixture_speech.h"
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"

enum { RATE_MS = 8, PENDING_MAX = 8 };

struct part {
	struct synthesis base;
	struct actor *actor;
	const struct synthesis_events *events;
	void *owner;
	struct timer *timer;
	char *text;
	size_t at; /* in the text: where the next word begins */
	unsigned words;
	uint64_t samples;
};

struct ear {
	struct hearing base;
	struct actor *actor;
	const struct hearing_events *events;
	void *owner;
	struct timer *timer;
	size_t turn; /* the next one of the script */
	bool said_partial;
	struct {
		const char *text;
		uint64_t due_us;
	} pending[PENDING_MAX];
	size_t n_pending;
};

void actor_speech(int16_t *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = i % 800 >= 640
				 ? 0
				 : (int16_t)(8000 * sin(2 * M_PI * 300 *
							(double)i / 8000));
}

/* ---- speech out ---- */

static size_t word_end(const char *text, size_t at)
{
	while (text[at] == ' ')
		at++;
	while (text[at] && text[at] != ' ')
		at++;
	return at;
}

static void on_word(void *arg)
{
	struct part *part = arg;
	struct actor *actor = part->actor;
	size_t n = actor->word_ms * RATE_MS;
	const struct synthesis_events *events = part->events;
	void *owner = part->owner;
	struct speech_mark mark;
	int16_t *samples;

	if (actor->fails_after && part->words == actor->fails_after) {
		events->on_done(owner, -EIO);
		return;
	}
	if (!part->text[part->at]) {
		events->on_done(owner, 0);
		return;
	}
	part->at = word_end(part->text, part->at);
	part->samples += n;
	part->words++;
	mark = (struct speech_mark){ part->samples, part->at };
	samples = mem_new_array(n, sizeof(*samples));
	actor_speech(samples, n);
	timer_start(part->timer, actor->gap_ms, on_word, part);
	events->on_marks(owner, &mark, 1);
	events->on_audio(owner, samples, n);
	mem_free(samples);
}

static int say(struct synthesis **out, struct speech *speech,
	       const struct speech_say *request, void *owner)
{
	struct actor *actor = (struct actor *)speech;
	struct part *part;

	*out = NULL;
	if (actor->say_error)
		return actor->say_error;
	part = mem_new(sizeof(*part));
	*part = (struct part){ .base = { speech },
			       .actor = actor,
			       .events = request->events,
			       .owner = owner,
			       .timer = timer_new(actor->loop),
			       .text = mem_dup_str(request->text) };
	buffer_printf(&actor->log, "say %s\n", request->text);
	actor->open++;
	timer_start(part->timer, actor->first_ms, on_word, part);
	*out = &part->base;
	return 0;
}

static void cancel(struct synthesis **synthesis)
{
	struct part *part = (struct part *)*synthesis;

	*synthesis = NULL;
	part->actor->open--;
	timer_close(&part->timer);
	mem_free(part->text);
	mem_free(part);
}

/* ---- speech in ---- */

static int open_ear(struct hearing **out, struct speech *speech,
		    const struct hearing_events *events, void *owner)
{
	struct actor *actor = (struct actor *)speech;
	struct ear *ear = mem_new(sizeof(*ear));

	*ear = (struct ear){ .base = { speech },
			     .actor = actor,
			     .events = events,
			     .owner = owner,
			     .timer = timer_new(actor->loop) };
	actor->open++;
	*out = &ear->base;
	return 0;
}

static void hint(struct hearing *hearing, const struct speech_hint *given)
{
	struct ear *ear = (struct ear *)hearing;

	buffer_printf(&ear->actor->log, "hint %zu\n", given->n_phrases);
}

static struct actor_turn next_turn(const struct ear *ear)
{
	if (ear->turn < ear->actor->n_turns)
		return ear->actor->turns[ear->turn];
	return (struct actor_turn){ .text = "" };
}

static void feed(struct hearing *hearing, const int16_t *samples, size_t n)
{
	struct ear *ear = (struct ear *)hearing;
	struct actor_turn turn = next_turn(ear);

	assert_int_equal(n, 160);
	ear->actor->fed += n;
	if (!turn.partial || ear->said_partial ||
	    ear->actor->fed < turn.partial_ms * RATE_MS)
		return;
	ear->said_partial = true;
	ear->events->on_partial(ear->owner, turn.partial);
}

static void on_final(void *arg)
{
	struct ear *ear = arg;
	const char *text = ear->pending[0].text;
	uint64_t now_us = loop_now_us(ear->actor->loop);

	ear->n_pending--;
	memmove(ear->pending, ear->pending + 1,
		ear->n_pending * sizeof(ear->pending[0]));
	if (ear->n_pending)
		timer_start_at(ear->timer,
			       ear->pending[0].due_us > now_us
				       ? ear->pending[0].due_us
				       : now_us,
			       on_final, ear);
	ear->events->on_final(ear->owner, text, 0.9);
}

static void finish(struct hearing *hearing)
{
	struct ear *ear = (struct ear *)hearing;
	struct actor *actor = ear->actor;

	assert_true(ear->n_pending < PENDING_MAX);
	buffer_printf(&actor->log, "finish %zu ms\n", actor->fed / RATE_MS);
	actor->fed = 0;
	ear->pending[ear->n_pending].text = next_turn(ear).text;
	ear->pending[ear->n_pending].due_us =
		loop_now_us(actor->loop) + actor->final_ms * 1000ULL;
	ear->said_partial = false;
	ear->turn++;
	if (ear->n_pending++ == 0)
		timer_start(ear->timer, actor->final_ms, on_final, ear);
}

static void close_ear(struct hearing **hearing)
{
	struct ear *ear = (struct ear *)*hearing;

	*hearing = NULL;
	ear->actor->open--;
	timer_close(&ear->timer);
	mem_free(ear);
}

static void shut(struct speech *speech)
{
}

void actor_open(struct actor *actor, struct loop *loop)
{
	static const struct speech_ops ops = {
		.say = say,
		.cancel = cancel,
		.open = open_ear,
		.hint = hint,
		.feed = feed,
		.finish = finish,
		.close = close_ear,
		.shut = shut,
	};

	*actor = (struct actor){ .base = { &ops },
				 .loop = loop,
				 .word_ms = 100 };
	buffer_init(&actor->log, 1 << 20);
}

void actor_close(struct actor *actor)
{
	assert_int_equal(actor->open, 0);
	buffer_reset(&actor->log);
}
