/* SPDX-License-Identifier: MIT */
/* sip/session_timer.h - is the session still there at both ends (RFC 4028)?
 * Who refreshes it and how often, asked and answered in INVITE, UPDATE and
 * their 2xx; our refreshes; the end when the peer's fail to come. One for each
 * session, which owns it. */
#pragma once
#include <stdbool.h>
#include "core/buffer.h"
#include "sip/message.h"

struct session;
struct session_timer;

enum { SESSION_TIMER_DEFAULT_S = 1800 };

/* Line of an answer with which session_timer_check() refuses. */
#define SESSION_TIMER_REFUSAL "Min-SE: 90\r\n"

struct session_timer *session_timer_new(struct session *session);
void session_timer_close(struct session_timer **timer);
/* The session ends: nothing is refreshed or awaited any more. */
void session_timer_stop(struct session_timer *timer);

/* As client: lines for an INVITE or UPDATE of ours. */
void session_timer_write(const struct session_timer *timer, struct buffer *out);
/* Its 2xx: what was agreed runs from now on. */
void session_timer_on_success(struct session_timer *timer,
			      const struct sip_message *response);
/* Any other final answer. True: a 422 that wants more; send it again. */
bool session_timer_on_refusal(struct session_timer *timer,
			      const struct sip_message *response);

/* As server: may this INVITE or UPDATE be taken? 0, 400 or 422. */
int session_timer_check(const struct sip_message *request);
/* Notes what a request asks for that may be answered with 2xx ... */
void session_timer_take(struct session_timer *timer,
			const struct sip_message *request);
/* ... and answers: lines of our 2xx; it runs from now on. */
void session_timer_answer(struct session_timer *timer, struct buffer *out);
/* Both at once for a request without SDP. */
void session_timer_answer_now(struct session_timer *timer,
			      const struct sip_message *request,
			      struct buffer *out);

/* Is a refresh of ours by INVITE under way? */
bool session_timer_is_offering(const struct session_timer *timer);
/* What the last offer and answer said; empty: as before. A refresh by INVITE
 * repeats local, and tells the owner when its answer is not remote. */
void session_timer_keep(struct session_timer *timer, struct slice local,
			struct slice remote);
