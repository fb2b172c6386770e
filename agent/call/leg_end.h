/* SPDX-License-Identifier: MIT */
/* agent/call/leg_end.h - how a leg ended, in the words of the published API:
 * every final SIP status has its call status and message. */
#pragma once
#include <stdbool.h>

struct session_end;

struct leg_end {
	const char *status; /* "completed", "busy", "no-answer", ... */
	const char *message; /* for error_message; NULL when completed */
	int code; /* final SIP status of a refusal; 0: none */
	bool was_up;
	bool by_remote;
};

enum { LEG_MESSAGE_SIZE = 240 };

/* room holds the message where it is not static text. */
void leg_end_explain(struct leg_end *out, char room[LEG_MESSAGE_SIZE],
		     const struct session_end *from, bool was_up);
