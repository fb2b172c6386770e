/* SPDX-License-Identifier: MIT */
#include "agent/call/dispatch.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "agent/call/call.h"
#include "agent/call/closing.h"
#include "agent/call/inbound.h"
#include "agent/call/webhook.h"
#include "core/config.h"
#include "core/json.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/ua.h"
#include "store/calls.h"
#include "store/orgs.h"

enum { READ_RETRY_MS = 5000, STOPS_MAX = 8 };

/* A live call and who waits for its end. */
struct live {
	struct dispatch *dispatch; /* borrowed: owns us */
	struct live *next; /* owned by the list */
	struct call *call; /* owned */
	struct store_reply waiting[STOPS_MAX];
	size_t n_waiting;
};

/* A stored call being completed without a live one. */
struct settle {
	struct dispatch *dispatch; /* borrowed: owns us */
	struct settle *next; /* owned by the list */
	char *id; /* owned */
	struct store_reply reply;
};

struct dispatch {
	struct service *service; /* borrowed: outlives us */
	struct timer *timer; /* owned: the next pump */
	struct timer *deadline; /* owned: end of the drain */
	struct live *lives; /* owned */
	struct settle *settles; /* owned */
	struct {
		bool is_on;
		void (*on_idle)(void *owner);
		void *owner;
	} drain;
	struct dispatch_stats stats;
};

static void pump(void *arg);

static struct live *find(const struct dispatch *dispatch, const char *id)
{
	struct live *live = dispatch->lives;

	while (live && strcmp(call_id(live->call), id))
		live = live->next;
	return live;
}

static bool is_settling(const struct dispatch *dispatch, const char *id)
{
	struct settle *settle = dispatch->settles;

	while (settle && strcmp(settle->id, id))
		settle = settle->next;
	return settle;
}

/* ---- a live call ends ---- */

static void count_turns(struct dispatch *dispatch, const json_t *latency)
{
	static const int64_t bounds[] = {
		100, 200, 400, 700, 1000, 1500, 3000
	};
	json_t *turns = json_object_get(latency, "per_turn");
	size_t i, bucket;
	json_t *turn;

	json_array_foreach(turns, i, turn)
	{
		int64_t ms = json_integer_value(json_object_get(turn, "total"));

		bucket = 0;
		while (bucket < sizeof(bounds) / sizeof(*bounds) &&
		       ms > bounds[bucket])
			bucket++;
		dispatch->stats.turn_bucket[bucket]++;
		dispatch->stats.turns++;
		dispatch->stats.turn_ms_total += (uint64_t)ms;
	}
}

static void check_idle(struct dispatch *dispatch)
{
	void (*on_idle)(void *owner) = dispatch->drain.on_idle;

	if (!on_idle || dispatch->lives)
		return;
	dispatch->drain.on_idle = NULL;
	timer_stop(dispatch->deadline);
	on_idle(dispatch->drain.owner);
}

static void on_call_done(void *owner, struct call *call)
{
	struct live *live = owner;
	struct dispatch *dispatch = live->dispatch;
	struct live **at = &dispatch->lives;

	while (*at != live)
		at = &(*at)->next;
	*at = live->next;
	dispatch->stats.completed++;
	dispatch->stats.failed += call_has_failed(call);
	count_turns(dispatch, call_latency(call));
	for (size_t i = 0; i < live->n_waiting; i++)
		live->waiting[i].done(live->waiting[i].owner, 0);
	call_close(&live->call);
	mem_free(live);
	dispatch_wake(dispatch);
	check_idle(dispatch);
}

static struct live *add_live(struct dispatch *dispatch)
{
	struct live *live = mem_new(sizeof(*live));

	live->dispatch = dispatch;
	return live;
}

static void enlist(struct live *live)
{
	live->next = live->dispatch->lives;
	live->dispatch->lives = live;
	live->dispatch->stats.started++;
}

/* ---- queued calls start ---- */

unsigned dispatch_live(const struct dispatch *dispatch, const char *org_id)
{
	unsigned n = 0;

	for (struct live *live = dispatch->lives; live; live = live->next)
		n += !org_id || !strcmp(call_org_id(live->call), org_id);
	return n;
}

