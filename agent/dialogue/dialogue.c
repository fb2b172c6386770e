/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>
#include "agent/dialogue/dialogue_priv.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "media/playout.h"
#include "media/stream.h"

enum {
	DIGITS_END_MS = 2500, /* while more digits are expected */
	SILENCE_MS = 8000,
	GREETING_WAIT_MS = 5000,
	GREETING_POLL_MS = 500, /* after it, while the caller speaks on */
	LINGER_MS = 200 /* the last word is still on its way */
};

static const char *const state_names[] = { "greeting", "thinking", "speaking",
					   "listening", "over" };

void dialogue_enter(struct dialogue *dialogue, enum dialogue_state next)
{
	static const unsigned allowed[] = {
		[DIALOGUE_GREETING] =
			1 << DIALOGUE_THINKING | 1 << DIALOGUE_OVER,
		[DIALOGUE_THINKING] = 1 << DIALOGUE_SPEAKING |
				      1 << DIALOGUE_LISTENING |
				      1 << DIALOGUE_OVER,
		[DIALOGUE_SPEAKING] =
			1 << DIALOGUE_THINKING | 1 << DIALOGUE_OVER,
		[DIALOGUE_LISTENING] =
			1 << DIALOGUE_THINKING | 1 << DIALOGUE_OVER,
		[DIALOGUE_OVER] = 0,
	};

	assert(allowed[dialogue->state] & 1u << next);
	log_debug("call", dialogue->call_id, "dialogue %s -> %s",
		  state_names[dialogue->state], state_names[next]);
	dialogue->state = next;
	if (next == DIALOGUE_THINKING)
		timer_stop(dialogue->timer);
}

uint64_t dialogue_now_us(const struct dialogue *dialogue)
{
	return loop_now_us(dialogue->loop);
}

/* ---- the agent speaks ---- */

void dialogue_end_line(struct dialogue *dialogue)
{
	char *heard = line_heard(dialogue->line);

	line_close(&dialogue->line);
	dialogue_enter(dialogue, DIALOGUE_THINKING);
	pathway_spoken(dialogue->pathway, heard);
	mem_free(heard);
}

static void on_line_audio(void *owner)
{
	struct dialogue *dialogue = owner;

	latency_mark(&dialogue->latency, LATENCY_SYNTHESISER,
		     dialogue_now_us(dialogue));
}

static void on_line_started(void *owner)
{
	struct dialogue *dialogue = owner;

	latency_mark(&dialogue->latency, LATENCY_PLAYOUT,
		     dialogue_now_us(dialogue));
}

static void on_line_finished(void *owner, int err)
{
	struct dialogue *dialogue = owner;

	if (err)
		log_warn("call", dialogue->call_id,
			 "speech synthesis failed: %s", strerror(-err));
	dialogue_end_line(dialogue);
}

static void on_say(void *owner, const struct pathway_line *said)
{
	static const struct line_events events = {
		.on_first_audio = on_line_audio,
		.on_started = on_line_started,
		.on_finished = on_line_finished,
	};
	struct dialogue *dialogue = owner;
	struct line_options options = {
		.speech = dialogue->speech,
		.playout = stream_playout(dialogue->stream),
		.text = said->text,
		.voice = dialogue->voice,
	};

	dialogue_enter(dialogue, DIALOGUE_SPEAKING);
	dialogue->is_line_blocked = said->is_uninterruptible ||
				    dialogue->settings.block_interruptions;
	turn_on_line(&dialogue->turn);
	latency_mark(&dialogue->latency, LATENCY_MODEL,
		     dialogue_now_us(dialogue));
	dialogue->line = line_open(dialogue->loop, &options, &events, dialogue);
}

/* ---- the pathway asks ---- */

/* The call's own threshold is adapted unless it was chosen. */
static struct turn_settings settings_of(const struct dialogue *dialogue,
					const struct pathway_expect *expect)
{
	uint32_t own_ms = dialogue->settings.end_ms;
	struct turn_settings settings = { .end_ms = own_ms ? own_ms
							   : DIALOGUE_END_MS,
					  .silence_ms = SILENCE_MS };

	settings.is_fixed = settings.end_ms != DIALOGUE_END_MS;
	if (expect->hint.expect == SPEECH_DIGITS && expect->digits > 1) {
		settings.end_ms = DIGITS_END_MS;
		settings.is_fixed = true;
	}
	if (expect->threshold_ms) {
		settings.end_ms = expect->threshold_ms;
		settings.is_fixed = true;
	}
	return settings;
}

static void on_listen(void *owner, const struct pathway_expect *expect)
{
	struct dialogue *dialogue = owner;
	struct turn_settings settings = settings_of(dialogue, expect);

	if (dialogue->state == DIALOGUE_LISTENING)
		return;
	dialogue_enter(dialogue, DIALOGUE_LISTENING);
	dialogue->digits =
		settings.end_ms == DIGITS_END_MS ? expect->digits : 0;
	turn_set(&dialogue->turn, &settings);
	ear_hint(dialogue->ear, &expect->hint);
	dialogue_deliver(dialogue);
}

