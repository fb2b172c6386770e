/* SPDX-License-Identifier: MIT */
/* sip/reason.h - why a request was refused, in the peer's own words: the phrase
 * of its answer, and what its Reason header (RFC 3326) adds. */
#pragma once

struct buffer;
struct sip_message;

/* "Forbidden", "Decline (Call rejected)", "Decline (Q.850 cause 21)". */
void reason_write(struct buffer *out, const struct sip_message *response);
