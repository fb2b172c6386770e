/* SPDX-License-Identifier: MIT */
#include "agent/call/transfer.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "agent/call/call_priv.h"
#include "agent/call/phone.h"
#include "agent/call/plan.h"
#include "agent/call/referrer.h"
#include "agent/pathway/operation.h"
#include "core/config.h"
#include "core/json.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/uri.h"
#include "store/orgs.h"

enum {
	TRANSFERS_MAX = 32, /* tries of one call: each leaves events */
	LEAVE_MS = 5000, /* for the peer that asked to hang up by itself */
	EXTENSION_MAX = 6,
	URI_MAX_BYTES = 512
};

/* COMING --the new leg is up--> LEAVING --old leg over--> gone
 * COMING --it failed--> gone
 * SENDING --our REFER is over--> gone */
enum state { COMING, LEAVING, SENDING };

struct transfer {
	struct call *call; /* borrowed: owns us */
	enum state state;
	struct leg *leg; /* owned: COMING the new one, LEAVING the old one */
	struct timer *timer; /* owned */
	char *target; /* owned */
	struct operation operation;
	bool by_refer; /* of the peer, who is to be notified */
	bool is_accepted; /* SENDING: the peer will try */
	bool has_lost; /* COMING: the call's own leg has ended */
	struct leg_end lost; /* how; its text is that leg's */
};

static struct transfer *transfer_new(struct call *call, enum state state,
				     const char *target, const char *type)
{
	struct transfer *transfer = mem_new(sizeof(*transfer));
	json_t *payload = json_object();

	call->life.transfers++;
	transfer->call = call;
	transfer->state = state;
	transfer->target = mem_dup_str(target);
	transfer->timer = timer_new(call->service->loop);
	transfer->operation.timeline = call->timeline;
	json_put_str(payload, "target_number", target);
	json_put_str(payload, "transfer_type", type);
	operation_invoke(&transfer->operation, "transfer_call",
			 loop_now_us(call->service->loop), payload);
	log_info("call", call->row.id, "transfer to %s (%s)", target, type);
	return transfer;
}

void transfer_close(struct transfer **transfer)
{
	struct transfer *old = *transfer;

	if (!old)
		return;
	*transfer = NULL;
	leg_close(&old->leg);
	timer_close(&old->timer);
	mem_free(old->target);
	mem_free(old);
}

/* One that only waits for the old leg to leave is no hindrance: that one is
 * hung up now. */
static bool is_busy(struct call *call)
{
	if (call->transfer && call->transfer->state == LEAVING)
		transfer_close(&call->transfer);
	return call->transfer != NULL;
}

static void write_result(struct transfer *transfer, const char *status,
			 bool is_done)
{
	struct call *call = transfer->call;
	json_t *payload = json_object();
	char message[96];

	json_put_str(payload, "status", status);
	json_put_bool(payload, "success", is_done);
	operation_result(&transfer->operation, payload);
	log_info("call", call->row.id, "transfer to %s: %s", transfer->target,
		 status);
	if (!is_done)
		return;
	snprintf(message, sizeof(message), "Call transferred to %.60s",
		 transfer->target);
	call_notify(call, "transferred", message);
}

static void notify(struct transfer *transfer, int status)
{
	if (transfer->by_refer)
		session_refer_notify(leg_session(transfer->call->leg), status);
}

/* ---- the old leg leaves ---- */

static void ignore_event(void *owner)
{
	(void)owner;
}

static void ignore_frame(void *owner, const int16_t *samples, bool is_voice)
{
	(void)owner;
	(void)samples;
	(void)is_voice;
}

static void ignore_digit(void *owner, char digit)
{
	(void)owner;
	(void)digit;
}

static void ignore_failure(void *owner, const char *why)
{
	(void)owner;
	(void)why;
}

static void old_on_end(void *owner, const struct leg_end *end)
{
	struct transfer *transfer = owner;

	(void)end;
	transfer_close(&transfer->call->transfer);
}

static const struct leg_events old_events = {
	.on_up = ignore_event,
	.on_frame = ignore_frame,
	.on_digit = ignore_digit,
	.on_recording_failed = ignore_failure,
	.on_end = old_on_end,
};

static void on_leave(void *arg)
{
	struct transfer *transfer = arg;

	transfer_close(&transfer->call->transfer); /* BYE goes on by itself */
}

/* ---- the new leg comes ---- */

/* What was said, heard and recorded so far stays the call's. */
static void move_talk(struct call *call, struct leg *next)
{
	call_add_media(call);
	stream_take_over(leg_stream(next), leg_stream(call->leg));
	if (call->dialogue)
		dialogue_move(call->dialogue, leg_stream(next));
}

