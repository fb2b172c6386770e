/* SPDX-License-Identifier: MIT */
/* Whose turn it is: all targets once in each interval, spread over it. */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include "agent/call/health_priv.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/timer.h"

enum {
	PAGE = 32, /* targets read from the store in one turn */
	BURST = 8, /* asked in one turn */
	PROBES_MAX = 64 /* under way for the rounds */
};

static void enter(struct health *health, enum health_phase next)
{
	static const unsigned allowed[] = {
		[HEALTH_READING] = 1 << HEALTH_ASKING | 1 << HEALTH_RESTING,
		[HEALTH_ASKING] = 1 << HEALTH_RESTING,
		[HEALTH_RESTING] = 1 << HEALTH_READING,
	};

	assert(allowed[health->phase] & 1u << next);
	health->phase = next;
}

static void rest(struct health *health)
{
	uint64_t end_us = health->start_us + health->interval_ms * 1000;

	enter(health, HEALTH_RESTING);
	timer_start_at(health->timer, end_us, health_step, health);
}

/* Those that the store no longer names; one that is being asked stays until
 * the next round, for somebody may wait. */
static void forget(struct health *health)
{
	struct health_target *target = TAILQ_FIRST(&health->targets), *next;

	for (; target; target = next) {
		next = TAILQ_NEXT(target, in_targets);
		if (target->round != health->round &&
		    !timer_is_armed(target->timer))
			health_drop(target);
	}
}

static void begin_asking(struct health *health)
{
	forget(health);
	if (health->is_off) {
		rest(health);
		return;
	}
	enter(health, HEALTH_ASKING);
	health->next = TAILQ_FIRST(&health->targets);
	health->at = 0;
	health->n = health->by_name.n;
	timer_start(health->timer, 0, health_step, health);
}

/* A store that cannot be read makes nobody forgotten. */
static void read_page(struct health *health)
{
	struct arena *arena = arena_open();
	struct trunk_target last = { health->cursor_host, health->cursor_port };
	struct trunk_target page[PAGE];
	size_t n = PAGE;
	int err =
		trunks_targets(health->service->store, arena, &last, page, &n);

	for (size_t i = 0; !err && i < n; i++) {
		struct health_target *target = health_find(health, &page[i]);

		if (!target)
			target = health_add(health, &page[i]);
		target->round = health->round;
	}
	if (!err && n) {
		snprintf(health->cursor_host, sizeof(health->cursor_host), "%s",
			 page[n - 1].host);
		health->cursor_port = page[n - 1].port;
	}
	arena_close(&arena);
	if (err) {
		log_error("sip", NULL, "trunks cannot be read: %s",
			  strerror(-err));
		rest(health);
	} else if (n == PAGE) {
		timer_start(health->timer, 0, health_step, health);
	} else {
		begin_asking(health);
	}
}

/* When the round comes to it: the targets are spread over the interval. */
static uint64_t due_us(const struct health *health)
{
	return health->start_us +
	       health->interval_ms * 1000 * health->at / health->n;
}

/* Held up by what is under way, the next answer calls this again. */
static void ask_due(struct health *health)
{
	uint64_t now_us = loop_now_us(health->service->loop);

	for (int i = 0; health->next; i++) {
		struct health_target *target = health->next;

		if (health->stats.in_flight >= PROBES_MAX)
			return;
		if (i == BURST || due_us(health) > now_us) {
			timer_start_at(health->timer, due_us(health),
				       health_step, health);
			return;
		}
		health->next = TAILQ_NEXT(target, in_targets);
		health->at++;
		health_probe(target);
	}
	rest(health);
}

static void begin_round(struct health *health)
{
	enter(health, HEALTH_READING);
	health->round++;
	health->start_us = loop_now_us(health->service->loop);
	health->cursor_host[0] = 0;
	health->cursor_port = 0;
	read_page(health);
}

void health_step(void *arg)
{
	struct health *health = arg;

	switch (health->phase) {
	case HEALTH_READING:
		read_page(health);
		break;
	case HEALTH_ASKING:
		ask_due(health);
		break;
	case HEALTH_RESTING:
		begin_round(health);
		break;
	}
}
