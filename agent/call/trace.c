/* SPDX-License-Identifier: MIT */
#include "agent/call/trace.h"

#include <assert.h>
#include <sys/queue.h>
#include "agent/service.h"
#include "core/config.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/redact.h"
#include "sip/trace.h"
#include "store/traces.h"

enum {
	LEGS_MAX = 8,
	LINES_MAX = 500,
	BYTES_MAX = 512 * 1024,
	TEXT_MAX_BYTES = 64 * 1024,
	FIRST_LINES = 16,
	FLUSH_MS = 1000,
	PURGE_FIRST_MS = 60 * 1000,
	PURGE_NEXT_MS = 1000,
	PURGE_MS = 3600 * 1000
};

static const int64_t day_ms = 24 * 3600 * 1000;

struct trace_leg {
	struct ua_tap tap;
	struct call_trace *trace;
	bool is_over; /* its session is gone */
};

/* OPEN --the call is over--> RELEASED --and so is each leg--> gone */
struct call_trace {
	struct call_traces *traces; /* borrowed: outlives us */
	LIST_ENTRY(call_trace) in_traces;
	char *call_id; /* owned */
	struct timer *timer; /* owned: until the next flush, or the end */
	struct trace_leg legs[LEGS_MAX];
	int n_legs;
	bool is_released;
	bool is_stored; /* and that it is over */
	bool is_full; /* what follows is counted alone */
	struct {
		struct arena *arena; /* owned: texts */
		struct trace_line *lines; /* owned */
		size_t n, size;
	} unwritten;
	size_t bytes; /* heard and kept, as all below */
	int64_t messages;
	int64_t dropped;
};

struct call_traces {
	struct service *service; /* borrowed: outlives us */
	struct timer *timer; /* owned: until the next purge */
	LIST_HEAD(, call_trace) list; /* owned */
	struct buffer kept; /* the message being heard */
	int64_t days;
	int64_t first_ms; /* at the last purge */
};

/* ---- storing ---- */

static void flush(struct call_trace *trace, bool is_over)
{
	struct trace_batch batch = { .call_id = trace->call_id,
				     .written_ms = loop_wall_ms(
					     trace->traces->service->loop),
				     .messages = trace->messages,
				     .dropped = trace->dropped,
				     .is_over = is_over,
				     .lines = trace->unwritten.lines,
				     .n = trace->unwritten.n };

	timer_stop(trace->timer);
	if (!batch.n && (!is_over || trace->is_stored))
		return;
	trace->is_stored = is_over;
	traces_append(trace->traces->service->store, &batch,
		      (struct store_reply){ 0 });
	trace->unwritten.n = 0;
	arena_close(&trace->unwritten.arena);
	trace->unwritten.arena = arena_open();
}

static void free_trace(struct call_trace *trace)
{
	for (int i = 0; i < trace->n_legs; i++)
		ua_trace_stop(&trace->legs[i].tap);
	LIST_REMOVE(trace, in_traces);
	timer_close(&trace->timer);
	arena_close(&trace->unwritten.arena);
	mem_free(trace->unwritten.lines);
	mem_free(trace->call_id);
	mem_free(trace);
}

static bool are_legs_over(const struct call_trace *trace)
{
	for (int i = 0; i < trace->n_legs; i++)
		if (!trace->legs[i].is_over)
			return false;
	return true;
}

static void on_timer(void *arg)
{
	struct call_trace *trace = arg;
	bool is_over = trace->is_released && are_legs_over(trace);

	flush(trace, is_over && trace->n_legs);
	if (is_over)
		free_trace(trace);
}

/* ---- hearing ---- */

static struct trace_line *add_line(struct call_trace *trace)
{
	size_t size = trace->unwritten.size;

	if (trace->unwritten.n == size) {
		size = size ? 2 * size : FIRST_LINES;
		trace->unwritten.lines =
			mem_resize(trace->unwritten.lines,
				   size * sizeof(*trace->unwritten.lines));
		trace->unwritten.size = size;
	}
	return &trace->unwritten.lines[trace->unwritten.n++];
}

static void keep(struct trace_leg *leg, bool is_out, const struct addr *peer,
		 struct slice text)
{
	struct call_trace *trace = leg->trace;
	struct arena *arena = trace->unwritten.arena;
	char name[ADDR_TEXT_SIZE];

	*add_line(trace) = (struct trace_line){
		.at_ms = loop_wall_ms(trace->traces->service->loop),
		.is_out = is_out,
		.leg = (int)(leg - trace->legs) + 1,
		.peer = arena_dup_str(arena, addr_text(peer, name)),
		.text = arena_dup(arena, text),
	};
	trace->messages++;
	trace->bytes += text.len;
	if (!timer_is_armed(trace->timer))
		timer_start(trace->timer, FLUSH_MS, on_timer, trace);
}

