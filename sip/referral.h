/* SPDX-License-Identifier: MIT */
/* sip/referral.h - REFER inside a session's dialog, either way, and the
 * subscription that comes with it and tells what became of it (RFC 3515, 4488,
 * 6665). Belongs to its session, from the first REFER on; what owners call is
 * in sip/session.h. */
#pragma once
#include "sip/message.h"

struct referral;
struct session;
struct sip_link;
struct ua;

/* A REFER or NOTIFY inside the session's dialog: answers it. A second REFER
 * while the first is open gets 491: one call can go to one place. */
void referral_on_request(struct session *session, struct sip_message *request);
/* One outside any dialog: 403 to a REFER, which would have us call somebody
 * for no call's sake; 481 to a NOTIFY, nobody subscribed; what is malformed
 * gets 400 or 489. */
void referral_refuse(struct ua *ua, struct sip_link *link,
		     const struct sip_message *request);

/* The session ended: our own REFER is forgotten. What the peer subscribed to
 * goes on after a hangup, as a dialog may (RFC 5057, 4). */
void referral_on_end(struct session *session);
/* Its owner left: the last NOTIFY goes, with what was known last. */
void referral_on_close(struct session *session);
/* Does a NOTIFY wait for its answer? session_settle() follows when not. */
bool referral_is_busy(const struct session *session);
void referral_close(struct referral **referral); /* NULL is fine */