static bool is_full(const struct dispatch *dispatch)
{
	return dispatch_live(dispatch, NULL) >=
	       (unsigned)config_number(dispatch->service->config,
				       "agent.max_calls");
}

/* Dials the organisation's next calls until its plan or the house is full. */
static void start_org(struct dispatch *dispatch, struct arena *arena,
		      const char *org_id)
{
	struct service *service = dispatch->service;
	struct call_row key = { .org_id = org_id };
	struct call_row row;
	struct org_row org;

	if (orgs_get(service->store, arena, org_id, &org))
		return;
	while (dispatch_live(dispatch, org_id) <
		       (unsigned)org.plan_limits.concurrency &&
	       !is_full(dispatch) &&
	       !calls_next_queued(service->store, arena, &key,
				  loop_wall_ms(service->loop), &row)) {
		key.number = row.number;
		if (!find(dispatch, row.id) && !is_settling(dispatch, row.id)) {
			struct live *live = add_live(dispatch);

			live->call =
				call_dial(service, &row, on_call_done, live);
			enlist(live);
		}
	}
}

static void pump(void *arg)
{
	struct dispatch *dispatch = arg;
	struct service *service = dispatch->service;
	int64_t now_ms = loop_wall_ms(service->loop);
	struct arena *arena = arena_open();
	const char **orgs = NULL;
	size_t n = 0;
	int64_t due_ms;

	if (dispatch->drain.is_on) {
		arena_close(&arena);
		return;
	}
	if (calls_queued_orgs(service->store, arena, now_ms, &orgs, &n)) {
		log_error("dispatch", NULL, "the queue cannot be read");
		timer_start(dispatch->timer, READ_RETRY_MS, pump, dispatch);
	}
	for (size_t i = 0; i < n; i++)
		start_org(dispatch, arena, orgs[i]);
	arena_close(&arena);
	due_ms = calls_next_due(service->store, now_ms);
	if (due_ms > now_ms && !timer_is_armed(dispatch->timer))
		timer_start(dispatch->timer, (uint64_t)(due_ms - now_ms), pump,
			    dispatch);
}

void dispatch_wake(struct dispatch *dispatch)
{
	timer_start(dispatch->timer, 0, pump, dispatch);
}

/* ---- stored calls without a live one ---- */

static void on_settled(void *owner, int err)
{
	struct settle *settle = owner;
	struct dispatch *dispatch = settle->dispatch;
	struct settle **at = &dispatch->settles;
	struct store_reply reply = settle->reply;

	while (*at != settle)
		at = &(*at)->next;
	*at = settle->next;
	if (err && err != -EALREADY)
		log_error("call", settle->id, "could not be completed: %s",
			  strerror(-err));
	mem_free(settle->id);
	mem_free(settle);
	webhook_wake(dispatch->service->webhook);
	dispatch_wake(dispatch);
	if (reply.done)
		reply.done(reply.owner, err == -EALREADY ? 0 : err);
}

static void settle(struct dispatch *dispatch, const struct call_row *row,
		   const char *status, const char *message,
		   struct store_reply reply)
{
	struct settle *settling = mem_new(sizeof(*settling));

	*settling = (struct settle){ .dispatch = dispatch,
				     .next = dispatch->settles,
				     .id = mem_dup_str(row->id),
				     .reply = reply };
	dispatch->settles = settling;
	closing_complete(dispatch->service, row, status, message,
			 (struct store_reply){ on_settled, settling });
}

static void recover(struct dispatch *dispatch)
{
	struct arena *arena = arena_open();
	struct call_list list = { 0 };
	int err = calls_interrupted(dispatch->service->store, arena, &list);

	if (err)
		log_error("dispatch", NULL,
			  "interrupted calls cannot be read: %s",
			  strerror(-err));
	for (size_t i = 0; i < list.n; i++) {
		log_warn("call", list.rows[i].id,
			 "was interrupted by a restart");
		settle(dispatch, &list.rows[i], "failed",
		       "The service was restarted during the call.",
		       (struct store_reply){ 0 });
	}
	arena_close(&arena);
}