static void hear(struct trace_leg *leg, bool is_out, const struct addr *peer,
		 struct slice text)
{
	struct call_trace *trace = leg->trace;
	struct buffer *kept = &trace->traces->kept;

	buffer_clear(kept);
	sip_redact(kept, text);
	if (buffer_error(kept) || trace->bytes + kept->len > BYTES_MAX ||
	    trace->messages == LINES_MAX)
		trace->is_full = true;
	else
		keep(leg, is_out, peer, buffer_slice(kept));
}

static void on_trace(void *owner, bool is_out, const struct addr *peer,
		     struct slice text)
{
	struct trace_leg *leg = owner;
	struct call_trace *trace = leg->trace;

	if (!text.len) {
		leg->is_over = true;
		if (trace->is_released)
			timer_start(trace->timer, 0, on_timer, trace);
		return;
	}
	if (!trace->is_full)
		hear(leg, is_out, peer, text);
	if (trace->is_full)
		trace->dropped++;
}

/* ---- too old ---- */

static void purge(void *arg)
{
	struct call_traces *traces = arg;
	struct store *store = traces->service->store;
	int64_t now_ms = loop_wall_ms(traces->service->loop);
	int64_t before_ms = now_ms - traces->days * day_ms;
	int64_t after_ms = now_ms + day_ms; /* the clock was wrong */
	int64_t first_ms = traces_first_ms(store);
	/* The last bite took nothing away: the store has other worries. */
	bool is_stuck = first_ms == traces->first_ms;
	bool is_due = first_ms && !is_stuck &&
		      (first_ms < before_ms || first_ms > after_ms);

	traces->first_ms = is_due ? first_ms : 0;
	if (is_due)
		traces_purge(store, before_ms, after_ms,
			     (struct store_reply){ 0 });
	timer_start(traces->timer, is_due ? PURGE_NEXT_MS : PURGE_MS, purge,
		    traces);
}

/* ---- public ---- */

void call_traces_open(struct call_traces **out, struct service *service)
{
	struct call_traces *traces = mem_new(sizeof(*traces));

	traces->service = service;
	traces->days = config_number(service->config, "sip.trace_days");
	traces->timer = timer_new(service->loop);
	buffer_init(&traces->kept, TEXT_MAX_BYTES);
	LIST_INIT(&traces->list);
	timer_start(traces->timer, PURGE_FIRST_MS, purge, traces);
	*out = traces;
}

void call_traces_close(struct call_traces **closing)
{
	struct call_traces *traces = *closing;
	struct call_trace *trace;

	if (!traces)
		return;
	*closing = NULL;
	while ((trace = LIST_FIRST(&traces->list))) {
		assert(trace->is_released);
		flush(trace, trace->n_legs && are_legs_over(trace));
		free_trace(trace);
	}
	timer_close(&traces->timer);
	buffer_reset(&traces->kept);
	mem_free(traces);
}

struct call_trace *call_trace_open(struct service *service, const char *call_id)
{
	struct call_traces *traces = service->traces;
	struct call_trace *trace;

	if (!traces || !traces->days)
		return NULL;
	trace = mem_new(sizeof(*trace));
	trace->traces = traces;
	trace->call_id = mem_dup_str(call_id);
	trace->timer = timer_new(service->loop);
	trace->unwritten.arena = arena_open();
	LIST_INSERT_HEAD(&traces->list, trace, in_traces);
	return trace;
}

void call_trace_leg(struct call_trace *trace, struct ua *ua,
		    const char *sip_call_id)
{
	struct trace_leg *leg;

	if (!trace)
		return;
	if (trace->n_legs == LEGS_MAX) {
		trace->dropped++; /* it is not complete */
		return;
	}
	leg = &trace->legs[trace->n_legs++];
	leg->trace = trace;
	ua_trace_start(ua, &leg->tap, sip_call_id, on_trace, leg);
}

void call_trace_flush(struct call_trace *trace)
{
	if (trace)
		flush(trace, trace->n_legs && are_legs_over(trace));
}

void call_trace_release(struct call_trace **releasing)
{
	struct call_trace *trace = *releasing;

	*releasing = NULL;
	if (!trace)
		return;
	trace->is_released = true;
	if (are_legs_over(trace))
		timer_start(trace->timer, 0, on_timer, trace);
}

void call_trace_forget(struct call_trace **trace)
{
	if (*trace)
		free_trace(*trace);
	*trace = NULL;
}
