/* SPDX-License-Identifier: MIT */
/* core/loop.h - the one loop: time, turns and the end of the program. A
 * simulated loop has a fake clock that only loop_advance_ms() moves, and an
 * in-memory network (tcp and udp between addresses of the same loop); work and
 * the store's writer run inline on it, so a whole call repeats exactly. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct loop;
struct uv_loop_s;

int loop_open(struct loop **out);
/* Fake clock that starts at wall_ms (Unix time). */
void loop_open_sim(struct loop **out, int64_t wall_ms);
/* Every wrapper must have been closed; runs what is left to finish closing. */
void loop_close(struct loop **loop);

void loop_run(struct loop *loop); /* real: until loop_stop() */
void loop_stop(struct loop *loop); /* loop thread only */
/* Simulated: fires timers, deliveries and results in order of their time up
 * to now + ms; 0 runs what is due now. */
void loop_advance_ms(struct loop *loop, uint64_t ms);

uint64_t loop_now_us(const struct loop *loop); /* monotonic, fresh */
int64_t loop_wall_ms(const struct loop *loop); /* Unix time */
bool loop_is_sim(const struct loop *loop);
/* on_signal runs on the loop for each SIGTERM, SIGINT or SIGHUP. */
typedef void loop_signal_fn(void *owner, int signum);
void loop_on_signals(struct loop *loop, loop_signal_fn *fn, void *owner);
/* How long callbacks kept the loop; all but turns stay 0 on a simulated one. */
struct loop_stats {
	uint64_t turns;
	uint64_t slow_callbacks; /* over 5 ms */
	uint64_t longest_us;
	uint64_t timers; /* not closed, armed or not */
};
void loop_stats(const struct loop *loop, struct loop_stats *out);
