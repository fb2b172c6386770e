/* SPDX-License-Identifier: MIT */
/* agent/call/trace.h - the SIP messages of each call, all its legs', kept with
 * the call for sip.trace_days. Secrets are taken out as a message is heard, so
 * that nothing holds them. What was heard is stored within a second and at the
 * call's end; after that end a trace goes on until the signalling is over: the
 * answer to BYE, 32 s in which other branches of a fork could answer. */
#pragma once

struct call_trace;
struct call_traces;
struct service;
struct ua;

/* Hears for all calls and deletes what is too old: a minute after the start,
 * then hourly. With sip.trace_days 0 nothing is heard and all is deleted. */
void call_traces_open(struct call_traces **out, struct service *service);
/* Stores what was heard. Calls have been closed, the ua is still open. */
void call_traces_close(struct call_traces **traces);

/* The functions of a call do nothing with a NULL trace. */

/* NULL: none is kept. call_id is copied. */
struct call_trace *call_trace_open(struct service *service,
				   const char *call_id);
/* One more leg: right after session_invite(), or before session_accept(). */
void call_trace_leg(struct call_trace *trace, struct ua *ua,
		    const char *sip_call_id);
/* The call is about to be stored as ended: queues what was not stored yet, so
 * that it is there when that is. */
void call_trace_flush(struct call_trace *trace);
/* The call is over: the trace ends by itself. */
void call_trace_release(struct call_trace **trace);
/* It was no call: nothing is stored. */
void call_trace_forget(struct call_trace **trace);
