/* SPDX-License-Identifier: MIT */
#include "agent/call/call_priv.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "agent/call/headers.h"
#include "agent/call/record.h"
#include "agent/call/trace.h"
#include "agent/call/transfer.h"
#include "core/config.h"
#include "core/json.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/ua.h"

static const char *const state_names[] = { "allocating", "dialing", "up",
					   "closing",	 "storing", "done" };

void call_enter(struct call *call, enum call_state next)
{
	static const unsigned allowed[] = {
		[CALL_ALLOCATING] = 1 << CALL_DIALING | 1 << CALL_CLOSING,
		[CALL_DIALING] = 1 << CALL_UP | 1 << CALL_CLOSING,
		[CALL_UP] = 1 << CALL_CLOSING,
		[CALL_CLOSING] = 1 << CALL_STORING,
		[CALL_STORING] = 1 << CALL_DONE,
		[CALL_DONE] = 0,
	};

	assert(allowed[call->state] & 1u << next);
	log_debug("call", call->row.id, "%s -> %s", state_names[call->state],
		  state_names[next]);
	call->state = next;
	timer_stop(call->timer);
}

/* ---- the timeline goes to the store as it happens ---- */

static void on_event_stored(void *owner, int err)
{
	struct call *call = owner;

	call->life.store_replies--;
	call->life.lacks_events |= err != 0;
	if (call->life.is_closed)
		call_free_if_idle(call);
}

static void on_event(void *owner, const struct timeline_event *event)
{
	struct call *call = owner;
	char *payload = json_text(event->payload);
	struct event_row row = { .sequence = event->sequence,
				 .type = event->type,
				 .node_id = event->node_id,
				 .operation_id = event->operation_id,
				 .payload = payload,
				 .created_ms = event->created_ms };

	call->life.store_replies++;
	events_append(call->service->store, call->row.id, &row,
		      (struct store_reply){ on_event_stored, call });
	mem_free(payload);
}

/* ---- the leg ---- */

static void on_up(void *owner)
{
	call_up(owner);
}

static void on_frame(void *owner, const int16_t *samples, bool is_voice)
{
	struct call *call = owner;

	if (call->dialogue)
		dialogue_frame(call->dialogue, samples, is_voice);
}

static void on_digit(void *owner, char digit)
{
	struct call *call = owner;

	log_debug("call", call->row.id, "key %c", digit);
	if (call->dialogue)
		dialogue_digit(call->dialogue, digit);
}

static void on_recording_failed(void *owner, const char *why)
{
	struct call *call = owner;

	log_error("call", call->row.id, "recording stopped: %s", why);
	call->outcome.recording_failed = true;
	call_store_progress(call);
}

static int on_refer(void *owner, const struct session_refer *refer)
{
	return transfer_by_refer(owner, refer);
}

static void on_refer_status(void *owner, int status, bool is_over)
{
	transfer_on_status(owner, status, is_over);
}

static void on_leg_end(void *owner, const struct leg_end *end)
{
	if (!transfer_outlives(owner, end))
		call_end(owner, end);
}

const struct leg_events call_leg_events = {
	.on_up = on_up,
	.on_frame = on_frame,
	.on_digit = on_digit,
	.on_recording_failed = on_recording_failed,
	.on_refer = on_refer,
	.on_refer_status = on_refer_status,
	.on_end = on_leg_end,
};

/* ---- set-up ---- */

static void fail_now(struct call *call, const char *why)
{
	struct leg_end end = { .status = "failed", .message = why };

	call_end(call, &end);
}

void call_invite(struct call *call, const struct prepared *prepared,
		 struct session_call *invite)
{
	struct headers_source source = {
		.loop = call->service->loop,
		.row = &call->row,
		.timezone = json_str(call->prepared.settings, "timezone"),
	};
	const json_t *live = call_variables(call);
	json_t *variables =
		live ? json_incref((json_t *)live)
		     : prepare_variables(&call->prepared, &call->row);
	struct headers_list headers;
	int64_t ring_s =
		config_number(call->service->config, "sip.ring_timeout_s");

	source.variables = variables;
	headers_write(&headers, call->arena, prepared->headers, &source);
	json_decref(variables);
	invite->trunk = &prepared->trunk;
	invite->from_number = call_own_number(call);
	invite->headers = headers.items;
	invite->n_headers = headers.n;
	invite->ring_timeout_ms = (uint32_t)ring_s * 1000;
}

static int find_graph_and_trunk(struct call *call)
{
	int err = prepare(&call->prepared, call->service, call->arena,
			  &call->row);

	return err ? err
		   : prepare_trunk(&call->prepared, call->service, call->arena,
				   &call->row);
}

static void dial(struct call *call)
{
	struct leg_env env = { .ua = call->service->ua,
			       .media = call->service->media,
			       .trace = call->trace };
	struct session_call invite = { .to_number = call->row.to };
	int err;

	call_enter(call, CALL_DIALING);
	if (find_graph_and_trunk(call)) {
		fail_now(call, call->prepared.why);
		return;
	}
	call_invite(call, &call->prepared, &invite);
	log_info("call", call->row.id, "dialing %s from %s over %s",
		 call->row.to, call->row.from, call->prepared.trunk.host);
	err = leg_dial(&call->leg, &env, &invite, &call_leg_events, call);
	if (err)
		log_error("call", call->row.id, "cannot be set up: %s",
			  strerror(-err));
	if (err == -EAGAIN)
		fail_now(call, "No media port is free.");
	else if (err)
		fail_now(call, "The call could not be set up.");
}

