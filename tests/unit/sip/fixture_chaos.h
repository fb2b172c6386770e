/* SPDX-License-Identifier: MIT */
/* Sequences nobody planned against running user agents: a peer that sends any
 * request and any answer in any order, valid or not, and cuts its links; owners
 * that do whatever their header allows. Numbers or a fuzzer's bytes choose. */
#pragma once
#include "fixture_ua.h"

enum { CHAOS_KEPT = 6 };

struct chaos {
	struct world *w; /* borrowed */
	struct slice bytes; /* what is left to choose by; ptr NULL: seed */
	uint32_t seed;
	struct sip_message *kept[CHAOS_KEPT]; /* the peer may answer */
	unsigned calls; /* for Call-IDs */
};

/* bytes with ptr NULL: the same sequence for each seed. */
void chaos_open(struct chaos *chaos, struct world *world, struct slice bytes,
		uint32_t seed);
bool chaos_has_more(const struct chaos *chaos); /* of its bytes */
void chaos_step(struct chaos *chaos);
/* Ends all that is under way and asserts that nothing stays behind; the world
 * serves again. */
void chaos_close(struct chaos *chaos);
