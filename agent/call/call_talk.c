/* SPDX-License-Identifier: MIT */
/* A call that is up: its recording, its conversation, and what ends it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "agent/call/call_priv.h"
#include "agent/call/record.h"
#include "agent/call/transfer.h"
#include "core/config.h"
#include "core/json.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/timer.h"
#include "store/recordings.h"

void call_hangup(struct call *call, int code, const char *text)
{
	struct leg_end lost;

	call->outcome.ended_by = "ASSISTANT";
	if (transfer_drop(call, &lost))
		call_end(call, &lost);
	else
		leg_hangup(call->leg, code, text);
}

static void on_dialogue_end(void *owner, const char *why)
{
	struct call *call = owner;

	log_info("call", call->row.id, "conversation over: %s", why);
	call_hangup(call, 0, NULL);
}

static int on_transfer(void *owner, const char *number)
{
	return transfer_away(owner, number);
}

static void on_max_duration(void *arg)
{
	struct call *call = arg;

	log_info("call", call->row.id, "max_duration reached");
	call_hangup(call, 0, NULL);
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

/* What the caller's INVITE brought goes over what was configured. */
static json_t *start_variables(const struct call *call)
{
	json_t *variables = prepare_variables(&call->prepared, &call->row);

	json_object_update(variables, call->mapped);
	json_put_str(variables, "call_id", call->row.id);
	return variables;
}

/* Where a Transfer node without a number of its own leads: "default". */
static json_t *transfer_list(const json_t *settings)
{
	const char *number = json_str(settings, "transfer_phone_number");
	json_t *named = json_object_get(settings, "transfer_list");
	json_t *list = json_is_object(named) ? json_copy(named) : json_object();

	if (number && !json_object_get(list, "default"))
		json_put_str(list, "default", number);
	return list;
}

static int start_dialogue(struct call *call)
{
	const json_t *settings = call->prepared.settings;
	json_t *threshold = json_object_get(settings, "interruption_threshold");
	json_t *variables = start_variables(call);
	json_t *init = init_members(call);
	json_t *transfers = transfer_list(settings);
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
			.transfer_list = transfers,
			.ignore_digits = json_is_true(json_object_get(
				settings, "ignore_button_press")),
		},
		.on_transfer = on_transfer,
	};
	int err;

	call->prepared.graph = NULL; /* the pathway owns it now */
	err = dialogue_open(&call->dialogue, &options, on_dialogue_end, call);
	json_decref(variables);
	json_decref(init);
	json_decref(transfers);
	return err;
}

void call_store_progress(struct call *call)
{
	struct arena *arena = arena_open();
	struct call_row row = call->row;
	struct record_input input = { .row = &row,
				      .base_url = call->service->base_url };

	if (call->outcome.recording_failed)
		row.recording = NULL;
	record_render(&row, arena, &input);
	calls_update(call->service->store, &row, (struct store_reply){ 0 });
	arena_close(&arena);
}

void call_up(struct call *call)
{
	int err;

	call_enter(call, CALL_UP);
	call->row.times.answered_ms = loop_wall_ms(call->service->loop);
	log_info("call", call->row.id, "answered");
	start_recording(call);
	call_store_progress(call);
	call_notify(call, "connected", "Call connected");
	timer_start(call->timer, call->prepared.max_ms, on_max_duration, call);
	err = start_dialogue(call);
	if (err) {
		snprintf(call->outcome.error, sizeof(call->outcome.error),
			 err == -ENOENT ? "start_node_id names no node of the "
					  "pathway."
					: "The conversation could not start.");
		leg_hangup(call->leg, 0, NULL);
	}
}
