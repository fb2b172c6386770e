/* SPDX-License-Identifier: MIT */
#include "agent/call/load.h"

#include "agent/service.h"
#include "core/config.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "media/media.h"
#include "media/ports.h"

struct load {
	struct service *service; /* borrowed: outlives us */
	struct timer *timer; /* owned: the next sample */
	uint64_t due_us; /* of it; 0: the first, before which we only began */
	struct load_meter meter;
	enum load_state last; /* what load_check() found */
	uint64_t refused[LOAD_STATES];
	void (*on_relief)(void *owner);
	void *owner;
};

static const char *const names[] = { "fine", "all calls are taken",
				     "audio ports run out",
				     "the loop is late" };

/* ---- lateness ---- */

/* A standstill counts for each sample that it took. */
void load_meter_add(struct load_meter *meter, uint64_t late_us)
{
	const uint64_t most = (uint64_t)LOAD_SAMPLES * LOAD_SAMPLE_MS * 1000;

	for (late_us = late_us < most ? late_us : most;;
	     late_us -= LOAD_SAMPLE_MS * 1000) {
		meter->late_us[meter->at] = (uint32_t)late_us;
		meter->at = (meter->at + 1) % LOAD_SAMPLES;
		if (late_us < LOAD_SAMPLE_MS * 1000)
			return;
	}
}

double load_meter_ms(const struct load_meter *meter)
{
	double sum_us = 0;

	for (unsigned i = 0; i < LOAD_SAMPLES; i++)
		sum_us += meter->late_us[i];
	return sum_us / LOAD_SAMPLES / 1000;
}

/* ---- judging ---- */

static bool is_short_of_ports(const struct load *load, unsigned coming)
{
	struct media_stats media;
	unsigned reserve = 1;

	media_stats(load->service->media, &media);
	if (media.ports_free + media.ports_used >= PORTS_LARGE)
		reserve = PORTS_RESERVE;
	return media.ports_free < reserve + coming;
}

static enum load_state judge(const struct load *load,
			     const struct load_demand *demand)
{
	const struct config *config = load->service->config;
	int64_t late_ms = config_number(config, "agent.max_late_ms");

	if (demand->live >= (unsigned)config_number(config, "agent.max_calls"))
		return LOAD_CALLS;
	if (is_short_of_ports(load, demand->coming))
		return LOAD_PORTS;
	if (late_ms && load_meter_ms(&load->meter) > (double)late_ms)
		return LOAD_LATE;
	return LOAD_FINE;
}

enum load_state load_check(struct load *load, const struct load_demand *demand)
{
	enum load_state state = judge(load, demand);

	if (state != load->last && (state == LOAD_PORTS || state == LOAD_LATE))
		log_warn("load", NULL, "no new calls: %s (%u live)",
			 names[state], demand->live);
	load->last = state;
	return state;
}

int load_refuse(struct load *load)
{
	load->refused[load->last]++;
	return 503;
}

static void on_sample(void *arg)
{
	static const struct load_demand none;
	struct load *load = arg;
	uint64_t now_us = loop_now_us(load->service->loop);
	bool was_late = load->last == LOAD_LATE || load->last == LOAD_PORTS;

	if (load->due_us)
		load_meter_add(&load->meter, now_us > load->due_us
						     ? now_us - load->due_us
						     : 0);
	load->due_us = now_us + LOAD_SAMPLE_MS * 1000;
	timer_start_at(load->timer, load->due_us, on_sample, load);
	if (!was_late || judge(load, &none) != LOAD_FINE)
		return;
	load->last = LOAD_FINE;
	load->on_relief(load->owner); /* last */
}

void load_open(struct load **out, struct service *service,
	       void (*on_relief)(void *owner), void *owner)
{
	struct load *load = mem_new(sizeof(*load));

	load->service = service;
	load->on_relief = on_relief;
	load->owner = owner;
	load->timer = timer_new(service->loop);
	timer_start(load->timer, LOAD_SAMPLE_MS, on_sample, load);
	*out = load;
}

void load_close(struct load **load)
{
	if (!*load)
		return;
	timer_close(&(*load)->timer);
	mem_free(*load);
	*load = NULL;
}

void load_stats(const struct load *load, struct load_stats *out)
{
	for (unsigned i = 0; i < LOAD_STATES; i++)
		out->refused[i] = load->refused[i];
	out->late_ms = load_meter_ms(&load->meter);
	out->is_full = load->last != LOAD_FINE;
}
