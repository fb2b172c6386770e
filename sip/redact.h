/* SPDX-License-Identifier: MIT */
/* sip/redact.h - a SIP message as it may be kept and shown: without what lets
 * somebody log in or listen. Out of it come credentials (Authorization,
 * Proxy-Authorization, passwords in URIs), the keys of SDP (a=crypto,
 * a=key-mgmt, a=ice-pwd, k=) and every body that is neither SDP nor sipfrag,
 * of which only type and length stay. */
#pragma once
#include "core/buffer.h"

enum { REDACT_BODY_MAX_BYTES = 8192 };

/* Appends text, which need not be well-formed. What comes out is UTF-8 without
 * control characters but CR, LF and TAB. */
void sip_redact(struct buffer *out, struct slice text);

/* What a ladder shows of a message; slices of text. */
struct sip_glance {
	struct slice start_line;
	struct slice method; /* of a response: from CSeq */
	int status; /* 0: a request */
	struct slice call_id;
	struct slice cseq; /* "1 INVITE" */
};
/* Members that text does not have are empty. */
void sip_glance(struct sip_glance *out, struct slice text);
