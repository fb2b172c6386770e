/* SPDX-License-Identifier: MIT */
#include "agent/pathway/webhook_node.h"
#include <errno.h>
#include <stdio.h>
#include "agent/pathway/operation.h"
#include "agent/pathway/webhook_map.h"
#include "agent/pathway/webhook_request.h"
#include "core/fetch.h"
#include "core/json.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"

enum { RETRY_MS = 500, RETRY_MAX_MS = 8000, HEADERS_MAX = 64 };

struct webhook_node {
	struct webhook_node_options with;
	struct webhook_request request; /* owned */
	struct operation operation;
	struct fetch_call *call; /* owned; NULL between tries */
	struct timer *timer; /* owned: before a retry, or to finish */
	webhook_done_fn *on_done;
	void *owner;
	unsigned retries;
};

static void on_answer(void *owner, const struct fetch_result *result);

bool webhook_is_fire_and_forget(const json_t *data)
{
	return json_array_size(json_object_get(data, "responseData")) == 0;
}

static void on_finish(void *arg)
{
	struct webhook_node *run = arg;

	run->on_done(run->owner, run);
}

static void write_mapping(struct webhook_node *run, struct slice body,
			  const char *failure)
{
	json_t *payload;

	if (webhook_is_fire_and_forget(run->with.data))
		return;
	payload = json_object();
	json_put_str(payload, "url", run->request.url);
	json_put(payload, "mappings",
		 webhook_map(json_object_get(run->with.data, "responseData"),
			     body, failure, run->with.variables));
	operation_part(&run->operation, "mapping", payload);
}

static json_t *outcome(const struct webhook_node *run,
		       const struct fetch_result *result)
{
	json_t *out = json_object();

	json_put_str(out, "url", run->request.url);
	if (result->status)
		json_put_int(out, "status", result->status);
	if (result->body.len)
		json_object_set_new(
			out, "body",
			json_stringn(result->body.ptr, result->body.len));
	json_put_int(
		out, "duration_ms",
		operation_ms(&run->operation, loop_now_us(run->with.loop)));
	json_put_int(out, "retries", run->retries);
	return out;
}

static void write_result(struct webhook_node *run,
			 const struct fetch_result *result)
{
	json_t *payload = outcome(run, result);
	char message[64];

	if (result->error) {
		operation_error(&run->operation, result->reason, payload);
		return;
	}
	if (webhook_is_fire_and_forget(run->with.data))
		json_put_bool(payload, "fire_and_forget", true);
	operation_result(&run->operation, payload);
	if (result->status < 400)
		return;
	snprintf(message, sizeof(message), "The server answered %d.",
		 result->status);
	payload = json_object();
	json_put_str(payload, "url", run->request.url);
	json_put_int(payload, "status", result->status);
	operation_error(&run->operation, message, payload);
}

/* Refused addresses and bad requests stay so. */
static bool is_worth_retry(const struct fetch_result *result)
{
	if (result->error)
		return result->error != -EACCES && result->error != -EINVAL &&
		       result->error != -EMSGSIZE;
	return result->status == 429 || result->status >= 500;
}

static uint64_t retry_ms(const struct webhook_node *run, struct slice after)
{
	uint64_t seconds, ms = (uint64_t)RETRY_MS << run->retries;

	if (after.len && slice_to_u64(&seconds, after, 3600) == 0)
		ms = seconds * 1000;
	return ms > RETRY_MAX_MS ? RETRY_MAX_MS : ms;
}

static void send_request(struct webhook_node *run)
{
	struct fetch_header headers[HEADERS_MAX];
	struct fetch_request request = {
		.method = run->request.method,
		.url = run->request.url,
		.headers = headers,
		.body = slice_of(run->request.body),
		.timeout_ms = run->request.timeout_ms,
	};
	struct fetch_result failed = {
		.reason = "The url or a header is not valid."
	};
	const char *name;
	json_t *value;

	json_object_foreach(run->request.headers, name, value)
		if (request.n_headers < HEADERS_MAX)
			headers[request.n_headers++] = (struct fetch_header){
				.name = name,
				.value = json_string_value(value),
			};
	failed.error = fetch_start(&run->call, run->with.fetch, &request,
				   on_answer, run);
	if (!failed.error)
		return;
	run->call = NULL;
	write_result(run, &failed);
	write_mapping(run, (struct slice){ 0 }, failed.reason);
	timer_start(run->timer, 0, on_finish, run);
}

static void on_retry(void *arg)
{
	send_request(arg);
}

static void retry(struct webhook_node *run, const struct fetch_result *result)
{
	uint64_t ms = retry_ms(run, result->retry_after);
	json_t *context = json_object();
	char message[64];

	snprintf(message, sizeof(message), "The server answered %d.",
		 result->status);
	run->retries++;
	json_put_str(context, "url", run->request.url);
	if (result->status)
		json_put_int(context, "status", result->status);
	json_put_int(context, "retry", run->retries);
	json_put_int(context, "retry_in_ms", (int64_t)ms);
	operation_warning(&run->operation,
			  result->error ? result->reason : message, context);
	timer_start(run->timer, ms, on_retry, run);
}

static void on_answer(void *owner, const struct fetch_result *result)
{
	struct webhook_node *run = owner;

	run->call = NULL;
	if (run->retries < run->request.max_retries && is_worth_retry(result)) {
		retry(run, result);
		return;
	}
	write_result(run, result);
	write_mapping(run, result->body, result->error ? result->reason : NULL);
	on_finish(run);
}

struct webhook_node *webhook_node_open(
	const struct webhook_node_options *options, webhook_done_fn *on_done,
	void *owner)
{
	struct webhook_node *run = mem_new(sizeof(*run));

	run->with = *options;
	run->operation.timeline = options->timeline;
	run->timer = timer_new(options->loop);
	run->on_done = on_done;
	run->owner = owner;
	webhook_request_init(&run->request, options->data, options->variables);
	operation_invoke(&run->operation, "webhook", loop_now_us(options->loop),
			 webhook_request_json(&run->request, options->data));
	send_request(run);
	return run;
}

void webhook_node_close(struct webhook_node **run)
{
	struct webhook_node *r = *run;

	if (!r)
		return;
	fetch_cancel(&r->call);
	timer_close(&r->timer);
	webhook_request_reset(&r->request);
	mem_free(r);
	*run = NULL;
}