static void report_end(void *arg)
{
	struct dialogue *dialogue = arg;

	dialogue->report.on_end(dialogue->report.owner, dialogue->report.why);
}

static void on_end(void *owner, const char *why)
{
	struct dialogue *dialogue = owner;

	line_close(&dialogue->line);
	dialogue_enter(dialogue, DIALOGUE_OVER);
	dialogue->report.why = why;
	timer_start(dialogue->timer, LINGER_MS, report_end, dialogue);
}

static void on_no_greeting(void *arg)
{
	struct dialogue *dialogue = arg;

	if (ear_is_busy(dialogue->ear)) {
		timer_start(dialogue->timer, GREETING_POLL_MS, on_no_greeting,
			    dialogue);
		return;
	}
	dialogue_enter(dialogue, DIALOGUE_THINKING);
	pathway_start(dialogue->pathway);
}

static void on_transfer(void *owner, const char *number)
{
	struct dialogue *dialogue = owner;
	const struct dialogue_report *report = &dialogue->report;

	if (!report->on_transfer || report->on_transfer(report->owner, number))
		pathway_transfer_failed(dialogue->pathway);
}

void dialogue_transfer_failed(struct dialogue *dialogue)
{
	if (dialogue->state != DIALOGUE_OVER)
		pathway_transfer_failed(dialogue->pathway);
}

void dialogue_move(struct dialogue *dialogue, struct stream *stream)
{
	dialogue->stream = stream;
}

/* ---- life ---- */

static int open_parts(struct dialogue *dialogue,
		      const struct dialogue_options *options)
{
	static const struct pathway_events pathway_events = {
		.on_say = on_say,
		.on_listen = on_listen,
		.on_transfer = on_transfer,
		.on_end = on_end,
	};
	int err = pathway_open(&dialogue->pathway, &options->pathway,
			       &pathway_events, dialogue);

	return err ? err
		   : ear_open(&dialogue->ear, options->speech,
			      &dialogue_ear_events, dialogue);
}

static struct dialogue *dialogue_new(const struct dialogue_options *options)
{
	struct dialogue *dialogue = mem_new(sizeof(*dialogue));
	struct turn_settings turn = { .end_ms = DIALOGUE_END_MS,
				      .silence_ms = SILENCE_MS };

	dialogue->loop = options->loop;
	dialogue->speech = options->speech;
	dialogue->stream = options->stream;
	dialogue->timeline = options->pathway.timeline;
	dialogue->timer = timer_new(options->loop);
	dialogue->call_id = mem_dup_str(options->call_id);
	dialogue->voice = mem_dup_str(options->settings.voice);
	dialogue->settings = options->settings;
	dialogue->settings.voice = dialogue->voice;
	dialogue->ignores_digits = options->pathway.ignore_digits;
	turn_init(&dialogue->turn, &turn);
	latency_init(&dialogue->latency);
	return dialogue;
}

int dialogue_open(struct dialogue **out, const struct dialogue_options *options,
		  dialogue_end_fn *on_over, void *owner)
{
	struct dialogue *dialogue = dialogue_new(options);
	int err = open_parts(dialogue, options);

	*out = dialogue;
	if (err) {
		dialogue_close(out);
		return err;
	}
	dialogue->report.on_end = on_over;
	dialogue->report.on_transfer = options->on_transfer;
	dialogue->report.owner = owner;
	if (options->settings.wait_for_greeting) {
		dialogue->state = DIALOGUE_GREETING;
		timer_start(dialogue->timer, GREETING_WAIT_MS, on_no_greeting,
			    dialogue);
	} else {
		dialogue->state = DIALOGUE_THINKING;
		pathway_start(dialogue->pathway);
	}
	return 0;
}

void dialogue_stop(struct dialogue *dialogue)
{
	char *heard = NULL;

	if (dialogue->state == DIALOGUE_OVER)
		return;
	if (dialogue->line)
		heard = line_heard(dialogue->line);
	line_close(&dialogue->line);
	pathway_stop(dialogue->pathway, heard);
	mem_free(heard);
	dialogue_enter(dialogue, DIALOGUE_OVER);
	timer_stop(dialogue->timer);
}

void dialogue_close(struct dialogue **closing)
{
	struct dialogue *dialogue = *closing;

	if (!dialogue)
		return;
	if (dialogue->pathway)
		dialogue_stop(dialogue);
	ear_close(&dialogue->ear);
	pathway_close(&dialogue->pathway);
	timer_close(&dialogue->timer);
	latency_reset(&dialogue->latency);
	mem_free(dialogue->call_id);
	mem_free(dialogue->voice);
	mem_free(dialogue);
	*closing = NULL;
}

const struct pathway *dialogue_pathway(const struct dialogue *dialogue)
{
	return dialogue->pathway;
}

const struct latency *dialogue_latency(const struct dialogue *dialogue)
{
	return &dialogue->latency;
}

bool dialogue_heard_caller(const struct dialogue *dialogue)
{
	return dialogue->report.heard_caller;
}
