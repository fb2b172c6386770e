/* SPDX-License-Identifier: MIT */
/* How a call ends: the dialogue and the leg are closed, the recording's last
 * block reaches the disk, the summary is written, and then row, webhook and
 * state become visible in one commit. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "agent/call/call_priv.h"
#include "agent/call/record.h"
#include "agent/call/trace.h"
#include "agent/call/transfer.h"
#include "agent/call/webhook.h"
#include "core/id.h"
#include "core/json.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/time.h"
#include "core/timer.h"
#include "store/outbox.h"
#include "store/recordings.h"

enum {
	CLOSING_MAX_MS = 10 * 1000,
	STORE_RETRY_MS = 1000,
	COMPLAINT_MS = 60 * 1000 /* between two of the same call */
};

static void complete(struct call *call);

/* ---- in-call webhook events ---- */

static bool wants_group(const struct call *call, const char *group)
{
	json_t *groups =
		json_object_get(call->prepared.settings, "webhook_events");
	size_t i;
	json_t *value;

	if (json_is_string(groups))
		return !strcmp(json_string_value(groups), group);
	json_array_foreach(groups, i, value) {
		if (json_is_string(value) &&
		    !strcmp(json_string_value(value), group))
			return true;
	}
	return false;
}

/* Only what is committed can be read: woken before, the outbox would sleep
 * on. */
static void on_notice_stored(void *owner, int err)
{
	struct call *call = owner;

	call->life.store_replies--;
	if (call->life.is_closed)
		call_free_if_idle(call);
	else if (!err)
		webhook_wake(call->service->webhook);
}

void call_notify(struct call *call, const char *event, const char *message)
{
	const char *url = json_str(call->prepared.settings, "webhook");
	json_t *body = json_object();
	char id[ID_UUID_SIZE];
	char *text;
	struct outbox_row row = { .id = id,
				  .org_id = call->row.org_id,
				  .call_id = call->row.id,
				  .url = url,
				  .send_type = "event",
				  .created_ms =
					  loop_wall_ms(call->service->loop) };

	json_put_str(body, "message", message);
	json_put_str(body, "call_id", call->row.id);
	json_put_str(body, "category", "call");
	json_put_str(body, "log_level", "info");
	json_put_str(body, "event", event);
	text = json_text(body);
	row.body = text;
	id_uuid(id);
	if (url && wants_group(call, "call")) {
		call->life.store_replies++;
		outbox_insert(call->service->store, &row,
			      (struct store_reply){ on_notice_stored, call });
	}
	mem_free(text);
	json_decref(body);
}

/* ---- what the call leaves ---- */

static void put_real(json_t *object, const char *key, double value)
{
	json_put(object, key, json_real((double)(int64_t)(value * 100) / 100));
}

static json_t *media_json(const struct stream_report *report)
{
	json_t *media = json_object();

	json_put_str(media, "codec", report->codec);
	json_put_bool(media, "encrypted", true);
	json_put_int(media, "packets_received", (int64_t)report->packets_in);
	json_put_int(media, "packets_sent", (int64_t)report->packets_out);
	json_put_int(media, "lost", (int64_t)report->lost);
	json_put_int(media, "late", (int64_t)report->late);
	json_put_int(media, "duplicate", (int64_t)report->duplicate);
	json_put_int(media, "reordered", (int64_t)report->reordered);
	json_put_int(media, "concealed", (int64_t)report->concealed);
	json_put_int(media, "failed_authentication",
		     (int64_t)report->auth_failures);
	json_put_int(media, "replayed", (int64_t)report->replays);
	put_real(media, "jitter_ms", report->jitter_ms);
	if (report->rtt_ms < 0)
		json_put(media, "rtt_ms", json_null());
	else
		put_real(media, "rtt_ms", report->rtt_ms);
	put_real(media, "mos", report->mos);
	return media;
}

void call_add_media(struct call *call)
{
	struct call_outcome *outcome = &call->outcome;
	struct stream_report report;

	stream_report(leg_stream(call->leg), &report);
	if (!outcome->media)
		outcome->media = json_array();
	json_array_append_new(outcome->media, media_json(&report));
	outcome->recorded_ms = report.recorded_ms;
}

static void gather(struct call *call)
{
	struct call_outcome *outcome = &call->outcome;

	if (call->dialogue) {
		const struct pathway *pathway =
			dialogue_pathway(call->dialogue);

		outcome->variables = json_deep_copy(pathway_variables(pathway));
		outcome->latency =
			latency_json(dialogue_latency(call->dialogue));
		call->row.answered_by = dialogue_heard_caller(call->dialogue)
						? "human"
						: "unknown";
	}
	if (call->leg && call->row.times.answered_ms)
		call_add_media(call);
}

