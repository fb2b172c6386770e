/* SPDX-License-Identifier: MIT */
/* tools/callee/party.h - one call of the simulated far end: listens, and plays
 * its script whenever the other side falls silent. */
#pragma once
#include "agent/call/leg.h"
#include "agent/engine/speech.h"
#include "tools/callee/script.h"

struct party;

struct party_options {
	struct loop *loop; /* borrowed: outlives us */
	struct speech *speech; /* borrowed */
	const struct script *script; /* borrowed */
	const char *voice;
	const char *record; /* WAV file or NULL */
	struct leg_env env;
};

/* The call is over. Posted; the owner closes the party. */
typedef void party_end_fn(void *owner, const struct leg_end *end);

/* 0 or the SIP status to refuse with. */
int party_open(struct party **out, const struct party_options *options,
	       const struct leg_incoming *incoming, party_end_fn *on_end,
	       void *owner);
void party_close(struct party **party);
