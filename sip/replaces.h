/* SPDX-License-Identifier: MIT */
/* sip/replaces.h - the session that a new call asks to take over (RFC 3891):
 * the header's value, and whom of ours it names. */
#pragma once
#include <stdbool.h>
#include "core/slice.h"

struct session;
struct sip_message;
struct ua;

/* All slices borrow from the parsed text. */
struct replaces {
	struct slice call_id;
	struct slice to_tag; /* of the one that is asked: ours */
	struct slice from_tag; /* of the other one in that dialog */
	bool is_early_only;
};

/* The whole of text is the value of one Replaces header. 0 or -EINVAL. */
int replaces_parse(struct replaces *out, struct slice text);
/* The session that an INVITE's Replaces names; *out stays NULL without that
 * header. 0, or the status that refuses the INVITE (RFC 3891, 3): 400, 481,
 * 486, 603. Who may take a session over is not looked at. */
int replaces_find(struct session **out, const struct ua *ua,
		  const struct sip_message *invite);
