/* SPDX-License-Identifier: MIT */
/* agent/call/call_priv.h - shared by call.c (set-up), call_talk.c (while it is
 * up), transfer.c (its far end is replaced) and call_end.c (how it ends and is
 * stored). */
#pragma once
#include "agent/call/call.h"
#include "agent/call/leg.h"
#include "agent/call/prepare.h"
#include "agent/dialogue/dialogue.h"
#include "core/work.h"
#include "media/stream.h"

/* ALLOCATING --row stored as started--> DIALING --answered--> UP
 * ALLOCATING, DIALING, UP --over--> CLOSING --recording closed, summary
 * written--> STORING --committed--> DONE */
enum call_state {
	CALL_ALLOCATING,
	CALL_DIALING,
	CALL_UP,
	CALL_CLOSING,
	CALL_STORING,
	CALL_DONE
};

struct call_outcome {
	const char *status; /* static */
	char error[240];
	const char *ended_by; /* static or NULL */
	char *summary; /* owned */
	json_t *latency; /* owned */
	json_t *media; /* owned: an array, one entry per leg; NULL: never up */
	json_t *variables; /* owned */
	const char *file; /* path of the recording, in the arena, or NULL */
	int64_t recorded_ms, recorded_bytes;
	bool recording_failed;
};

struct call_life {
	call_done_fn *done;
	void *owner;
	unsigned store_replies; /* out with our address */
	unsigned transfers; /* tried so far */
	bool waits_disk;
	bool lacks_events; /* some were not stored when they happened */
	int64_t complained_ms; /* of a store that fails; 0: never */
	bool is_missing; /* its row never reached the store */
	bool is_closed; /* free once nothing is out */
};

struct call {
	struct service *service; /* borrowed: outlives us */
	struct arena *arena; /* owned: row, trunk */
	struct call_row row;
	struct prepared prepared;
	struct timeline *timeline; /* owned */
	struct leg *leg; /* owned; NULL before and after */
	struct transfer *transfer; /* owned; NULL: none under way */
	json_t *mapped; /* owned: variables out of headers; NULL: none */
	struct call_trace *trace; /* lent: ends by itself; NULL: none */
	struct dialogue *dialogue; /* owned; only when UP */
	struct timer *timer; /* owned: max_duration, then deadlines */
	struct model_call *question; /* owned: the summary */
	enum call_state state;
	struct call_outcome outcome;
	struct call_life life;
};

void call_enter(struct call *call, enum call_state next);
extern const struct leg_events call_leg_events;
/* What an INVITE over the prepared trunk says besides its callee; texts in the
 * call's arena and the caller's prepared. */
void call_invite(struct call *call, const struct prepared *prepared,
		 struct session_call *invite);

/* call_talk.c */
void call_up(struct call *call); /* answered */
/* As leg_hangup(), also when only a transfer keeps the call. Last: it may be
 * the end. */
void call_hangup(struct call *call, int code, const char *text);
void call_store_progress(struct call *call);

/* call_end.c */
/* What the leg's stream did goes into the record. */
void call_add_media(struct call *call);
/* The leg is over or never was: gathers what it leaves and closes it. */
void call_end(struct call *call, const struct leg_end *end);
/* Stores an in-call webhook event when the client asked for its group. */
void call_notify(struct call *call, const char *event, const char *message);
/* Frees when nothing that holds its address is out. */
void call_free_if_idle(struct call *call);
