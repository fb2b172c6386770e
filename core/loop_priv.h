/* SPDX-License-Identifier: MIT */
/* core/loop_priv.h - inside of the loop, for core/ alone. A real loop has uv,
 * a simulated one has sim; exactly one of them is set. */
#pragma once
#include <stddef.h>
#include "core/loop.h"

struct timer;
struct sim;
struct loop_real;

enum { LOOP_SLOW_US = 5000, LOOP_SCRATCH_BYTES = 64 * 1024 };

/* A binary heap by (time, order of arming). */
struct timer_heap {
	struct timer **at; /* owned array of borrowed timers */
	size_t n;
	size_t size;
	size_t open; /* timers not closed yet, armed or not */
	uint64_t next_order;
};

struct loop {
	struct loop_real *real; /* owned; NULL on a simulated loop */
	struct sim *sim; /* owned; NULL on a real loop */
	struct timer_heap timers;
	struct loop_stats stats;
	char *scratch; /* owned; LOOP_SCRATCH_BYTES, valid in one callback */
};

/* libuv's loop; only on a real loop. */
struct uv_loop_s *loop_uv(const struct loop *loop);

/* Around each callback that comes from libuv, so that slow ones are seen. */
uint64_t loop_begin(const struct loop *loop);
void loop_end(struct loop *loop, uint64_t begin_us);

/* Time of the earliest timer, or UINT64_MAX. */
uint64_t timer_heap_next_us(const struct timer_heap *heap);
/* Runs the earliest timer if it is due at now_us and was armed before order.
 * False: there is none. */
bool timer_heap_run_one(struct loop *loop, uint64_t now_us, uint64_t order);
