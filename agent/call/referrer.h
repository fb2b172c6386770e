/* SPDX-License-Identifier: MIT */
/* agent/call/referrer.h - whether a caller who wants to be transferred (REFER)
 * is somebody we know. What he asks for is dialled over the organisation's
 * trunk and at its expense, and anybody on the internet may call. */
#pragma once
#include "agent/service.h"
#include "core/addr.h"
#include "store/calls.h"

/* True for the far end of a call that we made (a trunk), for one who has shown
 * a certificate, for one in a network that sip.allowed_networks or the number's
 * allowed_ips name; and where sip.listen is a private address or loopback, for
 * one of such an address other than ours, or on loopback. */
bool referrer_is_known(struct service *service, struct arena *arena,
		       const struct call_row *row, const struct addr *peer);
