/* SPDX-License-Identifier: MIT */
#include "agent/dialogue/line.h"

#include <string.h>
#include "core/mem.h"
#include "core/slice.h"
#include "core/timer.h"
#include "media/playout.h"
#include "media/stream.h"

struct line {
	struct playout *playout; /* borrowed: outlives us */
	struct synthesis *synthesis; /* owned; NULL when done */
	struct timer *timer; /* owned: posts on_finished */
	char *text; /* owned */
	struct speech_mark *marks; /* owned */
	size_t n_marks;
	const struct line_events *events;
	void *owner;
	bool is_synthesised;
	bool has_audio;
	bool is_started;
	int error;
};

static void post_finished(void *arg)
{
	struct line *line = arg;

	line->events->on_finished(line->owner, line->error);
}

/* Said in full once nothing more comes and nothing waits. */
static void check_finished(struct line *line)
{
	if (line->is_synthesised && !playout_queued(line->playout) &&
	    !timer_is_armed(line->timer))
		timer_start(line->timer, 0, post_finished, line);
}

static void on_audio(void *owner, const int16_t *samples, size_t n)
{
	struct line *line = owner;

	if (playout_queue(line->playout, samples, n))
		return; /* over ten minutes: what fits is said */
	if (line->has_audio)
		return;
	line->has_audio = true;
	line->events->on_first_audio(line->owner);
}

static void on_marks(void *owner, const struct speech_mark *marks, size_t n)
{
	struct line *line = owner;

	line->marks =
		mem_resize(line->marks, (line->n_marks + n) * sizeof(*marks));
	memcpy(line->marks + line->n_marks, marks, n * sizeof(*marks));
	line->n_marks += n;
}

static void on_done(void *owner, int err)
{
	struct line *line = owner;

	line->is_synthesised = true;
	line->error = err;
	check_finished(line);
}

static void on_drained(void *owner)
{
	check_finished(owner);
}

static void on_started(void *owner)
{
	struct line *line = owner;

	if (line->is_started)
		return;
	line->is_started = true;
	line->events->on_started(line->owner);
}

struct line *line_open(struct loop *loop, const struct line_options *options,
		       const struct line_events *events, void *owner)
{
	static const struct synthesis_events synthesis_events = {
		.on_audio = on_audio,
		.on_marks = on_marks,
		.on_done = on_done,
	};
	static const struct playout_events playout_events = {
		.on_drained = on_drained,
		.on_started = on_started,
	};
	struct line *line = mem_new(sizeof(*line));
	struct speech_say say = { .text = options->text,
				  .voice = options->voice,
				  .events = &synthesis_events };

	*line = (struct line){ .playout = options->playout,
			       .timer = timer_new(loop),
			       .text = mem_dup_str(options->text),
			       .events = events,
			       .owner = owner };
	playout_mark(line->playout);
	playout_attach(line->playout, &playout_events, line);
	line->error = speech_say(&line->synthesis, options->speech, &say, line);
	if (line->error) {
		line->is_synthesised = true;
		check_finished(line);
	}
	return line;
}

void line_close(struct line **line)
{
	if (!*line)
		return;
	synthesis_cancel(&(*line)->synthesis);
	playout_attach((*line)->playout, NULL, NULL);
	playout_drop((*line)->playout);
	timer_close(&(*line)->timer);
	mem_free((*line)->text);
	mem_free((*line)->marks);
	mem_free(*line);
	*line = NULL;
}

bool line_has_audio(const struct line *line)
{
	return line->has_audio;
}

char *line_heard(const struct line *line)
{
	uint64_t sent = playout_position(line->playout);
	size_t bytes = 0;

	if (line->is_synthesised && !line->error &&
	    !playout_queued(line->playout))
		return mem_dup_str(line->text);
	for (size_t i = 0; i < line->n_marks; i++) {
		if (line->marks[i].samples <= sent)
			bytes = line->marks[i].text_bytes;
	}
	return slice_dup(slice_trim(slice_make(line->text, bytes)));
}

uint32_t line_played_ms(const struct line *line)
{
	return (uint32_t)(playout_position(line->playout) * 1000 /
			  STREAM_RATE_HZ);
}
