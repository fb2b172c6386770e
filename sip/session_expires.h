/* SPDX-License-Identifier: MIT */
/* sip/session_expires.h - what a message says of the session timer (RFC 4028,
 * 4 and 5): Session-Expires with its refresher, Min-SE, the timer option. */
#pragma once
#include "sip/message.h"

enum { SESSION_EXPIRES_MIN_S = 90 }; /* what the RFC lets nobody go below */

/* A side of the transaction the parameter stands in. */
enum session_refresher { REFRESHER_NONE, REFRESHER_UAC, REFRESHER_UAS };

struct session_expires {
	uint32_t interval_s; /* 0: not said */
	uint32_t min_s; /* SESSION_EXPIRES_MIN_S: not said */
	enum session_refresher refresher;
	bool has_interval;
	bool is_supported;
};

/* 0, or -EINVAL when a value is none; what can be read is read all the same.
 * More seconds than fit are as many as fit. */
int session_expires_parse(struct session_expires *out,
			  const struct sip_message *message);
