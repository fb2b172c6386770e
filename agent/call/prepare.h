/* SPDX-License-Identifier: MIT */
/* agent/call/prepare.h - what a call needs before it can be dialled or taken:
 * its settings, limits, graph and trunk, out of the store. */
#pragma once
#include "agent/pathway/graph.h"
#include "agent/service.h"
#include "sip/session.h"
#include "store/calls.h"

struct prepared {
	json_t *settings; /* owned; an object */
	struct graph *graph; /* owned until a dialogue takes it */
	int64_t version; /* of the pathway that will run */
	uint64_t max_ms; /* the smaller of max_duration and the plan's */
	struct session_trunk trunk; /* texts in the arena; outbound */
	const char *headers; /* the trunk's mapping, in the arena, or NULL */
	char why[240]; /* error_message when it failed */
};

/* Reads graph and limits, and settings when they are not there yet. 0, or
 * -EINVAL with why set. Whatever it returns, prepared_reset() follows. */
int prepare(struct prepared *out, struct service *service, struct arena *arena,
	    const struct call_row *row);
/* The outbound trunk of our number in the row, with its password unsealed into
 * the arena. 0, or with why set -ENOENT or what secret_unseal() returned. */
int prepare_trunk(struct prepared *out, struct service *service,
		  struct arena *arena, const struct call_row *row);
void prepared_reset(struct prepared *prepared);
/* Variables that a pathway starts with; the caller owns the reference. */
json_t *prepare_variables(const struct prepared *prepared,
			  const struct call_row *row);
