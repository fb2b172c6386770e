/* SPDX-License-Identifier: MIT */
#include "core/fetch.h"
#include <errno.h>
#include <stdio.h>
#include "core/fetch_priv.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"

static void on_post(void *arg);

/* Something to tell its owner, in a turn of its own. */
static void make_ready(struct fetch_call *call)
{
	struct fetch *fetch = call->fetch;

	if (!call->is_ready) {
		call->is_ready = true;
		TAILQ_INSERT_TAIL(&fetch->ready, call, in_ready);
	}
	if (!timer_is_armed(fetch->post))
		timer_start(fetch->post, 0, on_post, fetch);
}

static void free_call(struct fetch_call *call)
{
	struct fetch *fetch = call->fetch;

	if (call->easy)
		fetch_curl_stop(fetch->curl, call);
	if (call->is_ready)
		TAILQ_REMOVE(&fetch->ready, call, in_ready);
	TAILQ_REMOVE(&fetch->calls, call, in_calls);
	if (call->handle)
		*call->handle = NULL;
	timer_close(&call->timer);
	fetch_copy_reset(&call->copy);
	buffer_reset(&call->body);
	mem_free(call);
}

int fetch_on_body(struct fetch_call *call, struct slice piece)
{
	if (piece.len > call->copy.max_body_bytes - call->answer.body_bytes)
		return -EMSGSIZE;
	call->answer.body_bytes += piece.len;
	buffer_add(&call->body, piece);
	if (call->on_body && piece.len)
		make_ready(call);
	return 0;
}

void fetch_on_end(struct fetch_call *call, int error, const char *reason)
{
	struct fetch_answer *answer = &call->answer;
	uint64_t now_us = loop_now_us(call->fetch->options.loop);

	call->state = FETCH_DONE;
	answer->error = error;
	answer->duration_ms = (uint32_t)((now_us - call->start_us) / 1000);
	snprintf(answer->reason, sizeof(answer->reason), "%s", reason);
	if (error)
		answer->status = 0;
	make_ready(call);
}

/* Each of these calls the owner last; the call may be gone by then. */

static void tell_body(struct fetch_call *call)
{
	size_t len = call->body.len;
	char *piece = buffer_take(&call->body);

	call->on_body(call->owner, slice_make(piece, len));
	mem_free(piece);
}

static void tell_done(struct fetch_call *call)
{
	struct fetch_answer answer = call->answer;
	fetch_done_fn *on_done = call->on_done;
	void *owner = call->owner;
	size_t len = call->body.len;
	char *body = buffer_take(&call->body);
	struct fetch_result result = {
		.error = answer.error,
		.reason = answer.reason,
		.status = answer.status,
		.body = slice_make(body, answer.error ? 0 : len),
		.retry_after = slice_of(answer.retry_after),
		.duration_ms = answer.duration_ms,
	};

	free_call(call);
	on_done(owner, &result);
	mem_free(body);
}

static void on_post(void *arg)
{
	struct fetch *fetch = arg;
	struct fetch_call *call = TAILQ_FIRST(&fetch->ready);

	if (!call)
		return;
	TAILQ_REMOVE(&fetch->ready, call, in_ready);
	call->is_ready = false;
	if (call->on_body && call->body.len) {
		if (call->state == FETCH_DONE)
			make_ready(call);
		else if (!TAILQ_EMPTY(&fetch->ready))
			timer_start(fetch->post, 0, on_post, fetch);
		tell_body(call);
		return;
	}
	if (!TAILQ_EMPTY(&fetch->ready))
		timer_start(fetch->post, 0, on_post, fetch);
	if (call->state == FETCH_DONE)
		tell_done(call);
}

/* A simulated loop: options.answer is the network. */

static void on_sim_end(void *arg)
{
	struct fetch_call *call = arg;
	struct fetch_answer answer = call->answer; /* it is written to */

	fetch_on_end(call, answer.error, answer.reason);
}

