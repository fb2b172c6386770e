/* SPDX-License-Identifier: MIT */
/* sip/session_offer.h - what our own offers inside the dialog share with
 * others who send requests there; offering itself is session_offer() of
 * sip/session.h. */
#pragma once
#include "sip/request.h"
#include "sip/session.h"

/* How long to wait after a 491 (RFC 3261, 14.1). */
uint32_t session_glare_ms(const struct session *session);
/* What the failure of a request inside the dialog means for the session. */
enum session_cause session_cause_of(const struct sip_request_failure *failure);
/* Forgets our own offer. */
void session_offer_reset(struct session *session);
