/* SPDX-License-Identifier: MIT */
#include "tools/callee/party.h"

#include <stdio.h>
#include <string.h>
#include "core/mem.h"
#include "media/playout.h"
#include "media/stream.h"

enum {
	FRAME_MS = 20,
	QUIET_MS = 900, /* the other side has finished */
	PREROLL_FRAMES = 15,
	VOICE_GAP_MS = 700 /* ends an utterance for the recogniser */
};

struct party {
	struct party_options options;
	struct leg *leg; /* owned */
	struct hearing *hearing; /* owned */
	struct synthesis *synthesis; /* owned; NULL when not speaking */
	size_t step;
	uint32_t quiet_ms; /* since the other side's last voice */
	bool has_heard; /* it spoke since our last step */
	bool is_feeding;
	int16_t ring[PREROLL_FRAMES][STREAM_FRAME_SAMPLES];
	unsigned at;
	party_end_fn *on_end;
	void *owner;
};

static void say_line(const char *who, const char *text)
{
	printf("%s: %s\n", who, text);
	fflush(stdout);
}

/* ---- hearing ---- */

static void on_partial(void *owner, const char *text)
{
	(void)owner;
	(void)text;
}

static void on_final(void *owner, const char *text, double confidence)
{
	(void)owner;
	(void)confidence;
	if (text[0])
		say_line("heard", text);
}

static void hear(struct party *party, const int16_t *samples, bool is_voice)
{
	if (is_voice && !party->is_feeding) {
		party->is_feeding = true;
		for (unsigned i = 0; i < PREROLL_FRAMES; i++)
			hearing_feed(
				party->hearing,
				party->ring[(party->at + i) % PREROLL_FRAMES],
				STREAM_FRAME_SAMPLES);
	}
	memcpy(party->ring[party->at], samples, sizeof(party->ring[0]));
	party->at = (party->at + 1) % PREROLL_FRAMES;
	if (!party->is_feeding)
		return;
	hearing_feed(party->hearing, samples, STREAM_FRAME_SAMPLES);
	if (party->quiet_ms < VOICE_GAP_MS)
		return;
	party->is_feeding = false;
	hearing_finish(party->hearing);
}

/* ---- the script ---- */

static void on_audio(void *owner, const int16_t *samples, size_t n)
{
	struct party *party = owner;

	playout_queue(stream_playout(leg_stream(party->leg)), samples, n);
}

static void on_marks(void *owner, const struct speech_mark *marks, size_t n)
{
	(void)owner;
	(void)marks;
	(void)n;
}

static void on_said(void *owner, int err)
{
	struct party *party = owner;

	synthesis_cancel(&party->synthesis);
	if (err)
		say_line("error", "the voice could not be synthesised");
}

static void say(struct party *party, const char *text)
{
	static const struct synthesis_events events = { on_audio, on_marks,
							on_said };
	struct speech_say line = { .text = text,
				   .voice = party->options.voice,
				   .events = &events };

	say_line("say", text);
	speech_say(&party->synthesis, party->options.speech, &line, party);
}

static void run_step(struct party *party)
{
	const struct step *step;

	if (party->step == party->options.script->n)
		return;
	step = &party->options.script->steps[party->step++];
	party->has_heard = false;
	switch (step->kind) {
	case STEP_SAY:
		say(party, step->text);
		break;
	case STEP_PRESS:
		say_line("press", step->text);
		stream_send_digits(leg_stream(party->leg), step->text);
		break;
	case STEP_WAIT:
		say_line("wait", "listening on");
		break;
	case STEP_HANGUP:
		say_line("hangup", "");
		leg_hangup(party->leg, 0, NULL);
		break;
	}
}

static void on_frame(void *owner, const int16_t *samples, bool is_voice)
{
	struct party *party = owner;
	struct playout *playout = stream_playout(leg_stream(party->leg));

	party->quiet_ms = is_voice ? 0 : party->quiet_ms + FRAME_MS;
	party->has_heard |= is_voice;
	hear(party, samples, is_voice);
	if (!party->synthesis && !playout_queued(playout) && party->has_heard &&
	    party->quiet_ms >= QUIET_MS)
		run_step(party);
}

static void on_digit(void *owner, char digit)
{
	const char text[] = { digit, 0 };

	(void)owner;
	say_line("digit", text);
}

static void on_up(void *owner)
{
	struct party *party = owner;

	say_line("up", "the call is answered");
	if (party->options.record &&
	    stream_record(leg_stream(party->leg), party->options.record))
		say_line("error", "cannot record");
}

static void on_recording_failed(void *owner, const char *why)
{
	(void)owner;
	say_line("error", why);
}

static void on_leg_end(void *owner, const struct leg_end *end)
{
	struct party *party = owner;

	say_line("end", end->message ? end->message : end->status);
	party->on_end(party->owner, end);
}

int party_open(struct party **out, const struct party_options *options,
	       const struct leg_incoming *incoming, party_end_fn *on_end,
	       void *owner)
{
	static const struct leg_events leg_events = {
		.on_up = on_up,
		.on_frame = on_frame,
		.on_digit = on_digit,
		.on_recording_failed = on_recording_failed,
		.on_end = on_leg_end,
	};
	static const struct hearing_events hearing_events = { on_partial,
							      on_final };
	struct party *party = mem_new(sizeof(*party));
	int status;

	party->options = *options;
	party->on_end = on_end;
	party->owner = owner;
	status = hearing_open(&party->hearing, options->speech, &hearing_events,
			      party)
			 ? 500
			 : 0;
	if (!status)
		status = leg_take(&party->leg, &options->env, incoming,
				  &leg_events, party);
	if (status)
		party_close(&party);
	*out = party;
	return status;
}

void party_close(struct party **party)
{
	if (!*party)
		return;
	synthesis_cancel(&(*party)->synthesis);
	hearing_close(&(*party)->hearing);
	leg_close(&(*party)->leg);
	mem_free(*party);
	*party = NULL;
}