static void take_sim_result(struct fetch_call *call,
			    const struct fetch_result *result)
{
	struct fetch_answer *answer = &call->answer;

	answer->error = result->error;
	answer->status = result->error ? 0 : result->status;
	snprintf(answer->reason, sizeof(answer->reason), "%s", result->reason);
	snprintf(answer->retry_after, sizeof(answer->retry_after), "%.*s",
		 (int)result->retry_after.len, result->retry_after.ptr);
	if (!answer->error && fetch_on_body(call, result->body)) {
		answer->error = -EMSGSIZE;
		snprintf(answer->reason, sizeof(answer->reason),
			 "the answer is larger than %zu bytes",
			 call->copy.max_body_bytes);
	}
}

static void on_sim_timeout(void *arg)
{
	fetch_on_end(arg, -ETIMEDOUT, "timed out");
}

static void on_sim_turn(void *arg)
{
	struct fetch_call *call = arg;
	const struct fetch_options *options = &call->fetch->options;
	struct fetch_copy *copy = &call->copy;
	struct fetch_request request = {
		.method = copy->method,
		.url = copy->url,
		.headers = copy->headers,
		.n_headers = copy->n_headers,
		.body = slice_make(copy->body, copy->body_len),
		.timeout_ms = copy->timeout_ms,
		.max_body_bytes = copy->max_body_bytes,
		.on_body = call->on_body,
	};
	struct fetch_result result = { .reason = "", .status = 200 };

	if (options->answer)
		options->answer(options->answer_arg, &request, &result);
	else
		result = (struct fetch_result){ .error = -EHOSTUNREACH,
						.reason = "no network" };
	if (result.duration_ms > copy->timeout_ms) {
		timer_start(call->timer, copy->timeout_ms, on_sim_timeout,
			    call);
		return;
	}
	take_sim_result(call, &result);
	if (result.duration_ms)
		timer_start(call->timer, result.duration_ms, on_sim_end, call);
	else
		on_sim_end(call);
}

static int start(struct fetch_call *call)
{
	struct fetch *fetch = call->fetch;

	if (fetch->curl)
		return fetch_curl_start(fetch->curl, call);
	call->timer = timer_new(fetch->options.loop);
	timer_start(call->timer, 0, on_sim_turn, call);
	return 0;
}

int fetch_open(struct fetch **out, const struct fetch_options *options)
{
	struct fetch *fetch = mem_new(sizeof(*fetch));
	int err = 0;

	fetch->options = *options;
	TAILQ_INIT(&fetch->calls);
	TAILQ_INIT(&fetch->ready);
	fetch->post = timer_new(options->loop);
	if (!loop_is_sim(options->loop))
		err = fetch_curl_open(&fetch->curl, fetch);
	if (err)
		fetch_close(&fetch);
	*out = fetch;
	return err;
}

void fetch_close(struct fetch **fetch)
{
	struct fetch *old = *fetch;
	struct fetch_call *call;

	if (!old)
		return;
	*fetch = NULL;
	while ((call = TAILQ_FIRST(&old->calls)))
		free_call(call);
	fetch_curl_close(&old->curl);
	timer_close(&old->post);
	mem_free(old);
}

int fetch_start(struct fetch_call **out, struct fetch *fetch,
		const struct fetch_request *request, fetch_done_fn *on_done,
		void *owner)
{
	struct fetch_call *call = mem_new(sizeof(*call));
	int err = fetch_copy_init(&call->copy, request);

	if (out)
		*out = NULL;
	if (err) {
		mem_free(call);
		return err;
	}
	call->fetch = fetch;
	call->on_body = request->on_body;
	call->on_done = on_done;
	call->owner = owner;
	call->start_us = loop_now_us(fetch->options.loop);
	buffer_init(&call->body, call->copy.max_body_bytes);
	TAILQ_INSERT_TAIL(&fetch->calls, call, in_calls);
	err = start(call);
	if (err) {
		free_call(call);
		return err;
	}
	call->handle = out;
	if (out)
		*out = call;
	return 0;
}

void fetch_cancel(struct fetch_call **call)
{
	struct fetch_call *old = *call;

	if (!old)
		return;
	*call = NULL;
	free_call(old);
}
