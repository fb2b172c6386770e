/* SPDX-License-Identifier: MIT */
#include "agent/call/dispatch.h"

#include <errno.h>
#include <string.h>
#include "agent/call/call.h"
#include "agent/call/closing.h"
#include "agent/call/dispatch_stats.h"
#include "agent/call/inbound.h"
#include "agent/call/load.h"
#include "agent/call/waiters.h"
#include "agent/call/webhook.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/ua.h"
#include "store/calls.h"
#include "store/orgs.h"

enum { READ_RETRY_MS = 5000 };

struct live {
	struct dispatch *dispatch; /* borrowed: owns us */
	struct live *next; /* owned by the list */
	struct call *call; /* owned */
	struct waiters waiters;
};

/* A stored call being completed without a live one; or, with a timer, an answer
 * that waits for nothing but the next turn. */
struct settle {
	struct dispatch *dispatch; /* borrowed; NULL: closed before the reply */
	struct settle *next; /* owned by the list */
	struct timer *timer; /* owned; NULL: the store replies */
	char *id; /* owned */
	int err; /* with a timer: the answer */
	struct waiters waiters;
};

struct dispatch {
	struct service *service; /* borrowed: outlives us */
	struct timer *timer; /* owned: the next pump */
	struct timer *deadline; /* owned: end of the drain */
	struct load *load; /* owned */
	struct live *lives; /* owned */
	struct settle *settles; /* owned */
	struct {
		bool is_on;
		void (*on_idle)(void *owner);
		void *owner;
	} drain;
	struct dispatch_stats stats;
};

static struct live *find(const struct dispatch *dispatch, const char *id)
{
	struct live *live = dispatch->lives;

	while (live && strcmp(call_id(live->call), id))
		live = live->next;
	return live;
}

static struct settle *find_settle(const struct dispatch *dispatch,
				  const char *id)
{
	struct settle *settle = dispatch->settles;

	while (settle && (settle->timer || strcmp(settle->id, id) != 0))
		settle = settle->next;
	return settle;
}

/* ---- a live call ends ---- */

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
	struct waiters waiters = live->waiters;

	while (*at != live)
		at = &(*at)->next;
	*at = live->next;
	dispatch_stats_add(&dispatch->stats, call);
	call_close(&live->call);
	mem_free(live);
	dispatch_wake(dispatch);
	waiters_tell(&waiters, 0);
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

static bool is_full(struct dispatch *dispatch)
{
	struct load_demand demand = { 0 };

	for (struct live *live = dispatch->lives; live; live = live->next) {
		demand.live++;
		demand.coming += call_needs_port(live->call);
	}
	return load_check(dispatch->load, &demand) != LOAD_FINE;
}

/* What held calls back is over. */
static void on_relief(void *owner)
{
	dispatch_wake(owner);
}

/* Dials the organisation's next calls until its plan or the house is full. 0,
 * or why the store could not be read. */
static int start_org(struct dispatch *dispatch, struct arena *arena,
		     const char *org_id)
{
	struct service *service = dispatch->service;
	struct call_row key = { .org_id = org_id };
	struct call_row row;
	struct org_row org;
	int err = orgs_get(service->store, arena, org_id, &org);

	while (!err &&
	       dispatch_live(dispatch, org_id) <
		       (unsigned)org.plan_limits.concurrency &&
	       !is_full(dispatch)) {
		err = calls_next_queued(service->store, arena, &key,
					loop_wall_ms(service->loop), &row);
		if (err)
			break;
		key.number = row.number;
		if (!find(dispatch, row.id) && !find_settle(dispatch, row.id)) {
			struct live *live = add_live(dispatch);

			live->call =
				call_dial(service, &row, on_call_done, live);
			enlist(live);
		}
	}
	return err == -ENOENT ? 0 : err;
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
	int err = 0;

	if (dispatch->drain.is_on)
		goto out;
	err = calls_queued_orgs(service->store, arena, now_ms, &orgs, &n);
	for (size_t i = 0; !err && i < n; i++)
		err = start_org(dispatch, arena, orgs[i]);
	due_ms = calls_next_due(service->store, now_ms);
	if (err) {
		log_error("dispatch", NULL, "the queue cannot be read: %s",
			  strerror(-err));
		timer_start(dispatch->timer, READ_RETRY_MS, pump, dispatch);
	} else if (due_ms > now_ms && !timer_is_armed(dispatch->timer)) {
		timer_start(dispatch->timer, (uint64_t)(due_ms - now_ms), pump,
			    dispatch);
	}
out:
	arena_close(&arena);
}

void dispatch_wake(struct dispatch *dispatch)
{
	timer_start(dispatch->timer, 0, pump, dispatch);
}

/* ---- stored calls without a live one ---- */

static void settle_free(struct settle *settle)
{
	timer_close(&settle->timer);
	mem_free(settle->id);
	mem_free(settle);
}

static void unlist(struct settle *settle)
{
	struct settle **at = &settle->dispatch->settles;

	while (*at != settle)
		at = &(*at)->next;
	*at = settle->next;
}

