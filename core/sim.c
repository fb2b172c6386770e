/* SPDX-License-Identifier: MIT */
#include "core/sim_priv.h"
#include <assert.h>
#include "core/loop_priv.h"
#include "core/mem.h"
#include "core/timer.h"

/* A simulated clock that does not start at 0 shows code that confuses "never"
 * with a time. */
enum { START_US = 1000 * 1000, FIRST_PORT = 49152 };
/* Callbacks at one instant before we say that nothing gets on. */
enum { LIVELOCK = 10 * 1000 * 1000 };

struct sim_parcel {
	LIST_ENTRY(sim_parcel) entry;
	struct loop *loop; /* borrowed: outlives us */
	struct timer *timer; /* owned */
	sim_parcel_fn *deliver;
	sim_parcel_fn *drop;
	void *arg; /* owned until handed to one of the two */
};

void sim_open(struct loop *loop, int64_t wall_ms)
{
	loop->sim = mem_new(sizeof(*loop->sim));
	loop->sim->now_us = START_US;
	loop->sim->wall_start_ms = wall_ms - START_US / 1000;
	loop->sim->next_port = FIRST_PORT;
}

static void parcel_free(struct sim_parcel *parcel)
{
	LIST_REMOVE(parcel, entry);
	timer_close(&parcel->timer);
	mem_free(parcel);
}

void sim_close(struct loop *loop)
{
	struct sim *sim = loop->sim;

	while (!LIST_EMPTY(&sim->parcels)) {
		struct sim_parcel *parcel = LIST_FIRST(&sim->parcels);

		parcel->drop(loop, parcel->arg);
		parcel_free(parcel);
	}
	assert(LIST_EMPTY(&sim->udps));
	assert(LIST_EMPTY(&sim->listeners));
	assert(LIST_EMPTY(&sim->conns));
	mem_free(sim);
	loop->sim = NULL;
}

void sim_advance_us(struct loop *loop, uint64_t us)
{
	struct sim *sim = loop->sim;
	uint64_t end_us = sim->now_us + us, next_us;
	unsigned at_once = 0;

	assert(!sim->is_running);
	sim->is_running = true;
	while ((next_us = timer_heap_next_us(&loop->timers)) <= end_us) {
		at_once = next_us > sim->now_us ? 0 : at_once + 1;
		assert(at_once < LIVELOCK);
		if (next_us > sim->now_us)
			sim->now_us = next_us;
		loop->stats.turns++;
		timer_heap_run_one(loop, sim->now_us, UINT64_MAX);
	}
	sim->now_us = end_us;
	sim->is_running = false;
}

static void on_parcel(void *arg)
{
	struct sim_parcel *parcel = arg;
	struct sim_parcel copy = *parcel;

	parcel_free(parcel);
	copy.deliver(copy.loop, copy.arg);
}

void sim_post(struct loop *loop, uint64_t at_us, sim_parcel_fn *deliver,
	      sim_parcel_fn *drop, void *arg)
{
	struct sim_parcel *parcel = mem_new(sizeof(*parcel));

	parcel->loop = loop;
	parcel->timer = timer_new(loop);
	parcel->deliver = deliver;
	parcel->drop = drop;
	parcel->arg = arg;
	if (at_us < loop->sim->now_us)
		at_us = loop->sim->now_us;
	LIST_INSERT_HEAD(&loop->sim->parcels, parcel, entry);
	timer_start_at(parcel->timer, at_us, on_parcel, parcel);
}

enum sim_verdict sim_judge(const struct loop *loop,
			   const struct sim_packet *packet)
{
	const struct sim *sim = loop->sim;

	return sim->filter ? sim->filter(sim->filter_arg, packet) : SIM_PASS;
}

uint16_t sim_next_port(struct loop *loop)
{
	struct sim *sim = loop->sim;
	uint16_t port = sim->next_port;

	sim->next_port = port == UINT16_MAX ? FIRST_PORT : port + 1;
	return port;
}

bool sim_reaches(const struct addr *have, const struct addr *want)
{
	return have->sa.sa_family == want->sa.sa_family &&
	       addr_port(have) == addr_port(want) &&
	       (addr_is_any(have) || addr_is_same_host(have, want));
}

void sim_set_filter(struct loop *loop, sim_filter_fn *fn, void *arg)
{
	loop->sim->filter = fn;
	loop->sim->filter_arg = arg;
}

void sim_set_delay_us(struct loop *loop, uint64_t delay_us)
{
	loop->sim->delay_us = delay_us;
}
