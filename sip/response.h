/* SPDX-License-Identifier: MIT */
/* sip/response.h - writes our answers (RFC 3261, 8.2.6): Via with received and
 * rport (18.2.1, RFC 3581), From, To with our tag, Call-ID, CSeq,
 * Record-Route. */
#pragma once
#include "core/addr.h"
#include "core/buffer.h"
#include "sip/message.h"

struct response {
	const struct sip_message *request;
	const struct addr *peer; /* where the request came from */
	const char *tag; /* ours, where To has none; NULL for 100 */
	struct slice headers; /* further lines, each with its CRLF */
	struct slice body; /* SDP, or empty */
};

/* What we take: methods, bodies, and extensions that a peer may require. 100rel
 * is none of them: nothing that we answer before the 200 matters enough to be
 * told twice. */
#define SIP_ALLOW     "INVITE, ACK, BYE, CANCEL, OPTIONS, UPDATE, REFER, NOTIFY"
#define SIP_ACCEPT    "application/sdp"
#define SIP_SIPFRAG   "message/sipfrag;version=2.0" /* of our NOTIFYs */
#define SIP_SUPPORTED "timer, replaces, norefersub, nosub"

void response_write(struct buffer *out, int status,
		    const struct response *response);