/* ---- closing: disk and summary, side by side ---- */

static void check_closed(struct call *call)
{
	if (call->question || call->life.waits_disk)
		return;
	complete(call);
}

static void on_closing_late(void *arg)
{
	struct call *call = arg;

	log_warn("call", call->row.id,
		 "completed without waiting longer for %s",
		 call->question ? "the summary" : "the recording");
	model_cancel(&call->question);
	if (call->life.waits_disk)
		call->outcome.recording_failed = true;
	complete(call);
}

static void on_summary(void *owner, const struct model_answer *answer)
{
	struct call *call = owner;

	if (!answer->error)
		call->outcome.summary = mem_dup_str(answer->text);
	check_closed(call);
}

/* On the disk thread: all that was queued before us is written. */
static void measure_file(void *arg)
{
	struct call *call = arg;
	struct stat st;

	if (call->outcome.file && !stat(call->outcome.file, &st))
		call->outcome.recorded_bytes = st.st_size;
}

static void on_disk_done(void *arg)
{
	struct call *call = arg;

	call->life.waits_disk = false;
	if (call->life.is_closed)
		call_free_if_idle(call);
	else if (call->state == CALL_CLOSING)
		check_closed(call);
}

/* History as the model saw it; variables as they ended. */
static void ask_summary(struct call *call, const json_t *history)
{
	struct model_question question = {
		.task = MODEL_SUMMARISE,
		.user_text = "",
		.history = history,
		.variables = call->outcome.variables,
		.summarise = {
			.outcome = call->outcome.status,
			.prompt = json_str(call->prepared.settings,
					   "summary_prompt"),
		},
	};

	if (!question.summarise.prompt)
		question.summarise.prompt = "";
	if (model_ask(&call->question, call->service->model, &question,
		      on_summary, call))
		call->question = NULL;
}

static void wait_disk(struct call *call)
{
	static const struct job_fns fns = { measure_file, on_disk_done };

	call->life.waits_disk = true;
	work_queue(call->service->work, WORK_DISK, NULL, &fns, call);
}

void call_end(struct call *call, const struct leg_end *end)
{
	struct call_outcome *outcome = &call->outcome;
	json_t *history;

	call_enter(call, CALL_CLOSING);
	call->row.times.end_ms = loop_wall_ms(call->service->loop);
	if (call->dialogue)
		dialogue_stop(call->dialogue);
	outcome->status = end->status;
	if (outcome->error[0] && strcmp(end->status, "completed") == 0)
		outcome->status = "failed";
	else if (end->message && !outcome->error[0])
		snprintf(outcome->error, sizeof(outcome->error), "%s",
			 end->message);
	if (!end->was_up)
		outcome->ended_by = NULL;
	else if (!outcome->ended_by && end->by_remote)
		outcome->ended_by = "USER";
	gather(call);
	history = call->dialogue ? json_deep_copy(pathway_history(
					   dialogue_pathway(call->dialogue)))
				 : json_array();
	dialogue_close(&call->dialogue);
	transfer_close(&call->transfer);
	leg_close(&call->leg);
	log_info("call", call->row.id, "ended: %s %s", outcome->status,
		 outcome->error);
	if (end->was_up)
		call_notify(call, "ended", "Call ended");
	timer_start(call->timer, CLOSING_MAX_MS, on_closing_late, call);
	wait_disk(call);
	ask_summary(call, history);
	json_decref(history);
}

/* ---- storing ---- */

static void post_done(void *arg)
{
	struct call *call = arg;

	call->life.done(call->life.owner, call);
}

/* A full disk may last, and every call that ends on it waits. */
static void complain(struct call *call, int err)
{
	int64_t now_ms = loop_wall_ms(call->service->loop);

	if (call->life.complained_ms &&
	    now_ms - call->life.complained_ms < COMPLAINT_MS)
		return;
	call->life.complained_ms = now_ms;
	log_error("call", call->row.id,
		  "its end could not be stored (%s); trying again",
		  strerror(-err));
}

static void on_store_retry(void *arg)
{
	complete(arg);
}

static void on_stored(void *owner, int err)
{
	struct call *call = owner;

	call->life.store_replies--;
	if (call->life.is_closed) {
		call_free_if_idle(call);
		return;
	}
	if (err && err != -EALREADY) {
		call->life.is_missing |= err == -ENOENT;
		complain(call, err);
		timer_start(call->timer, STORE_RETRY_MS, on_store_retry, call);
		return;
	}
	call_enter(call, CALL_DONE);
	webhook_wake(call->service->webhook);
	timer_start(call->timer, 0, post_done, call);
}

