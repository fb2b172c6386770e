/* SPDX-License-Identifier: MIT */
#include "agent/call/call_priv.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "agent/call/record.h"
#include "core/config.h"
#include "core/json.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/time.h"
#include "core/timer.h"
#include "store/recordings.h"

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

/* ---- talk ---- */

static void on_dialogue_end(void *owner, const char *why)
{
	struct call *call = owner;

	log_info("call", call->row.id, "conversation over: %s", why);
	call->outcome.ended_by = "ASSISTANT";
	leg_hangup(call->leg, NULL);
}

static void on_max_duration(void *arg)
{
	struct call *call = arg;

	log_info("call", call->row.id, "max_duration reached");
	call->outcome.ended_by = "ASSISTANT";
	leg_hangup(call->leg, NULL);
}

static void start_recording(struct call *call)
{
	const char *folder =
		config_text(call->service->config, "recordings.path");
	char *file = arena_printf(call->arena, "%s.wav", call->row.id);
	char *path = arena_printf(call->arena, "%s/%s", folder, file);
	struct recording_row row = { .call_id = call->row.id,
				     .org_id = call->row.org_id,
				     .file = file,
				     .created_ms =
					     call->row.times.answered_ms };
	int err;

	if (!json_is_true(json_object_get(call->prepared.settings, "record")))
		return;
	err = stream_record(leg_stream(call->leg), path);
	if (err) {
		log_error("call", call->row.id, "recording %s: %s", path,
			  strerror(-err));
		call->outcome.recording_failed = true;
		return;
	}
	call->row.recording = file;
	call->outcome.file = path;
	recordings_put(call->service->store, &row, (struct store_reply){ 0 });
}

static json_t *init_members(const struct call *call)
{
	const char *pathway = json_str(call->prepared.settings, "pathway_id");
	json_t *metadata = json_object_get(call->prepared.settings, "metadata");
	json_t *init = json_object();

	json_put_str(init, "pathway_id", pathway);
	if (pathway)
		json_put_int(init, "version", call->prepared.version);
	if (metadata)
		json_object_set(init, "metadata", metadata);
	return init;
}

static int start_dialogue(struct call *call)
{
	const json_t *settings = call->prepared.settings;
	json_t *threshold = json_object_get(settings, "interruption_threshold");
	json_t *variables = prepare_variables(&call->prepared, &call->row);
	json_t *init = init_members(call);
	struct dialogue_options options = {
		.loop = call->service->loop,
		.speech = call->service->speech,
		.stream = leg_stream(call->leg),
		.call_id = call->row.id,
		.settings = {
			.voice = json_str(settings, "voice"),
			.end_ms = (uint32_t)json_integer_value(threshold),
			.block_interruptions = json_is_true(json_object_get(
				settings, "block_interruptions")),
			.wait_for_greeting = json_is_true(json_object_get(
				settings, "wait_for_greeting")),
		},
		.pathway = {
			.loop = call->service->loop,
			.graph = call->prepared.graph,
			.model = call->service->model,
			.fetch = call->service->fetch,
			.timeline = call->timeline,
			.call_id = call->row.id,
			.start_node_id = json_str(settings, "start_node_id"),
			.variables = variables,
			.init = init,
			.timezone = json_str(settings, "timezone"),
			.ignore_digits = json_is_true(json_object_get(
				settings, "ignore_button_press")),
		},
	};
	int err;

	call->prepared.graph = NULL; /* the pathway owns it now */
	err = dialogue_open(&call->dialogue, &options, on_dialogue_end, call);
	json_decref(variables);
	json_decref(init);
	return err;
}

static void store_progress(struct call *call)
{
	struct arena *arena = arena_open();
	struct call_row row = call->row;
	struct record_input input = { .row = &row,
				      .base_url = call->service->base_url };

	record_render(&row, arena, &input);
	calls_update(call->service->store, &row, (struct store_reply){ 0 });
	arena_close(&arena);
}

static void on_up(void *owner)
{
	struct call *call = owner;
	int err;

	call_enter(call, CALL_UP);
	call->row.times.answered_ms = loop_wall_ms(call->service->loop);
	log_info("call", call->row.id, "answered");
	start_recording(call);
	store_progress(call);
	call_notify(call, "connected", "Call connected");
	timer_start(call->timer, call->prepared.max_ms, on_max_duration, call);
	err = start_dialogue(call);
	if (err) {
		snprintf(call->outcome.error, sizeof(call->outcome.error),
			 err == -ENOENT ? "start_node_id names no node of the "
					  "pathway."
					: "The conversation could not start.");
		leg_hangup(call->leg, NULL);
	}
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
}

static void on_leg_end(void *owner, const struct leg_end *end)
{
	call_end(owner, end);
}

static const struct leg_events leg_events = {
	.on_up = on_up,
	.on_frame = on_frame,
	.on_digit = on_digit,
	.on_recording_failed = on_recording_failed,
	.on_end = on_leg_end,
};

/* ---- set-up ---- */

static void fail_now(struct call *call, const char *why)
{
	struct leg_end end = { .status = "failed", .message = why };

	call_end(call, &end);
}

static void dial(struct call *call)
{
	struct leg_env env = { .ua = call->service->ua,
			       .media = call->service->media };
	struct session_call invite = {
		.trunk = &call->prepared.trunk,
		.to_number = call->row.to,
		.from_number = call->row.from,
		.ring_timeout_ms =
			(uint32_t)config_number(call->service->config,
						"sip.ring_timeout_s") *
			1000,
	};
	int err;

	call_enter(call, CALL_DIALING);
	if (prepare(&call->prepared, call->service, call->arena, &call->row) ||
	    prepare_trunk(&call->prepared, call->service, call->arena,
			  &call->row)) {
		fail_now(call, call->prepared.why);
		return;
	}
	log_info("call", call->row.id, "dialing %s from %s over %s",
		 call->row.to, call->row.from, call->prepared.trunk.host);
	err = leg_dial(&call->leg, &env, &invite, &leg_events, call);
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
	struct leg_env env = { .ua = service->ua, .media = service->media };
	struct leg_incoming leg = { .session = incoming->session,
				    .offer = incoming->offer };
	struct arena *arena = arena_open();
	struct call_row insert = call->row;
	struct record_input input = { .row = &insert,
				      .base_url = service->base_url };
	int status = 500;

	call_enter(call, CALL_DIALING);
	if (prepare(&call->prepared, service, call->arena, &call->row))
		log_warn("call", call->row.id, "refused: %s",
			 call->prepared.why);
	else
		status = leg_take(&call->leg, &env, &leg, &leg_events, call);
	if (!status) {
		record_render(&insert, arena, &input);
		calls_insert(service->store, &insert,
			     (struct store_reply){ 0 });
		*out = call;
	} else {
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
		call->outcome.ended_by = "ASSISTANT";
		leg_hangup(call->leg, NULL);
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
	leg_close(&call->leg);
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

const json_t *call_latency(const struct call *call)
{
	return call->outcome.latency;
}

bool call_has_failed(const struct call *call)
{
	return call->outcome.status &&
	       strcmp(call->outcome.status, "completed") != 0;
}