static void on_settled(void *owner, int err)
{
	struct settle *settle = owner;
	struct dispatch *dispatch = settle->dispatch;
	struct waiters waiters = settle->waiters;

	if (dispatch)
		unlist(settle);
	if (err && err != -EALREADY)
		log_error("call", settle->id, "could not be completed: %s",
			  strerror(-err));
	settle_free(settle);
	if (!dispatch)
		return;
	webhook_wake(dispatch->service->webhook);
	dispatch_wake(dispatch);
	waiters_tell(&waiters, err == -EALREADY ? 0 : err);
}

static void on_answer_due(void *arg)
{
	struct settle *settle = arg;
	struct waiters waiters = settle->waiters;
	int err = settle->err;

	unlist(settle);
	settle_free(settle);
	waiters_tell(&waiters, err);
}

static struct settle *settle_new(struct dispatch *dispatch, const char *id,
				 struct store_reply reply)
{
	struct settle *settle = mem_new(sizeof(*settle));

	*settle = (struct settle){ .dispatch = dispatch,
				   .next = dispatch->settles,
				   .id = mem_dup_str(id) };
	waiters_add(&settle->waiters, reply);
	dispatch->settles = settle;
	return settle;
}

static void answer_later(struct dispatch *dispatch, struct store_reply reply,
			 int err)
{
	struct settle *settle = settle_new(dispatch, "", reply);

	settle->err = err;
	settle->timer = timer_new(dispatch->service->loop);
	timer_start(settle->timer, 0, on_answer_due, settle);
}

/* A failing store leaves it as it was: the waiters are told. */
static void complete(struct dispatch *dispatch, const struct call_row *row,
		     struct store_reply reply)
{
	bool was_queued = !strcmp(row->queue_status, "queued");

	closing_complete(
		dispatch->service, row, was_queued ? "canceled" : "failed",
		was_queued ? "The call was stopped before it was "
			     "dialed."
			   : "The service was restarted during the "
			     "call.",
		(struct store_reply){ on_settled,
				      settle_new(dispatch, row->id, reply) });
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
		complete(dispatch, &list.rows[i], (struct store_reply){ 0 });
	}
	arena_close(&arena);
}

static void stop_stored(struct dispatch *dispatch, const char *org_id,
			const char *id, struct store_reply reply)
{
	struct arena *arena = arena_open();
	struct call_row row;
	int err = calls_get(dispatch->service->store, arena, org_id, id, &row);
	struct settle *settling = find_settle(dispatch, id);

	if (err || row.completed)
		answer_later(dispatch, reply, err);
	else if (!settling)
		complete(dispatch, &row, reply);
	else if (!waiters_add(&settling->waiters, reply))
		answer_later(dispatch, reply, -EBUSY);
	arena_close(&arena);
}

void dispatch_stop(struct dispatch *dispatch, const char *org_id,
		   const char *id, struct store_reply reply)
{
	struct live *live = find(dispatch, id);

	if (!live || strcmp(call_org_id(live->call), org_id) != 0) {
		stop_stored(dispatch, org_id, id, reply);
		return;
	}
	if (!waiters_add(&live->waiters, reply))
		answer_later(dispatch, reply, -EBUSY);
	call_stop(live->call, NULL);
}

/* An INVITE with Replaces: no new call. */
static int replace(struct dispatch *dispatch, struct arena *arena,
		   struct session *session, const struct ua_invite *invite)
{
	struct live *live = dispatch->lives;
	int status;

	while (live && !call_has_session(live->call, invite->replaces))
		live = live->next;
	if (!live)
		return 481;
	status = inbound_may_replace(dispatch->service, arena, invite,
				     live->call);
	return status ? status : call_replace(live->call, session, invite);
}

static int take(struct dispatch *dispatch, struct arena *arena,
		struct session *session, const struct ua_invite *invite)
{
	struct inbound_call inbound;
	struct call_incoming incoming = { .session = session,
					  .offer = invite->offer,
					  .row = &inbound.row };
	struct live *live;
	int status = inbound_route(&inbound, dispatch->service, arena, invite);

	if (!status && dispatch->drain.is_on)
		status = 503;
	if (!status && is_full(dispatch))
		status = load_refuse(dispatch->load);
	if (!status &&
	    dispatch_live(dispatch, inbound.row.org_id) >= inbound.concurrency)
		status = 486;
	if (status)
		return status;
	live = add_live(dispatch);
	incoming.variables = inbound_variables(&inbound, invite);
	status = call_take(&live->call, dispatch->service, &incoming,
			   on_call_done, live);
	json_decref(incoming.variables);
	if (status)
		mem_free(live);
	else
		enlist(live);
	return status;
}

int dispatch_on_invite(void *owner, struct session *session,
		       const struct ua_invite *invite)
{
	struct arena *arena = arena_open();
	int status = invite->replaces ? replace(owner, arena, session, invite)
				      : take(owner, arena, session, invite);

	arena_close(&arena);
	return status;
}

int dispatch_open(struct dispatch **out, struct service *service)
{
	struct dispatch *dispatch = mem_new(sizeof(*dispatch));

	dispatch->service = service;
	dispatch->timer = timer_new(service->loop);
	dispatch->deadline = timer_new(service->loop);
	load_open(&dispatch->load, service, on_relief, dispatch);
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
		settling->dispatch = NULL;
		if (settling->timer)
			settle_free(settling);
	}
	timer_close(&dispatch->timer);
	timer_close(&dispatch->deadline);
	load_close(&dispatch->load);
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
	load_stats(dispatch->load, &out->load);
}