static void new_on_up(void *owner)
{
	struct transfer *transfer = owner;
	struct call *call = transfer->call;
	struct leg *old = call->leg;
	bool was_up = call->state == CALL_UP;

	assert(transfer->state == COMING);
	notify(transfer, 200);
	write_result(transfer, "answered", true);
	if (was_up)
		move_talk(call, transfer->leg);
	leg_give(transfer->leg, &call_leg_events, call);
	leg_give(old, &old_events, transfer);
	call->leg = transfer->leg;
	transfer->leg = old;
	transfer->state = LEAVING;
	timer_start(transfer->timer,
		    transfer->by_refer && !transfer->has_lost ? LEAVE_MS : 0,
		    on_leave, transfer);
	if (!was_up)
		call_up(call); /* last */
}

static int code_of(const struct leg_end *end)
{
	if (end->code)
		return end->code;
	return strcmp(end->status, "no-answer") ? 503 : 408;
}

static void new_on_end(void *owner, const struct leg_end *end)
{
	struct transfer *transfer = owner;
	struct call *call = transfer->call;
	struct leg_end lost = transfer->lost;
	bool has_lost = transfer->has_lost;

	assert(transfer->state == COMING);
	notify(transfer, code_of(end));
	write_result(transfer, end->status, false);
	if (end->message)
		log_info("call", call->row.id, "transfer failed: %s",
			 end->message);
	transfer_close(&call->transfer);
	if (has_lost)
		call_end(call, &lost); /* last */
}

static const struct leg_events new_events = {
	.on_up = new_on_up,
	.on_frame = ignore_frame,
	.on_digit = ignore_digit,
	.on_recording_failed = ignore_failure,
	.on_end = new_on_end,
};

bool transfer_outlives(struct call *call, const struct leg_end *end)
{
	struct transfer *transfer = call->transfer;
	bool has_left = transfer && transfer->is_accepted && end->by_remote;

	if (!transfer)
		return false;
	if (transfer->state == SENDING)
		write_result(transfer, has_left ? "left" : "failed", has_left);
	if (transfer->state != COMING || transfer->has_lost)
		return false;
	transfer->has_lost = true;
	transfer->lost = *end;
	return true;
}

bool transfer_drop(struct call *call, struct leg_end *lost)
{
	struct transfer *transfer = call->transfer;
	bool has_lost =
		transfer && transfer->has_lost && transfer->state == COMING;

	if (has_lost)
		*lost = transfer->lost;
	if (transfer && transfer->state != LEAVING)
		write_result(transfer, "canceled", false);
	transfer_close(&call->transfer);
	return has_lost;
}

/* ---- REFER from the peer ---- */

/* Where the trunk leads: its own host, ours for want of better, or none at all
 * (tel). */
static bool is_reachable(const struct call *call,
			 const struct session_trunk *trunk,
			 const struct session_refer *refer)
{
	const char *domain = config_text(call->service->config, "sip.domain");
	struct slice host = slice_of(refer->host);

	if (!host.len || slice_eq_nocase(host, slice_of(domain)))
		return true;
	return slice_eq_nocase(host, slice_of(trunk->host)) &&
	       (!refer->port || !trunk->port || refer->port == trunk->port);
}

/* "101", "*8": no number of the world's, so no plan judges it. */
static bool is_extension(const char *text)
{
	size_t len = strlen(text);

	return len > 0 && len <= EXTENSION_MAX &&
	       strspn(text, "0123456789*#") == len;
}

/* The number to dial as far as the organisation may dial it, or NULL. */
static const char *find_target(const struct call *call, struct arena *arena,
			       const char *text)
{
	char number[PHONE_SIZE];
	struct org_row org;

	if (orgs_get(call->service->store, arena, call->row.org_id, &org))
		return NULL;
	if (is_extension(text))
		return plan_has_limit(org.plan_limits.countries)
			       ? NULL
			       : arena_dup_str(arena, text);
	if (phone_parse(number, slice_of(text)) ||
	    !plan_allows(org.plan_limits.countries, number))
		return NULL;
	return arena_dup_str(arena, number);
}

static int dial_new(struct transfer *transfer, const struct prepared *prepared,
		    const struct session_refer *refer)
{
	struct call *call = transfer->call;
	struct leg_env env = { .ua = call->service->ua,
			       .media = call->service->media,
			       .trace = call->trace };
	struct session_call invite = { .to_number = transfer->target,
				       .replaces = refer->replaces,
				       .referred_by = refer->referred_by };
	int err;

	call_invite(call, prepared, &invite);
	err = leg_dial(&transfer->leg, &env, &invite, &new_events, transfer);
	if (!err)
		return 202;
	log_warn("call", call->row.id, "transfer cannot be dialled: %s",
		 strerror(-err));
	return err == -EAGAIN ? 503 : 500;
}

