/* SPDX-License-Identifier: MIT */
/* sip/ua_priv.h - what the files behind sip/ua.h and sip/session.h share: the
 * user agent itself. */
#pragma once
#include "sip/dialog.h"
#include "sip/trace.h"
#include "sip/transactions.h"
#include "sip/ua.h"

struct ua {
	struct loop *loop; /* borrowed: outlives us */
	struct sip_transport *transport; /* owned */
	struct source_limit *calls; /* owned: new ones per source */
	struct transactions transactions;
	struct table dialogs;
	struct ua_traces traces;
	struct session *sessions; /* owned: all that are not freed yet */
	char *domain; /* owned */
	char *user_agent; /* owned */
	unsigned max_sessions;
	uint32_t session_expires_s;
	enum { UA_SERVING, UA_DRAINING } state;
	const struct ua_events *events; /* borrowed: outlives us */
	void *owner; /* borrowed: closes us */
	struct ua_stats count; /* sessions and invites; others are asked */
};

/* Answers a request at once, without a transaction: on a reliable transport
 * nobody sends it again. headers: further lines, each with its CRLF. */
void ua_respond(struct ua *ua, struct sip_link *link,
		const struct sip_message *request, int status,
		struct slice headers);
/* Has it answered the request because of its method (405, OPTIONS) or of what
 * it requires (420)? */
bool ua_has_answered(struct ua *ua, struct sip_link *link,
		     const struct sip_message *request);
/* Sends text over a link; of an error the link's end will tell. */
int ua_send(struct ua *ua, struct sip_link *link, struct slice text);

/* ua_invite.c */
/* A new INVITE: checks it, opens a session and asks the owner. */
void ua_on_invite(struct ua *ua, struct sip_link *link,
		  struct sip_message *invite);
