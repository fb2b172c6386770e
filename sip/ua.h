/* SPDX-License-Identifier: MIT */
/* sip/ua.h - the user agent: transport, transactions and dialogs behind two
 * nouns, the ua and the session (sip/session.h). */
#pragma once
#include "sip/session.h"
#include "sip/source_limit.h"
#include "sip/transport.h"

struct ua;

struct ua_options {
	struct sip_transport_options transport;
	const char *domain; /* host of our From and Contact */
	unsigned max_sessions; /* above it: 503 with Retry-After */
	/* New calls per source address; per_s 0: any number. */
	struct source_limit_options calls;
	uint32_t session_expires_s; /* to ask for (RFC 4028); 0: 1800 */
};

/* Who calls, and for which number; all text is valid during the callback. */
struct ua_invite {
	const char *to_number; /* E.164 with '+' or the user part */
	const char *from_number; /* P-Asserted-Identity or From */
	const char *from_display;
	const struct sip_message *message; /* mapped headers are read here */
	struct slice offer; /* SDP; empty: we shall offer */
	struct addr peer;
	/* Whom the call asks to take over (RFC 3891): up, or ours and not yet
	 * answered; NULL: nobody. May the caller do so? That is for the owner
	 * to say (403), who hangs up the old one once the new one is up. */
	struct session *replaces;
};

struct ua_events {
	/* A new call: 100 was sent. The owner attaches with session_accept()
	 * inside the callback, or returns a SIP status to refuse with (404,
	 * 486, 403, 503 ...); 0 means it took it. */
	int (*on_invite)(void *owner, struct session *session,
			 const struct ua_invite *invite);
};

int ua_open(struct ua **out, const struct ua_options *options,
	    const struct ua_events *events, void *owner);
/* Sessions must have been closed and probes canceled; what still goes on of
 * the former is dropped. */
void ua_close(struct ua **ua);
void ua_drain(struct ua *ua); /* from now on new INVITEs get 503 */
uint16_t ua_port(const struct ua *ua);

struct ua_stats {
	unsigned sessions, dialogs, client_transactions, server_transactions;
	unsigned links;
	uint64_t messages_in, messages_out, invites_in, invites_out;
	uint64_t parse_errors;
};
void ua_stats(const struct ua *ua, struct ua_stats *out);

/* One OPTIONS to a trunk: status of the answer, or 0 with the reason. The
 * probe is gone when on_done runs, never inside this call. NULL: host is no
 * name. */
typedef void ua_options_fn(void *owner, int status, uint32_t ms,
			   const char *why);
struct ua_probe;
struct ua_probe *ua_probe(struct ua *ua, const struct session_trunk *trunk,
			  ua_options_fn *on_done, void *owner);
void ua_probe_cancel(struct ua_probe **probe);
