/* SPDX-License-Identifier: MIT */
/* sip/trunk_target.h - a trunk as the transport wants it. */
#pragma once
#include "sip/transport.h"

struct session_trunk;
struct ua;

/* -EINVAL: no host, or its client certificate is none (the log says why). */
int trunk_target(struct sip_target *out, struct ua *ua,
		 const struct session_trunk *trunk);
