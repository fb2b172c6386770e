/* SPDX-License-Identifier: MIT */
#include "sip/offer.h"
#include <assert.h>

static const unsigned followers[] = {
	[OFFER_STABLE] =
		1 << OFFER_LOCAL | 1 << OFFER_REMOTE | 1 << OFFER_WANTED,
	[OFFER_LOCAL] = 1 << OFFER_STABLE,
	[OFFER_REMOTE] = 1 << OFFER_STABLE | 1 << OFFER_ACK,
	[OFFER_WANTED] = 1 << OFFER_STABLE | 1 << OFFER_LOCAL_2XX,
	[OFFER_ACK] = 1 << OFFER_STABLE,
	[OFFER_LOCAL_2XX] = 1 << OFFER_STABLE,
};

void offer_enter(enum offer_state *state, enum offer_state next)
{
	assert(followers[*state] & 1u << next);
	*state = next;
}

int offer_refusal(enum offer_state state, enum sip_method method, bool has_sdp)
{
	if (method == SIP_UPDATE && !has_sdp)
		return 0; /* refreshes the target, nothing else */
	switch (state) {
	case OFFER_STABLE:
		return 0;
	case OFFER_LOCAL:
	case OFFER_ACK:
	case OFFER_LOCAL_2XX:
		return 491;
	case OFFER_REMOTE:
	case OFFER_WANTED:
		return 500;
	}
	return 500;
}
