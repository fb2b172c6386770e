/* SPDX-License-Identifier: MIT */
/* sip/session.h - one INVITE session, either direction: set-up, early media,
 * offers inside the dialog, end. Bodies are opaque SDP text: this room does not
 * read them. A session belongs to its owner until session_close(), which hangs
 * up (CANCEL or BYE) if need be and finishes the signalling on its own. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/addr.h"
#include "core/slice.h"

struct session;
struct sip_message;
struct ua;

struct session_trunk {
	char host[256]; /* verified name; the INVITE's Request-URI host */
	uint16_t port; /* 0: by RFC 3263, then 5061 */
	const char *username; /* digest; NULL: none */
	const char *password;
	/* PEM texts of a client certificate chain and its key to show there;
	 * NULL: the service's own. Copied. */
	const char *client_certificate;
	const char *client_key;
};

struct session_header {
	struct slice name;
	struct slice value;
};

struct session_call {
	const struct session_trunk *trunk; /* copied */
	const char *to_number; /* user part of the Request-URI */
	const char *from_number; /* user part of From */
	const char *from_display; /* may be NULL */
	struct slice offer; /* SDP, copied */
	const struct session_header *headers; /* extra, copied */
	size_t n_headers;
	uint32_t ring_timeout_ms; /* 0: 60000 */
	const char *replaces; /* value of Replaces (RFC 3891); NULL: none */
	const char *referred_by; /* RFC 3892; NULL: none */
};

/* Why a session ended, for call status and error_message. */
enum session_cause {
	SESSION_HANGUP, /* BYE after it was up, either side */
	SESSION_REJECTED, /* final status 3xx-6xx: in code */
	SESSION_CANCELED, /* we gave up before the answer */
	SESSION_NO_ANSWER, /* ring timeout */
	SESSION_UNREACHABLE, /* DNS, TCP: nobody there */
	SESSION_UNTRUSTED, /* certificate: name or chain */
	SESSION_LOST, /* the link died and could not be renewed */
	SESSION_TIMED_OUT, /* no answer to a request: Timer B or F, ACK; not
			    * refreshed in time (RFC 4028) */
	SESSION_PROTOCOL /* what the peer sent made no session */
};

struct session_end {
	enum session_cause cause;
	int code; /* SIP status, 0 without one */
	const char *reason; /* reason phrase or TLS/DNS error, for people */
	bool by_remote;
};

/* A REFER as it asks; all text is valid during the callback. */
struct session_refer {
	const char *uri; /* Refer-To without the headers in it */
	const char *number; /* its user, as sip_uri_number() gives it */
	const char *host;
	uint16_t port; /* 0: none */
	const char *replaces; /* Replaces in Refer-To, unescaped; or NULL */
	const char *referred_by; /* or NULL */
	bool wants_notify; /* false: Refer-Sub: false (RFC 4488) */
	struct addr peer; /* who sent it */
};

struct session_events {
	/* 101-199; sdp may be empty. Outgoing only. */
	void (*on_progress)(void *owner, int status, struct slice sdp);
	/* Outgoing: 2xx; ACK has been sent. Incoming: ACK arrived; sdp is set
	 * when we made the offer in our 200. The session is up. To our own
	 * session_offer(): sdp empty means that it was refused and all stays
	 * as it was. Without any of these: the peer has changed its SDP in
	 * answer to a refresh of the session, which repeats our last SDP. */
	void (*on_answer)(void *owner, struct slice sdp);
	/* re-INVITE or UPDATE. sdp empty: the peer wants our offer. Answer with
	 * session_answer() or session_refuse(), now or later. */
	void (*on_offer)(void *owner, struct slice sdp);
	/* May be NULL. The peer asks us to call somebody (RFC 3515). 202 takes
	 * it, any other status refuses it; then session_refer_notify(). */
	int (*on_refer)(void *owner, const struct session_refer *refer);
	/* May be NULL. What became of our own REFER: its answer, then the
	 * status lines of its NOTIFYs. is_over: nothing more comes; status 0
	 * with it: no answer, or no final one. */
	void (*on_refer_status)(void *owner, int status, bool is_over);
	/* Once, and last; the owner still calls session_close(). */
	void (*on_end)(void *owner, const struct session_end *end);
};

/* Starts an outgoing call; never calls back inside this call. */
int session_invite(struct session **out, struct ua *ua,
		   const struct session_call *call,
		   const struct session_events *events, void *owner);
/* Takes an incoming session (inside ua_events.on_invite). */
void session_accept(struct session *session,
		    const struct session_events *events, void *owner);
int session_ring(struct session *session); /* 180 */
/* 200 to the INVITE or to an offer inside the dialog. */
int session_answer(struct session *session, struct slice sdp);
/* Refuses the INVITE or an offer (488, 486 ...); a refused first INVITE ends
 * the session without on_end. */
void session_refuse(struct session *session, int status);
/* Our own re-INVITE; on_answer brings the peer's SDP. -EAGAIN: one is under
 * way (glare is retried inside). */
int session_offer(struct session *session, struct slice sdp);
/* CANCEL or BYE; on_end follows. reason (may be NULL) goes into a Reason
 * header (RFC 3326). */
void session_hangup(struct session *session, const char *reason);
void session_close(struct session **session); /* NULL is fine */
/* REFER inside the dialog; replaces may be NULL. A peer that takes it and tells
 * nothing for 60 s is not waited for; on_end ends it untold. -EINVAL: not up,
 * no URI without headers, or no such replaces; -EAGAIN: one is under way. */
int session_refer(struct session *session, const char *target_uri,
		  const char *replaces);
/* NOTIFY to the peer's REFER with this status as sipfrag; from 200 on it ends
 * the subscription, as do 180 s and session_close(), which repeat the last one.
 * After on_end it still goes. Nothing happens without a subscription. */
void session_refer_notify(struct session *session, int status);
const char *session_call_id(const struct session *session); /* SIP's */