static void on_allocated(void *owner, int err)
{
	struct call *call = owner;

	call->life.store_replies--;
	if (call->life.is_closed)
		call_free_if_idle(call);
	else if (call->state != CALL_ALLOCATING)
		return; /* stopped meanwhile */
	else if (err)
		fail_now(call, "The call could not be stored as started.");
	else
		dial(call);
}

static void copy_row(struct call *call, const struct call_row *row)
{
	struct call_row *own = &call->row;

	*own = *row;
	own->id = arena_dup_str(call->arena, row->id);
	own->org_id = arena_dup_str(call->arena, row->org_id);
	own->to = arena_dup_str(call->arena, row->to);
	own->from = arena_dup_str(call->arena, row->from);
	own->request = arena_dup_str(call->arena, row->request);
	own->queue_status = "started";
	own->status = own->answered_by = NULL;
	own->body = own->brief = own->recording = NULL;
}

static struct call *call_new(struct service *service,
			     const struct call_row *row, call_done_fn *on_done,
			     void *owner)
{
	struct call *call = mem_new(sizeof(*call));

	call->service = service;
	call->arena = arena_open();
	copy_row(call, row);
	call->prepared.settings = json_parse(slice_of(row->request), NULL);
	call->timer = timer_new(service->loop);
	call->timeline = timeline_open(service->loop, on_event, call);
	call->trace = call_trace_open(service, call->row.id);
	call->outcome.recorded_ms = -1;
	call->life.done = on_done;
	call->life.owner = owner;
	call->row.times.started_ms = loop_wall_ms(service->loop);
	return call;
}

struct call *call_dial(struct service *service, const struct call_row *row,
		       call_done_fn *on_done, void *owner)
{
	struct call *call = call_new(service, row, on_done, owner);
	struct arena *arena = arena_open();
	struct call_row update = call->row;
	struct record_input input = { .row = &update,
				      .base_url = service->base_url };

	record_render(&update, arena, &input);
	call->life.store_replies++;
	calls_update(service->store, &update,
		     (struct store_reply){ on_allocated, call });
	arena_close(&arena);
	return call;
}

int call_take(struct call **out, struct service *service,
	      const struct call_incoming *incoming, call_done_fn *on_done,
	      void *owner)
{
	struct call *call = call_new(service, incoming->row, on_done, owner);
	struct leg_env env = { .ua = service->ua,
			       .media = service->media,
			       .trace = call->trace };
	struct leg_incoming leg = { .session = incoming->session,
				    .offer = incoming->offer };
	struct arena *arena = arena_open();
	struct call_row insert = call->row;
	struct record_input input = { .row = &insert,
				      .base_url = service->base_url };
	int status = 500;

	call->mapped = json_incref(incoming->variables);
	call_enter(call, CALL_DIALING);
	if (prepare(&call->prepared, service, call->arena, &call->row))
		log_warn("call", call->row.id, "refused: %s",
			 call->prepared.why);
	else
		status = leg_take(&call->leg, &env, &leg, &call_leg_events,
				  call);
	if (!status) {
		record_render(&insert, arena, &input);
		calls_insert(service->store, &insert,
			     (struct store_reply){ 0 });
		*out = call;
	} else {
		call_trace_forget(&call->trace);
		call_close(&call);
		*out = NULL;
	}
	arena_close(&arena);
	return status;
}

void call_stop(struct call *call, const char *message)
{
	struct leg_end end = {
		.status = "canceled",
		.message = message ? message
				   : "The call was stopped before it was "
				     "answered."
	};

	switch (call->state) {
	case CALL_ALLOCATING:
		call_end(call, &end);
		break;
	case CALL_DIALING:
	case CALL_UP:
		if (message && call->state == CALL_DIALING)
			snprintf(call->outcome.error,
				 sizeof(call->outcome.error), "%s", message);
		call_hangup(call, message ? 503 : 0, message);
		break;
	case CALL_CLOSING:
	case CALL_STORING:
	case CALL_DONE:
		break;
	}
}

void call_free_if_idle(struct call *call)
{
	if (call->life.store_replies || call->life.waits_disk)
		return;
	timeline_close(&call->timeline);
	timer_close(&call->timer);
	json_decref(call->mapped);
	mem_free(call->outcome.summary);
	json_decref(call->outcome.latency);
	json_decref(call->outcome.media);
	json_decref(call->outcome.variables);
	prepared_reset(&call->prepared);
	arena_close(&call->arena);
	mem_free(call);
}

void call_close(struct call **closing)
{
	struct call *call = *closing;

	if (!call)
		return;
	*closing = NULL;
	model_cancel(&call->question);
	dialogue_close(&call->dialogue);
	transfer_close(&call->transfer);
	leg_close(&call->leg);
	call_trace_release(&call->trace);
	timer_stop(call->timer);
	call->life.is_closed = true;
	call_free_if_idle(call);
}

const char *call_id(const struct call *call)
{
	return call->row.id;
}

const char *call_org_id(const struct call *call)
{
	return call->row.org_id;
}

const json_t *call_variables(const struct call *call)
{
	if (call->dialogue)
		return pathway_variables(dialogue_pathway(call->dialogue));
	return call->outcome.variables;
}

bool call_needs_port(const struct call *call)
{
	return call->state == CALL_ALLOCATING;
}

const char *call_own_number(const struct call *call)
{
	return call->row.inbound ? call->row.to : call->row.from;
}

int call_replace(struct call *call, struct session *session,
		 const struct ua_invite *invite)
{
	struct leg_incoming incoming = { .session = session,
					 .offer = invite->offer };

	return transfer_by_invite(call, &incoming, invite->from_number);
}

bool call_has_session(const struct call *call, const struct session *session)
{
	return call->leg && leg_session(call->leg) == session;
}
