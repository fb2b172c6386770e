/* SPDX-License-Identifier: MIT */
/* sip/body.h - the SDP in a message's body (RFC 3261, 7.4; RFC 2046, 5.1 for
 * multipart/mixed and /alternative). */
#pragma once
#include "sip/message.h"

/* *sdp borrows from the message; empty when there is no body. 0, or 415: it
 * holds something else, or is encoded. */
int body_sdp(const struct sip_message *message, struct slice *sdp);
/* Does the peer take SDP in our answer (20.1)? Else 406 and why. */
bool body_may_answer(const struct sip_message *request);
#define BODY_REFUSAL                                                           \
	"Warning: 399 parley \"Answers to INVITE are application/sdp\"\r\n"