static const char *no_answer(const struct call *call)
{
	if (call->row.answered_by)
		return call->row.answered_by;
	return strcmp(call->outcome.status, "no-answer") ? NULL : "no-answer";
}

static void put_recording(struct call *call)
{
	struct recording_row row = {
		.call_id = call->row.id,
		.org_id = call->row.org_id,
		.file = call->row.recording,
		.bytes = call->life.waits_disk ? 0
					       : call->outcome.recorded_bytes,
		.duration_ms = call->outcome.recorded_ms,
		.complete = !call->outcome.recording_failed,
		.created_ms = call->row.times.answered_ms,
	};

	if (row.file)
		recordings_put(call->service->store, &row,
			       (struct store_reply){ 0 });
}

static struct event_row row_of(const json_t *event, struct arena *arena)
{
	const char *created_at = json_str(event, "created_at");
	struct event_row row = {
		.sequence =
			json_integer_value(json_object_get(event, "sequence")),
		.type = json_str(event, "event_type"),
		.node_id = json_str(event, "node_id"),
		.operation_id = json_integer_value(
			json_object_get(event, "operation_id")),
	};
	char *payload = json_text(json_object_get(event, "payload"));

	row.payload = arena_dup_str(arena, payload);
	mem_free(payload);
	if (created_at)
		time_parse(&row.created_ms, slice_of(created_at));
	return row;
}

/* The timeline in memory as rows; the payloads live in the arena. */
static struct event_list rows_of(const struct call *call, struct arena *arena)
{
	const json_t *events = timeline_json(call->timeline);
	struct event_list list = { .n = json_array_size(events) };

	list.rows = arena_new(arena, (list.n + 1) * sizeof(*list.rows));
	for (size_t i = 0; i < list.n; i++)
		list.rows[i] = row_of(json_array_get(events, i), arena);
	return list;
}

/* Those that a failing store did not take when they happened. Both lists rise
 * in sequence. */
static void add_missing(const struct call *call, struct call_end *end,
			const struct event_list *all, struct arena *arena)
{
	struct event_list stored = { 0 };
	struct event_row *missing =
		arena_new(arena, (all->n + 1) * sizeof(*missing));
	size_t at = 0;

	end->events = missing;
	if (!call->life.lacks_events ||
	    events_list(call->service->store, arena, call->row.id, 0, &stored))
		return;
	for (size_t i = 0; i < all->n; i++) {
		if (at < stored.n &&
		    stored.rows[at].sequence == all->rows[i].sequence)
			at++;
		else
			missing[end->n_events++] = all->rows[i];
	}
}

/* An incoming call whose row a failing store did not take. */
static void insert_again(const struct call *call, const struct call_row *row)
{
	struct call_row open = *row;

	open.completed = false;
	open.queue_status = "started";
	calls_insert(call->service->store, &open, (struct store_reply){ 0 });
}

static void complete(struct call *call)
{
	struct arena *arena = arena_open();
	struct event_list events = rows_of(call, arena);
	struct call_outcome *outcome = &call->outcome;
	char webhook_id[ID_UUID_SIZE];
	struct call_end end = {
		.webhook = { .id = webhook_id,
			     .org_id = call->row.org_id,
			     .call_id = call->row.id,
			     .url = json_str(call->prepared.settings,
					     "webhook"),
			     .send_type = "spawn",
			     .created_ms = call->row.times.end_ms },
	};
	struct record_outcome told = {
		.error_message = outcome->error[0] ? outcome->error : NULL,
		.ended_by = outcome->ended_by,
		.summary = outcome->summary,
		.variables = outcome->variables,
		.latency = outcome->latency,
		.media = outcome->media,
	};
	struct record_input input = { .row = &end.row,
				      .events = &events,
				      .outcome = &told,
				      .base_url = call->service->base_url };

	if (call->state == CALL_CLOSING)
		call_enter(call, CALL_STORING);
	id_uuid(webhook_id);
	put_recording(call);
	call->row.answered_by = no_answer(call);
	call->row.completed = true;
	call->row.queue_status =
		strcmp(outcome->status, "failed") ? "complete" : "call_error";
	call->row.status = outcome->status;
	end.row = call->row;
	if (outcome->recording_failed)
		end.row.recording = NULL;
	record_render(&end.row, arena, &input);
	end.webhook.body = end.row.body;
	add_missing(call, &end, &events, arena);
	if (call->life.is_missing)
		insert_again(call, &end.row);
	call_trace_flush(call->trace);
	call->life.store_replies++;
	calls_complete(call->service->store, &end,
		       (struct store_reply){ on_stored, call });
	arena_close(&arena);
}
