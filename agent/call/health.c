/* SPDX-License-Identifier: MIT */
#include "agent/call/health_priv.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "core/config.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/ua.h"

enum {
	PROBE_MS = 15 * 1000, /* several addresses may have to be tried */
	ASK_MS = 5 * 1000,
	ASKS_PER_ORG = 32,
	READ_INTERVAL_MS = 60 * 1000, /* when nobody is to be asked */
	KEY_SIZE = 256 + 8
};

/* Somebody waits for the answer to a probe. */
struct ask {
	struct health *health; /* borrowed: owns us */
	struct health_target
		*target; /* borrowed: stays while it is asked; then NULL */
	struct health_report report; /* for the next turn */
	char *org_id; /* owned */
	health_fn *done;
	void *owner; /* borrowed */
	struct timer *timer; /* owned: how long it waits */
	TAILQ_ENTRY(ask) in_asks;
};

const char *health_state_name(enum health_state state)
{
	static const char *const names[HEALTH_STATES] = { "unchecked",
							  "healthy",
							  "unreachable" };

	return names[state];
}

/* ---- targets ---- */

static struct slice key_of(char out[KEY_SIZE],
			   const struct trunk_target *target)
{
	int len = snprintf(out, KEY_SIZE, "%.255s:%u", target->host,
			   target->port);

	for (char *at = out; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	return slice_make(out, (size_t)len);
}

struct health_target *health_find(const struct health *health,
				  const struct trunk_target *name)
{
	char key[KEY_SIZE];

	return table_find(&health->by_name, key_of(key, name));
}

struct health_target *health_add(struct health *health,
				 const struct trunk_target *name)
{
	struct health_target *target = mem_new(sizeof(*target));
	char key[KEY_SIZE];

	*target = (struct health_target){ .health = health,
					  .host = mem_dup_str(name->host),
					  .port = name->port,
					  .timer = timer_new(
						  health->service->loop) };
	table_add(&health->by_name, &target->entry, key_of(key, name), target);
	TAILQ_INSERT_TAIL(&health->targets, target, in_targets);
	health->stats.targets[HEALTH_UNCHECKED]++;
	return target;
}

static void stop_probe(struct health_target *target)
{
	if (target->probe)
		target->health->stats.in_flight--;
	ua_probe_cancel(&target->probe);
	timer_stop(target->timer);
}

void health_drop(struct health_target *target)
{
	struct health *health = target->health;

	stop_probe(target);
	table_remove(&health->by_name, &target->entry);
	TAILQ_REMOVE(&health->targets, target, in_targets);
	health->stats.targets[target->report.state]--;
	timer_close(&target->timer);
	mem_free(target->host);
	mem_free(target);
}

static void enter(struct health_target *target, enum health_state next,
		  const char *why)
{
	struct health *health = target->health;
	struct health_report *report = &target->report;
	enum health_state last = report->state;

	health->stats.targets[last]--;
	health->stats.targets[next]++;
	report->state = next;
	snprintf(report->why, sizeof(report->why), "%s", why);
	report->checked_ms = loop_wall_ms(health->service->loop);
	if (last == next)
		return;
	if (next == HEALTH_UNREACHABLE)
		log_warn("sip", NULL, "trunk %s port %u is unreachable: %s",
			 target->host, target->port, why);
	else
		log_info("sip", NULL, "trunk %s port %u is %s", target->host,
			 target->port, health_state_name(next));
}

/* ---- who waits ---- */

static void ask_close(struct ask *ask)
{
	TAILQ_REMOVE(&ask->health->asks, ask, in_asks);
	timer_close(&ask->timer);
	mem_free(ask->org_id);
	mem_free(ask);
}

static void finish_ask(struct ask *ask, const struct health_report *report)
{
	health_fn *done = ask->done;
	void *owner = ask->owner;

	ask_close(ask);
	done(owner, report); /* last */
}

static void on_told(void *arg)
{
	struct ask *ask = arg;
	struct health_report report = ask->report;

	finish_ask(ask, &report); /* last */
}

/* The target may still answer: what is noted of it does not change. */
static void on_ask_timeout(void *arg)
{
	struct ask *ask = arg;
	struct health_report report = {
		.state = HEALTH_UNREACHABLE,
		.checked_ms = loop_wall_ms(ask->health->service->loop),
		.why = "no answer within 5 s",
	};

	finish_ask(ask, &report); /* last */
}

/* Each on its own turn: it may do anything then. */
static void tell(struct health_target *target)
{
	struct ask *ask;

	TAILQ_FOREACH(ask, &target->health->asks, in_asks) {
		if (ask->target != target)
			continue;
		ask->target = NULL;
		ask->report = target->report;
		timer_start(ask->timer, 0, on_told, ask);
	}
}

/* ---- one probe ---- */

/* What a proxy says for somebody else who is not there, or of itself when it
 * takes no calls, is no sign of life; any other answer is. */
static bool is_alive(int status)
{
	return status && status != 408 && status != 503 && status != 504;
}

static void note(struct health_target *target, int status, const char *why)
{
	struct health *health = target->health;
	char text[sizeof(target->report.why)];

	snprintf(text, sizeof(text), "%s", why);
	if (status)
		snprintf(text, sizeof(text), "it answered %d", status);
	if (is_alive(status)) {
		enter(target, HEALTH_HEALTHY, "");
	} else {
		health->stats.failures++;
		enter(target, HEALTH_UNREACHABLE, text);
	}
	tell(target);
	if (health->phase == HEALTH_ASKING)
		timer_start(health->timer, 0, health_step, health);
}

static void on_probed(void *owner, int status, uint32_t ms, const char *why)
{
	struct health_target *target = owner;

	target->probe = NULL;
	target->health->stats.in_flight--;
	timer_stop(target->timer);
	target->report.response_ms = ms;
	note(target, status, why);
}

static void on_silence(void *arg)
{
	struct health_target *target = arg;

	stop_probe(target);
	note(target, 0, "no answer within 15 s");
}

static void on_no_name(void *arg)
{
	const struct health_target *target = arg;

	note(arg, 0,
	     target->health->service->ua
		     ? "the host is not a name that can be asked"
		     : "SIP is not open");
}

void health_probe(struct health_target *target)
{
	struct health *health = target->health;
	struct session_trunk trunk = { .port = target->port };

	if (timer_is_armed(target->timer))
		return;
	health->stats.probes++;
	snprintf(trunk.host, sizeof(trunk.host), "%s", target->host);
	if (health->service->ua)
		target->probe = ua_probe(health->service->ua, &trunk, on_probed,
					 target);
	if (!target->probe) {
		timer_start(target->timer, 0, on_no_name, target);
		return;
	}
	health->stats.in_flight++;
	timer_start(target->timer, PROBE_MS, on_silence, target);
}

/* ---- public ---- */

int health_open(struct health **out, struct service *service)
{
	struct health *health = mem_new(sizeof(*health));
	int64_t interval_s =
		config_number(service->config, "sip.probe_interval_s");

	*health = (struct health){ .service = service,
				   .timer = timer_new(service->loop),
				   .phase = HEALTH_RESTING,
				   .is_off = !interval_s,
				   .interval_ms = (uint64_t)interval_s * 1000 };
	if (health->is_off)
		health->interval_ms = READ_INTERVAL_MS;
	table_init(&health->by_name);
	TAILQ_INIT(&health->targets);
	TAILQ_INIT(&health->asks);
	timer_start(health->timer, 0, health_step, health);
	*out = health;
	return 0;
}

void health_close(struct health **closing)
{
	struct health *health = *closing;
	struct health_report report = { .state = HEALTH_UNREACHABLE,
					.why = "the service is shutting down" };

	if (!health)
		return;
	*closing = NULL;
	while (!TAILQ_EMPTY(&health->asks))
		finish_ask(TAILQ_FIRST(&health->asks), &report);
	while (!TAILQ_EMPTY(&health->targets))
		health_drop(TAILQ_FIRST(&health->targets));
	table_reset(&health->by_name);
	timer_close(&health->timer);
	mem_free(health);
}

void health_report(const struct health *health, const struct trunk_target *name,
		   struct health_report *out)
{
	const struct health_target *target = health_find(health, name);

	*out = (struct health_report){ 0 };
	if (target)
		*out = target->report;
}

int health_ask(struct health *health, const char *org_id,
	       const struct trunk_target *name, health_fn *done, void *owner)
{
	struct health_target *target = health_find(health, name);
	struct ask *ask;
	unsigned n = 0;

	TAILQ_FOREACH(ask, &health->asks, in_asks)
		n += !strcmp(ask->org_id, org_id);
	if (n >= ASKS_PER_ORG)
		return -EBUSY;
	if (!target) {
		target = health_add(health, name);
		target->round = health->round;
	}
	ask = mem_new(sizeof(*ask));
	*ask = (struct ask){ .health = health,
			     .target = target,
			     .org_id = mem_dup_str(org_id),
			     .done = done,
			     .owner = owner,
			     .timer = timer_new(health->service->loop) };
	TAILQ_INSERT_TAIL(&health->asks, ask, in_asks);
	timer_start(ask->timer, ASK_MS, on_ask_timeout, ask);
	health_probe(target);
	return 0;
}

void health_stats(const struct health *health, struct health_stats *out)
{
	*out = health->stats;
}
