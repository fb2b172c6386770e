/* SPDX-License-Identifier: MIT */
#include "media/playout_priv.h"
#include <errno.h>
#include <string.h>
#include "core/mem.h"
#include "core/timer.h"
#include "media/prefetch.h"

enum { SAMPLES_MAX = 10 * 60 * 8000 };

struct chunk {
	struct chunk *next; /* owned */
	size_t n;
	int16_t samples[];
};

struct playout {
	struct timer *timer; /* owned; posts what happened */
	const struct playout_events *events; /* borrowed; NULL: nobody asks */
	void *owner;
	struct chunk *first, *last; /* first owned, and its tail */
	size_t used; /* samples of first */
	size_t queued;
	uint64_t sent; /* samples in all */
	uint64_t mark; /* value of sent that counts as 0 */
	bool has_ramp;
	bool is_paused;
	bool is_speaking; /* the last frame was not silence */
	bool started, drained; /* to be told */
	int16_t ramp[PLAYOUT_RAMP]; /* tail of what was dropped */
};

void playout_open(struct playout **out, struct loop *loop)
{
	struct playout *playout = mem_new(sizeof(*playout));

	playout->timer = timer_new(loop);
	*out = playout;
}

static void drop_chunk(struct playout *playout)
{
	struct chunk *chunk = playout->first;

	playout->first = chunk->next;
	playout->used = 0;
	if (!playout->first)
		playout->last = NULL;
	mem_free(chunk);
}

void playout_close(struct playout **playout)
{
	if (!*playout)
		return;
	timer_close(&(*playout)->timer);
	while ((*playout)->first)
		drop_chunk(*playout);
	mem_free(*playout);
	*playout = NULL;
}

/* One event at a time, for its owner may close the stream in it. */
static void on_timer(void *arg)
{
	struct playout *playout = arg;
	const struct playout_events *events = playout->events;
	bool started = playout->started;
	bool drained = playout->drained && playout->queued == 0;

	playout->started = false;
	if (started && drained)
		timer_start(playout->timer, 0, on_timer, playout);
	else
		playout->drained = false;
	if (!events)
		return;
	if (started) {
		if (events->on_started)
			events->on_started(playout->owner);
	} else if (drained && events->on_drained) {
		events->on_drained(playout->owner);
	}
}

static void tell(struct playout *playout, bool *what)
{
	*what = true;
	if (!timer_is_armed(playout->timer))
		timer_start(playout->timer, 0, on_timer, playout);
}

/* Copies up to n samples off the queue; returns how many there were. */
static size_t copy_out(struct playout *playout, int16_t *out, size_t n)
{
	size_t done = 0;

	while (done < n && playout->first) {
		struct chunk *chunk = playout->first;
		size_t part = chunk->n - playout->used;

		if (part > n - done)
			part = n - done;
		memcpy(out + done, chunk->samples + playout->used,
		       part * sizeof(*out));
		playout->used += part;
		done += part;
		if (playout->used == chunk->n)
			drop_chunk(playout);
	}
	playout->queued -= done;
	return done;
}

void playout_prefetch(const struct playout *playout)
{
	prefetch_bytes(playout, offsetof(struct playout, ramp));
}

void playout_prefetch_frame(const struct playout *playout)
{
	const struct chunk *chunk = playout->first;

	if (!chunk)
		return;
	prefetch_bytes(chunk, sizeof(*chunk));
	prefetch_bytes(chunk->samples + playout->used,
		       PLAYOUT_FRAME * sizeof(chunk->samples[0]));
}

/* What is sent when there is nothing to say; false: silence. */
static bool take_rest(struct playout *playout, int16_t out[PLAYOUT_FRAME])
{
	bool had_ramp = playout->has_ramp;

	memset(out, 0, PLAYOUT_FRAME * sizeof(*out));
	if (had_ramp)
		memcpy(out, playout->ramp, sizeof(playout->ramp));
	playout->has_ramp = false;
	playout->is_speaking = false;
	return had_ramp;
}

bool playout_take(struct playout *playout, int16_t out[PLAYOUT_FRAME])
{
	size_t done;

	if (playout->has_ramp || playout->is_paused || !playout->queued)
		return take_rest(playout, out);
	done = copy_out(playout, out, PLAYOUT_FRAME);
	memset(out + done, 0, (PLAYOUT_FRAME - done) * sizeof(*out));
	playout->sent += done;
	if (!playout->is_speaking)
		tell(playout, &playout->started);
	playout->is_speaking = true;
	if (playout->queued == 0)
		tell(playout, &playout->drained);
	return true;
}

void playout_attach(struct playout *playout,
		    const struct playout_events *events, void *owner)
{
	playout->events = events;
	playout->owner = owner;
}

int playout_queue(struct playout *playout, const int16_t *samples, size_t n)
{
	struct chunk *chunk;

	if (n > SAMPLES_MAX || playout->queued > SAMPLES_MAX - n)
		return -ENOBUFS;
	if (n == 0)
		return 0;
	chunk = mem_new(sizeof(*chunk) + n * sizeof(*samples));
	chunk->n = n;
	memcpy(chunk->samples, samples, n * sizeof(*samples));
	if (playout->last)
		playout->last->next = chunk;
	else
		playout->first = chunk;
	playout->last = chunk;
	playout->queued += n;
	return 0;
}

uint64_t playout_position(const struct playout *playout)
{
	return playout->sent > playout->mark ? playout->sent - playout->mark
					     : 0;
}

void playout_mark(struct playout *playout)
{
	playout->mark = playout->sent + playout->queued;
}

size_t playout_queued(const struct playout *playout)
{
	return playout->queued;
}

void playout_pause(struct playout *playout)
{
	playout->is_paused = true;
}

void playout_resume(struct playout *playout)
{
	playout->is_paused = false;
}

/* The ramp is what would have come next, faded: it does not count as sent. */
void playout_drop(struct playout *playout)
{
	size_t n = 0;

	if (playout->is_speaking && playout->queued) {
		n = copy_out(playout, playout->ramp, PLAYOUT_RAMP);
		memset(playout->ramp + n, 0,
		       (PLAYOUT_RAMP - n) * sizeof(playout->ramp[0]));
		playout->has_ramp = true;
	}
	for (size_t i = 0; i < n; i++)
		playout->ramp[i] =
			(int16_t)(playout->ramp[i] * (PLAYOUT_RAMP - (int)i) /
				  PLAYOUT_RAMP);
	while (playout->first)
		drop_chunk(playout);
	playout->queued = 0;
	if (playout->mark > playout->sent)
		playout->mark = playout->sent;
}

bool playout_is_paused(const struct playout *playout)
{
	return playout->is_paused;
}
