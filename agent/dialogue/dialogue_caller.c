/* SPDX-License-Identifier: MIT */
/* What the caller does: speaks, interrupts, is silent, presses keys. */
#include <string.h>
#include "agent/dialogue/dialogue_priv.h"
#include "agent/engine/numbers.h"
#include "core/json.h"
#include "core/mem.h"
#include "media/playout.h"
#include "media/stream.h"

enum { EARLY_MS = 500 }; /* interrupt.early before, .late after */

/* The caller talks over the agent and means it. */
static void interrupt(struct dialogue *dialogue)
{
	bool is_early = line_played_ms(dialogue->line) < EARLY_MS;
	json_t *payload = json_object();

	json_put_str(payload, "message",
		     is_early ? "The caller spoke as the assistant began."
			      : "The caller spoke over the assistant.");
	if (ear_kept(dialogue->ear)[0])
		json_put_str(payload, "user_input", ear_kept(dialogue->ear));
	timeline_add(dialogue->timeline,
		     is_early ? "interrupt.early" : "interrupt.late", 0,
		     payload);
	dialogue_end_line(dialogue);
}

/* It is a turn only when the pathway waits for one, which it knows itself: the
 * rest it puts on record. */
void dialogue_deliver(struct dialogue *dialogue)
{
	char *text = ear_take(dialogue->ear);

	if (!text)
		return;
	dialogue->report.heard_caller = true;
	if (dialogue->state == DIALOGUE_GREETING) {
		dialogue_enter(dialogue, DIALOGUE_THINKING);
		pathway_start(dialogue->pathway);
	} else if (dialogue->state == DIALOGUE_LISTENING) {
		dialogue_enter(dialogue, DIALOGUE_THINKING);
	}
	pathway_hear(dialogue->pathway, text);
	mem_free(text);
}

static void on_turn_end(struct dialogue *dialogue)
{
	struct stream_report report;

	stream_report(dialogue->stream, &report);
	latency_mark(&dialogue->latency, LATENCY_TOTAL,
		     report.last_voice_in_us);
	latency_mark(&dialogue->latency, LATENCY_END_OF_TURN,
		     dialogue_now_us(dialogue));
	ear_finish(dialogue->ear, EAR_TURN);
}

/* The interruption is real. Words that are still being said follow. */
static void on_cut(struct dialogue *dialogue)
{
	playout_resume(stream_playout(dialogue->stream));
	if (dialogue->turn.state == TURN_CALLER)
		ear_begin(dialogue->ear);
	if (dialogue->state == DIALOGUE_SPEAKING && !dialogue->is_line_blocked)
		interrupt(dialogue);
}

static void on_silence(struct dialogue *dialogue)
{
	if (dialogue->state != DIALOGUE_LISTENING)
		return;
	latency_abandon(&dialogue->latency);
	dialogue_enter(dialogue, DIALOGUE_THINKING);
	pathway_silence(dialogue->pathway);
}

static void act(struct dialogue *dialogue, enum turn_action action)
{
	struct playout *playout = stream_playout(dialogue->stream);

	switch (action) {
	case TURN_NONE:
		break;
	case TURN_BEGIN:
		latency_abandon(&dialogue->latency);
		ear_begin(dialogue->ear);
		break;
	case TURN_PAUSE:
		latency_abandon(&dialogue->latency);
		playout_pause(playout);
		ear_begin(dialogue->ear);
		break;
	case TURN_CUT:
		on_cut(dialogue);
		break;
	case TURN_JUDGE:
		ear_finish(dialogue->ear, EAR_JUDGE);
		break;
	case TURN_RESUME:
		playout_resume(playout);
		ear_finish(dialogue->ear, EAR_DROP);
		break;
	case TURN_END:
		on_turn_end(dialogue);
		break;
	case TURN_SILENCE:
		on_silence(dialogue);
		break;
	}
}

