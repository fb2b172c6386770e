/* SPDX-License-Identifier: MIT */
/* sip/session_trunk.h - the trunk of a session as the transport wants it. */
#pragma once
#include "sip/transport.h"

struct session_trunk;
struct ua;

/* -EINVAL: no host, or its client certificate is none (the log says why). */
int session_trunk_target(struct sip_target *out, struct ua *ua,
			 const struct session_trunk *trunk);
