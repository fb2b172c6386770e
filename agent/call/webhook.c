/* SPDX-License-Identifier: MIT */
#include "agent/call/webhook.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "core/fetch.h"
#include "core/id.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/secret.h"
#include "core/timer.h"
#include "store/orgs.h"
#include "store/outbox.h"

enum {
	FLIGHTS_MAX = 64, /* OUTBOX_ORG_MAX of each organisation */
	TIMEOUT_MS = 10 * 1000,
	STORE_RETRY_MS = 5 * 1000, /* the store could not take the note */
	SECRET_MAX_BYTES = 512,
	RETRY_AFTER_MAX_S = 24 * 3600
};

/* Waits before each retry; a first try and these come to some 24 h. */
static const int64_t retry_ms[] = {
	1000,	    5000,	 30 * 1000,	  120 * 1000,
	600 * 1000, 3600 * 1000, 6 * 3600 * 1000, 16 * 3600 * 1000
};

/* One row on its way: FETCHING, then NOTING its outcome in the store. */
struct flight {
	struct webhook *webhook; /* borrowed; NULL: closed before the reply */
	struct flight *next; /* owned by the list */
	struct fetch_call *fetch; /* owned; NULL while noting */
	bool is_noting;
	char *id; /* owned */
	char *org_id; /* owned */
	char *call_id; /* owned */
	int64_t attempts;
};

struct webhook {
	struct service *service; /* borrowed: outlives us */
	struct timer *timer; /* owned: the next pump */
	struct flight *flights; /* owned */
	struct webhook_stats stats;
};

static void pump(void *arg);

static void unlist(struct flight *flight)
{
	struct flight **at = &flight->webhook->flights;

	while (*at != flight)
		at = &(*at)->next;
	*at = flight->next;
	flight->webhook->stats.in_flight--;
	flight->webhook = NULL;
}

static void flight_free(struct flight *flight)
{
	fetch_cancel(&flight->fetch);
	mem_free(flight->id);
	mem_free(flight->org_id);
	mem_free(flight->call_id);
	mem_free(flight);
}

/* A call's rows go one at a time, or a later one would overtake; and an
 * organisation whose receiver hangs leaves room for the others. */
static bool may_start(const struct webhook *webhook,
		      const struct outbox_row *row)
{
	unsigned n_org = 0;

	for (struct flight *at = webhook->flights; at; at = at->next) {
		if (!strcmp(at->call_id, row->call_id))
			return false;
		n_org += !strcmp(at->org_id, row->org_id);
	}
	return n_org < OUTBOX_ORG_MAX && webhook->stats.in_flight < FLIGHTS_MAX;
}

static void on_noted(void *owner, int err)
{
	struct flight *flight = owner;
	struct webhook *webhook = flight->webhook;

	if (err)
		log_error("webhook", flight->id,
			  "its outcome could not be stored: %s",
			  strerror(-err));
	if (webhook)
		unlist(flight);
	flight_free(flight);
	if (!webhook)
		return;
	timer_start(webhook->timer, err ? STORE_RETRY_MS : 0, pump, webhook);
}

static bool is_retryable(const struct fetch_result *result)
{
	if (result->error)
		return result->error != -EACCES && result->error != -EINVAL;
	return result->status == 408 || result->status == 425 ||
	       result->status == 429 || result->status >= 500;
}

/* When to try again; 0: no more. */
static int64_t next_try(const struct flight *flight,
			const struct fetch_result *result, int64_t now_ms)
{
	size_t n = sizeof(retry_ms) / sizeof(*retry_ms);
	size_t retry = (size_t)flight->attempts - 1;
	uint64_t after_s;
	int64_t wait;

	if (!is_retryable(result) || retry >= n)
		return 0;
	wait = retry_ms[retry];
	wait += id_random((uint32_t)(wait / 10 + 1)); /* jitter */
	if (result->status == 429 &&
	    !slice_to_u64(&after_s, result->retry_after, RETRY_AFTER_MAX_S) &&
	    (int64_t)after_s * 1000 > wait)
		wait = (int64_t)after_s * 1000;
	return now_ms + wait;
}

static void on_fetched(void *owner, const struct fetch_result *result)
{
	struct flight *flight = owner;
	struct webhook *webhook = flight->webhook;
	int64_t now_ms = loop_wall_ms(webhook->service->loop);
	bool is_delivered = !result->error && result->status / 100 == 2;
	struct outbox_attempt attempt = {
		.id = flight->id,
		.sent_ms = now_ms - result->duration_ms,
		.response_code = result->status,
		.duration_ms = result->duration_ms,
		.error = result->error ? result->reason : NULL,
		.delivered = is_delivered,
	};
	char status[16] = ""; /* none when nobody answered */

	flight->fetch = NULL;
	flight->is_noting = true;
	if (result->status)
		snprintf(status, sizeof(status), "%d ", result->status);
	if (!is_delivered)
		attempt.next_ms = next_try(flight, result, now_ms);
	if (is_delivered) {
		webhook->stats.delivered++;
		log_info("call", flight->call_id,
			 "webhook delivered: %d in %u ms", result->status,
			 result->duration_ms);
	} else {
		webhook->stats.failed_attempts++;
		webhook->stats.given_up += !attempt.next_ms;
		log_warn("call", flight->call_id,
			 "webhook attempt %lld failed: %s%s%s",
			 (long long)flight->attempts, status, result->reason,
			 attempt.next_ms ? "; will retry" : "; given up");
	}
	outbox_attempted(webhook->service->store, &attempt,
			 (struct store_reply){ on_noted, flight });
}

