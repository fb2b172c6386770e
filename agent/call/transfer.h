/* SPDX-License-Identifier: MIT */
/* agent/call/transfer.h - the far end of a call that is up is replaced, or sent
 * elsewhere: by the peer's REFER (RFC 3515) we dial somebody else; by an INVITE
 * with Replaces (RFC 3891) somebody else takes the peer's place; by our REFER
 * the peer calls somebody else and we leave. Conversation, recording and record
 * go on with the new far end. One at a time per call. */
#pragma once
#include <stdbool.h>

struct call;
struct leg_end;
struct leg_incoming;
struct session_refer;
struct transfer;

/* 202, or the SIP status that refuses it: 403 not where our trunk may call, 491
 * another is under way, 603 too many by now. */
int transfer_by_refer(struct call *call, const struct session_refer *refer);
/* 0, or the SIP status to refuse the INVITE with. from: the new party. */
int transfer_by_invite(struct call *call, const struct leg_incoming *incoming,
		       const char *from);
/* Sends the far end to a number; once it is there the call ends, else the
 * dialogue is told. 0, -EACCES: not where our trunk may call, -EBUSY: another
 * is under way or too many were, or what session_refer() returned. */
int transfer_away(struct call *call, const char *text);
/* leg_events.on_refer_status. Last: it may end the call. */
void transfer_on_status(struct call *call, int status, bool is_over);
/* The call's leg has ended. True: the call waits for the far end that comes. */
bool transfer_outlives(struct call *call, const struct leg_end *end);
/* The call shall end: nobody new comes. True, and *lost, when its own leg had
 * ended before. */
bool transfer_drop(struct call *call, struct leg_end *lost);
void transfer_close(struct transfer **transfer); /* NULL is fine */
