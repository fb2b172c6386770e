/* SPDX-License-Identifier: MIT */
/* sip/body.h - the SDP in a message's body (RFC 3261, 7.4; RFC 2046, 5.1 for
 * multipart/mixed and /alternative). */
#pragma once
#include "sip/message.h"

/* *sdp borrows from the message; empty when there is no body. 0, or 415: it
 * holds something else, or is encoded. */
int body_sdp(const struct sip_message *message, struct slice *sdp);
