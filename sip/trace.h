/* SPDX-License-Identifier: MIT */
/* sip/trace.h - the messages of one Call-ID as they go over the wire, told to
 * whoever keeps them. The text is whole and has its secrets: sip/redact.h takes
 * them out. Without a tap anywhere a message costs nothing, else one look into
 * a table. */
#pragma once
#include "core/addr.h"
#include "sip/table.h"

struct sip_link;
struct sip_message;
struct ua;

enum { UA_TAP_TAG_SIZE = 40 };

/* One message. An empty text is the end: the session of this Call-ID is gone
 * and nothing of it follows. Neither starts nor stops a tap nor calls the ua:
 * the message is still on its way. */
typedef void ua_trace_fn(void *owner, bool is_out, const struct addr *peer,
			 struct slice text);

/* A member of its owner; what is in it belongs to this file. */
struct ua_tap {
	struct table_entry entry;
	struct ua *ua; /* borrowed: outlives us; NULL: not started */
	ua_trace_fn *fn;
	void *owner;
	bool is_callee; /* of a call that came in */
	char tag[UA_TAP_TAG_SIZE]; /* ours of the dialog, once known */
};

/* Starts right after session_invite(), or inside ua_events.on_invite: then fn
 * is called at once with what came before, the INVITE and our 100. Two calls of
 * one Call-ID, as when a proxy sends our own INVITE back to us, are told apart
 * by our tag. */
void ua_trace_start(struct ua *ua, struct ua_tap *tap, const char *sip_call_id,
		    ua_trace_fn *fn, void *owner);
void ua_trace_stop(struct ua_tap *tap); /* nothing happens when not started */

/* For the ua: what it has received, what it has sent, what has ended. */
struct ua_traces {
	struct table taps;
	const struct sip_message *invite; /* on_invite is being asked for it */
	struct sip_link *link; /* it came over this one */
};
void ua_trace_in(struct ua *ua, struct sip_link *link,
		 const struct sip_message *message);
void ua_trace_out(struct ua *ua, struct sip_link *link, struct slice text);
void ua_trace_over(struct ua *ua, const char *sip_call_id);
