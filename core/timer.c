/* SPDX-License-Identifier: MIT */
#include "core/timer.h"
#include <assert.h>
#include "core/loop_priv.h"
#include "core/mem.h"

/* timer.place of one that is not armed */
#define NOWHERE SIZE_MAX

struct timer {
	struct loop *loop; /* borrowed: outlives us */
	uint64_t at_us;
	uint64_t order;
	size_t place; /* in the heap, or NOWHERE */
	timer_fn *fn;
	void *arg;
};

static bool is_before(const struct timer *a, const struct timer *b)
{
	return a->at_us != b->at_us ? a->at_us < b->at_us : a->order < b->order;
}

static void put(struct timer_heap *heap, size_t place, struct timer *timer)
{
	heap->at[place] = timer;
	timer->place = place;
}

static void sift_up(struct timer_heap *heap, size_t place)
{
	struct timer *timer = heap->at[place];

	while (place && is_before(timer, heap->at[(place - 1) / 2])) {
		put(heap, place, heap->at[(place - 1) / 2]);
		place = (place - 1) / 2;
	}
	put(heap, place, timer);
}

static void sift_down(struct timer_heap *heap, size_t place)
{
	struct timer *timer = heap->at[place];
	size_t child;

	while ((child = 2 * place + 1) < heap->n) {
		if (child + 1 < heap->n &&
		    is_before(heap->at[child + 1], heap->at[child]))
			child++;
		if (!is_before(heap->at[child], timer))
			break;
		put(heap, place, heap->at[child]);
		place = child;
	}
	put(heap, place, timer);
}

static void heap_add(struct timer_heap *heap, struct timer *timer)
{
	if (heap->n == heap->size) {
		heap->size = heap->size ? heap->size * 2 : 64;
		heap->at =
			mem_resize(heap->at, heap->size * sizeof(heap->at[0]));
	}
	put(heap, heap->n++, timer);
	sift_up(heap, timer->place);
}

static void heap_remove(struct timer_heap *heap, struct timer *timer)
{
	size_t place = timer->place;
	struct timer *last = heap->at[--heap->n];

	timer->place = NOWHERE;
	if (last == timer)
		return;
	put(heap, place, last);
	sift_up(heap, place);
	sift_down(heap, last->place);
}

uint64_t timer_heap_next_us(const struct timer_heap *heap)
{
	return heap->n ? heap->at[0]->at_us : UINT64_MAX;
}

bool timer_heap_run_one(struct loop *loop, uint64_t now_us, uint64_t order)
{
	struct timer *timer = loop->timers.n ? loop->timers.at[0] : NULL;
	uint64_t begin_us;

	if (!timer || timer->at_us > now_us || timer->order >= order)
		return false;
	heap_remove(&loop->timers, timer);
	begin_us = loop_begin(loop);
	timer->fn(timer->arg); /* may have closed the timer */
	loop_end(loop, begin_us);
	return true;
}

struct timer *timer_new(struct loop *loop)
{
	struct timer *timer = mem_new(sizeof(*timer));

	timer->loop = loop;
	timer->place = NOWHERE;
	loop->timers.open++;
	return timer;
}

void timer_start_at(struct timer *timer, uint64_t at_us, timer_fn *fn,
		    void *arg)
{
	assert(fn);
	timer_stop(timer);
	timer->at_us = at_us;
	timer->order = timer->loop->timers.next_order++;
	timer->fn = fn;
	timer->arg = arg;
	heap_add(&timer->loop->timers, timer);
}

void timer_start(struct timer *timer, uint64_t ms, timer_fn *fn, void *arg)
{
	timer_start_at(timer, loop_now_us(timer->loop) + ms * 1000, fn, arg);
}

void timer_stop(struct timer *timer)
{
	if (timer_is_armed(timer))
		heap_remove(&timer->loop->timers, timer);
}

bool timer_is_armed(const struct timer *timer)
{
	return timer->place != NOWHERE;
}

void timer_close(struct timer **timer)
{
	if (!*timer)
		return;
	timer_stop(*timer);
	(*timer)->loop->timers.open--;
	mem_free(*timer);
	*timer = NULL;
}
