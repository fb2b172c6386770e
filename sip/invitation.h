/* SPDX-License-Identifier: MIT */
/* sip/invitation.h - our first INVITE from its first byte to the last 2xx that
 * may still come: ring timeout, redirection inside the trunk, a longer session
 * interval (422), CANCEL and its races, UPDATE in early dialogs, forks (RFC
 * 3261, 9, 13.2): the first 2xx wins, every other one and every late one gets
 * its ACK and a BYE. Belongs to a session. */
#pragma once
#include "sip/request.h"
#include "sip/session.h"
#include "sip/session_timer.h"

struct invitation;

struct invitation_options {
	struct ua *ua; /* borrowed: outlives us */
	struct dialog *dialog; /* consumed: from dialog_open_out() */
	const struct sip_request_login *login; /* borrowed alike; may be NULL */
	struct session_timer *expiry; /* borrowed alike: what it asks for */
	struct slice headers; /* whole lines, copied */
	struct slice offer; /* copied */
	uint32_t ring_timeout_ms;
};

struct invitation_events {
	void (*on_progress)(void *owner, const struct sip_message *response);
	/* The first 2xx, ACKed. dialog is the owner's from now on. */
	void (*on_answer)(void *owner, struct dialog *dialog,
			  const struct sip_message *response);
	/* There will be no session. end is valid in the callback. */
	void (*on_end)(void *owner, const struct session_end *end);
	/* Nothing is under way any more: the owner may close. */
	void (*on_idle)(void *owner);
};

/* Never calls back inside. */
struct invitation *invitation_open(const struct invitation_options *options,
				   const struct invitation_events *events,
				   void *owner);
/* Gives up: CANCEL as soon as it may go, with these header lines, and on_end
 * with that cause. Without effect after the answer. */
void invitation_cancel(struct invitation *invitation, struct slice headers,
		       enum session_cause cause);
void invitation_close(struct invitation **invitation); /* drops all at once */