/* The turn's wait ends with the first frame that somebody can hear. */
static void watch_latency(struct dialogue *dialogue)
{
	struct stream_report report;

	if (!dialogue->line || !latency_is_due(&dialogue->latency))
		return;
	stream_report(dialogue->stream, &report);
	if (report.last_voice_out_us)
		latency_finish(&dialogue->latency, report.last_voice_out_us);
}

void dialogue_frame(struct dialogue *dialogue, const int16_t *samples,
		    bool is_voice)
{
	struct turn_frame frame = {
		.is_voice = is_voice,
		.is_agent = dialogue->line && line_has_audio(dialogue->line),
		.is_blocked = dialogue->is_line_blocked,
		.is_listening = dialogue->state == DIALOGUE_LISTENING &&
				!ear_is_busy(dialogue->ear),
	};

	if (dialogue->state == DIALOGUE_OVER)
		return;
	ear_frame(dialogue->ear, samples);
	watch_latency(dialogue);
	act(dialogue, turn_on_frame(&dialogue->turn, &frame));
}

/* "four one five" while three digits are expected: no need to wait for more. */
static bool has_all_digits(const char *text, unsigned expected)
{
	struct words words;
	struct number number;
	size_t digits = 0, at = 0;

	words_init(&words, text);
	while (number_find(&number, &words, at)) {
		digits += strlen(number.digits);
		at = number.first + number.n;
	}
	words_reset(&words);
	return digits >= expected;
}

static void on_partial(void *owner, const char *text)
{
	struct dialogue *dialogue = owner;
	struct turn_settings settings = dialogue->turn.settings;

	turn_on_words(&dialogue->turn, text);
	if (!dialogue->digits || !has_all_digits(text, dialogue->digits))
		return;
	dialogue->digits = 0;
	settings.end_ms = DIALOGUE_END_MS;
	turn_set(&dialogue->turn, &settings);
}

static void on_words(void *owner, const char *text, enum ear_purpose purpose)
{
	struct dialogue *dialogue = owner;
	bool is_over_agent = dialogue->state == DIALOGUE_SPEAKING;
	enum turn_action action = TURN_NONE;

	if (dialogue->state == DIALOGUE_OVER)
		return;
	latency_mark(&dialogue->latency, LATENCY_RECOGNISER,
		     dialogue_now_us(dialogue));
	if (purpose == EAR_JUDGE)
		action = turn_on_judged(&dialogue->turn, text);
	if (purpose == EAR_JUDGE && is_over_agent &&
	    turn_classify(text) == WORDS_BACKCHANNEL)
		text = "";
	if (text[0])
		ear_keep(dialogue->ear, text);
	if (!ear_kept(dialogue->ear)[0])
		latency_abandon(&dialogue->latency);
	act(dialogue, action);
	dialogue_deliver(dialogue);
}

static void cut_for_key(struct dialogue *dialogue)
{
	playout_resume(stream_playout(dialogue->stream));
	dialogue_end_line(dialogue);
}

const struct ear_events dialogue_ear_events = {
	.on_partial = on_partial,
	.on_words = on_words,
};

/* A key is never an accident: it ends the line, unless keys do not count. */
void dialogue_digit(struct dialogue *dialogue, char digit)
{
	if (dialogue->state == DIALOGUE_OVER)
		return;
	dialogue->report.heard_caller = true;
	if (!dialogue->ignores_digits) {
		latency_abandon(&dialogue->latency);
		if (dialogue->state == DIALOGUE_GREETING) {
			dialogue_enter(dialogue, DIALOGUE_THINKING);
			pathway_start(dialogue->pathway);
		} else if (dialogue->state == DIALOGUE_LISTENING) {
			dialogue_enter(dialogue, DIALOGUE_THINKING);
		} else if (dialogue->line && !dialogue->is_line_blocked) {
			cut_for_key(dialogue);
		}
	}
	pathway_press(dialogue->pathway, digit);
}