void dispatch_stop(struct dispatch *dispatch, const char *org_id,
		   const char *id, struct store_reply reply)
{
	struct live *live = find(dispatch, id);
	struct arena *arena;
	struct call_row row;
	int err;

	if (live && !strcmp(call_org_id(live->call), org_id)) {
		if (live->n_waiting < STOPS_MAX)
			live->waiting[live->n_waiting++] = reply;
		else
			reply.done(reply.owner, -EBUSY);
		call_stop(live->call, NULL);
		return;
	}
	arena = arena_open();
	err = calls_get(dispatch->service->store, arena, org_id, id, &row);
	if (!err && !row.completed && !is_settling(dispatch, id))
		settle(dispatch, &row, "canceled",
		       "The call was stopped before it was dialed.", reply);
	else
		reply.done(reply.owner, err);
	arena_close(&arena);
}

/* ---- incoming ---- */

int dispatch_on_invite(void *owner, struct session *session,
		       const struct ua_invite *invite)
{
	struct dispatch *dispatch = owner;
	struct service *service = dispatch->service;
	struct arena *arena = arena_open();
	struct inbound_call inbound = { 0 };
	struct call_incoming incoming = { .session = session,
					  .offer = invite->offer,
					  .row = &inbound.row };
	struct live *live = NULL;
	int status = inbound_route(&inbound, service, arena, invite);

	if (!status && (dispatch->drain.is_on || is_full(dispatch)))
		status = 503;
	if (!status &&
	    dispatch_live(dispatch, inbound.row.org_id) >= inbound.concurrency)
		status = 486;
	if (!status) {
		live = add_live(dispatch);
		status = call_take(&live->call, service, &incoming,
				   on_call_done, live);
	}
	if (!status)
		enlist(live);
	else
		mem_free(live);
	arena_close(&arena);
	return status;
}

/* ---- life ---- */

int dispatch_open(struct dispatch **out, struct service *service)
{
	struct dispatch *dispatch = mem_new(sizeof(*dispatch));

	dispatch->service = service;
	dispatch->timer = timer_new(service->loop);
	dispatch->deadline = timer_new(service->loop);
	*out = dispatch;
	recover(dispatch);
	dispatch_wake(dispatch);
	return 0;
}

static void on_deadline(void *arg)
{
	struct dispatch *dispatch = arg;

	for (struct live *live = dispatch->lives; live; live = live->next)
		call_stop(live->call, "The service was shut down.");
}

static void post_idle(void *arg)
{
	check_idle(arg);
}

void dispatch_drain(struct dispatch *dispatch, uint64_t deadline_ms,
		    void (*on_idle)(void *owner), void *owner)
{
	dispatch->drain.is_on = true;
	dispatch->drain.on_idle = on_idle;
	dispatch->drain.owner = owner;
	timer_stop(dispatch->timer);
	if (dispatch->lives)
		timer_start(dispatch->deadline, deadline_ms, on_deadline,
			    dispatch);
	else
		timer_start(dispatch->deadline, 0, post_idle, dispatch);
}

void dispatch_close(struct dispatch **closing)
{
	struct dispatch *dispatch = *closing;

	if (!dispatch)
		return;
	while (dispatch->lives) {
		struct live *live = dispatch->lives;

		dispatch->lives = live->next;
		call_close(&live->call);
		mem_free(live);
	}
	while (dispatch->settles) {
		struct settle *settling = dispatch->settles;

		dispatch->settles = settling->next;
		mem_free(settling->id);
		mem_free(settling);
	}
	timer_close(&dispatch->timer);
	timer_close(&dispatch->deadline);
	mem_free(dispatch);
	*closing = NULL;
}

const json_t *dispatch_variables(const struct dispatch *dispatch,
				 const char *id)
{
	struct live *live = find(dispatch, id);

	return live ? call_variables(live->call) : NULL;
}

void dispatch_stats(const struct dispatch *dispatch, struct dispatch_stats *out)
{
	*out = dispatch->stats;
	out->live = dispatch_live(dispatch, NULL);
}