static int take_refer(struct call *call, struct arena *arena,
		      const struct session_refer *refer)
{
	struct prepared prepared = { 0 };
	const char *target;
	int status;

	if (prepare_trunk(&prepared, call->service, arena, &call->row) ||
	    !is_reachable(call, &prepared.trunk, refer))
		return 403;
	target = find_target(call, arena, refer->number);
	if (!target)
		return 403;
	call->transfer = transfer_new(call, COMING, target, "refer");
	call->transfer->by_refer = true;
	status = dial_new(call->transfer, &prepared, refer);
	if (status == 202)
		return status;
	write_result(call->transfer, "failed", false);
	transfer_close(&call->transfer);
	return status;
}

int transfer_by_refer(struct call *call, const struct session_refer *refer)
{
	struct arena *arena;
	int status;

	if (call->state != CALL_UP || call->life.transfers >= TRANSFERS_MAX)
		return 603;
	if (is_busy(call))
		return 491;
	arena = arena_open();
	if (!referrer_is_known(call->service, arena, &call->row, &refer->peer))
		status = 403;
	else
		status = take_refer(call, arena, refer);
	if (status == 403) {
		call->life.transfers++; /* each leaves a line in the log */
		log_warn("call", call->row.id,
			 "transfer to %.120s refused: not known, or not where "
			 "its trunk may call",
			 refer->uri);
	}
	arena_close(&arena);
	return status;
}

/* ---- INVITE with Replaces ---- */

int transfer_by_invite(struct call *call, const struct leg_incoming *incoming,
		       const char *from)
{
	struct leg_env env = { .ua = call->service->ua,
			       .media = call->service->media,
			       .trace = call->trace };
	int status;

	if (call->state != CALL_UP && call->state != CALL_DIALING)
		return 481;
	if (call->life.transfers >= TRANSFERS_MAX)
		return 603;
	if (is_busy(call))
		return 486;
	call->transfer = transfer_new(call, COMING, from, "replaces");
	status = leg_take(&call->transfer->leg, &env, incoming, &new_events,
			  call->transfer);
	if (status) {
		write_result(call->transfer, "failed", false);
		transfer_close(&call->transfer);
	}
	return status;
}

/* ---- our REFER ---- */

/* Over the trunk of our number when it has one, else as the far end can. */
static void write_uri(struct buffer *out, struct call *call,
		      struct arena *arena, const char *number)
{
	struct prepared prepared = { 0 };

	if (prepare_trunk(&prepared, call->service, arena, &call->row)) {
		buffer_printf(out, "tel:%s", number);
		return;
	}
	buffer_add_str(out, "sip:");
	sip_escape_user(out, slice_of(number));
	buffer_printf(out, "@%s", prepared.trunk.host);
	if (prepared.trunk.port)
		buffer_printf(out, ":%u", prepared.trunk.port);
}

int transfer_away(struct call *call, const char *text)
{
	struct arena *arena = arena_open();
	const char *target = find_target(call, arena, text);
	struct buffer uri;
	int err = -EBUSY;

	buffer_init(&uri, URI_MAX_BYTES);
	if (call->state != CALL_UP || call->life.transfers >= TRANSFERS_MAX ||
	    is_busy(call))
		goto out;
	call->transfer =
		transfer_new(call, SENDING, target ? target : text, "refer");
	err = -EACCES;
	if (target) {
		write_uri(&uri, call, arena, target);
		err = session_refer(leg_session(call->leg), buffer_str(&uri),
				    NULL);
	}
	if (err) {
		write_result(call->transfer, target ? "failed" : "refused",
			     false);
		transfer_close(&call->transfer);
	}
out:
	buffer_reset(&uri);
	arena_close(&arena);
	return err;
}

void transfer_on_status(struct call *call, int status, bool is_over)
{
	struct transfer *transfer = call->transfer;
	bool is_done = status >= 200 && status < 300;
	char text[32] = "no answer";

	if (!transfer || transfer->state != SENDING)
		return;
	transfer->is_accepted |= is_done;
	if (!is_over)
		return;
	if (status)
		snprintf(text, sizeof(text), "%d", status);
	write_result(transfer, is_done ? "answered" : text, is_done);
	transfer_close(&call->transfer);
	if (is_done)
		call_hangup(call, 0, NULL); /* last */
	else if (call->dialogue)
		dialogue_transfer_failed(call->dialogue);
}