/* Signs with a sealed secret; "" when there is none. */
static void sign(const struct service *service, struct slice sealed,
		 const char *body, char out[SECRET_HMAC_HEX_SIZE])
{
	struct buffer secret;

	out[0] = 0;
	if (!sealed.len)
		return;
	buffer_init(&secret, SECRET_MAX_BYTES);
	if (!secret_unseal(service->box, &secret, sealed))
		secret_hmac_hex(out, buffer_slice(&secret), slice_of(body));
	if (secret.ptr)
		secret_wipe(secret.ptr, secret.size);
	buffer_reset(&secret);
}

static int send_row(struct flight *flight, const struct outbox_row *row,
		    const struct org_row *org)
{
	struct service *service = flight->webhook->service;
	int64_t now_ms = loop_wall_ms(service->loop);
	char signature[SECRET_HMAC_HEX_SIZE], previous[SECRET_HMAC_HEX_SIZE];
	char timestamp[24], attempt[24];
	struct fetch_header headers[] = {
		{ "Content-Type", "application/json" },
		{ "User-Agent", "Parley" },
		{ "X-Webhook-Id", row->id },
		{ "X-Webhook-Timestamp", timestamp },
		{ "X-Webhook-Attempt", attempt },
		{ "X-Webhook-Signature", signature },
		{ "X-Webhook-Signature-Previous", previous },
	};
	struct fetch_request request = {
		.method = "POST",
		.url = row->url,
		.headers = headers,
		.n_headers = 5,
		.body = slice_of(row->body),
		.timeout_ms = TIMEOUT_MS,
		.max_body_bytes = 64 * 1024,
	};

	snprintf(timestamp, sizeof(timestamp), "%lld",
		 (long long)(now_ms / 1000));
	snprintf(attempt, sizeof(attempt), "%lld", (long long)flight->attempts);
	sign(service, org->webhook_secret, row->body, signature);
	sign(service, org->previous_secret, row->body, previous);
	request.n_headers += signature[0] != 0;
	request.n_headers +=
		signature[0] && previous[0] && now_ms < org->previous_until_ms;
	return fetch_start(&flight->fetch, service->fetch, &request, on_fetched,
			   flight);
}

static void start_flight(struct webhook *webhook, struct arena *arena,
			 const struct outbox_row *row)
{
	struct flight *flight = mem_new(sizeof(*flight));
	struct org_row org = { 0 };
	int err;

	*flight = (struct flight){ .webhook = webhook,
				   .next = webhook->flights,
				   .id = mem_dup_str(row->id),
				   .org_id = mem_dup_str(row->org_id),
				   .call_id = mem_dup_str(row->call_id),
				   .attempts = row->attempts + 1 };
	webhook->flights = flight;
	webhook->stats.in_flight++;
	err = orgs_get(webhook->service->store, arena, row->org_id, &org);
	if (!err)
		err = send_row(flight, row, &org);
	if (err) {
		/* A store that could not be read is tried again. */
		struct fetch_result result = {
			.error = err == -ENOENT ? -EINVAL : err,
			.reason = err == -EINVAL ? "unusable URL"
						 : strerror(-err),
		};

		on_fetched(flight, &result);
	}
}

static void plan_next(struct webhook *webhook)
{
	int64_t now_ms = loop_wall_ms(webhook->service->loop);
	int64_t due_ms = outbox_next_due(webhook->service->store);

	/* A row in flight is still due: look again in a second for others. */
	if (!due_ms || timer_is_armed(webhook->timer))
		return;
	timer_start(webhook->timer,
		    due_ms > now_ms ? (uint64_t)(due_ms - now_ms) : 1000, pump,
		    webhook);
}

static void pump(void *arg)
{
	struct webhook *webhook = arg;
	struct arena *arena = arena_open();
	struct outbox_list due = { 0 };
	int err = outbox_due(webhook->service->store, arena,
			     loop_wall_ms(webhook->service->loop), FLIGHTS_MAX,
			     &due);

	if (err) {
		log_error("webhook", NULL, "the outbox cannot be read: %s",
			  strerror(-err));
		timer_start(webhook->timer, STORE_RETRY_MS, pump, webhook);
	}
	for (size_t i = 0; i < due.n; i++) {
		if (may_start(webhook, &due.rows[i]))
			start_flight(webhook, arena, &due.rows[i]);
	}
	arena_close(&arena);
	plan_next(webhook);
}

int webhook_open(struct webhook **out, struct service *service)
{
	struct webhook *webhook = mem_new(sizeof(*webhook));

	webhook->service = service;
	webhook->timer = timer_new(service->loop);
	*out = webhook;
	webhook_wake(webhook);
	return 0;
}

void webhook_close(struct webhook **webhook)
{
	if (!*webhook)
		return;
	while ((*webhook)->flights) {
		struct flight *flight = (*webhook)->flights;

		unlist(flight);
		if (!flight->is_noting)
			flight_free(flight);
	}
	timer_close(&(*webhook)->timer);
	mem_free(*webhook);
	*webhook = NULL;
}

void webhook_wake(struct webhook *webhook)
{
	timer_start(webhook->timer, 0, pump, webhook);
}

void webhook_stats(const struct webhook *webhook, struct webhook_stats *out)
{
	*out = webhook->stats;
}
