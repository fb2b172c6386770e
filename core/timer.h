/* SPDX-License-Identifier: MIT */
/* core/timer.h - one-shot timers on the loop's clock. A timer with 0 ms runs
 * on the next turn, after the callback that armed it has returned: that is how
 * work that must go on later is posted. Equal times fire in order of arming. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct loop;
struct timer;

typedef void timer_fn(void *arg);

struct timer *timer_new(struct loop *loop); /* never NULL */
void timer_start(struct timer *timer, uint64_t ms, timer_fn *fn, void *arg);
/* Absolute time on loop_now_us()'s clock: pacing without drift. */
void timer_start_at(struct timer *timer, uint64_t at_us, timer_fn *fn,
		    void *arg);
void timer_stop(struct timer *timer);
bool timer_is_armed(const struct timer *timer);
void timer_close(struct timer **timer); /* no callback after; NULL is fine */
