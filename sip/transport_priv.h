/* SPDX-License-Identifier: MIT */
/* sip/transport_priv.h - what transport.c, sip_link.c and connect.c share: the
 * transport's own struct, links and the attempts to make one. */
#pragma once
#include <sys/queue.h>
#include "core/link.h"
#include "sip/transport.h"

struct locate;
struct sip_dial;

struct sip_transport {
	struct sip_transport_options options; /* text owned */
	struct sip_transport_events events;
	void *owner;
	uint16_t port; /* kept when listening has stopped */
	struct listener *listener; /* owned */
	struct locate *locate; /* owned */
	LIST_HEAD(, sip_link) links; /* owned */
	LIST_HEAD(, sip_dial) dials; /* owned */
	LIST_HEAD(, sip_connect) connects; /* borrowed: their callers' */
	struct sip_transport_stats stats; /* its links member unused */
};

/* Every link has one struct from the first moment it is open. */
struct sip_link {
	struct sip_transport *transport; /* borrowed: outlives us */
	struct link *link; /* owned; NULL once it has ended */
	struct sip_link_flow *flow; /* owned: bytes in, timers */
	bool is_accepted;
	struct sip_target target; /* whom it was verified for; not accepted */
	unsigned generation; /* of the trust it was verified under */
	struct addr peer;
	char sent_by[320];
	LIST_ENTRY(sip_link) in_links;
};

/* Takes over an open link. target NULL: it was accepted. */
struct sip_link *sip_link_open(struct sip_transport *transport,
			       struct link *link,
			       const struct sip_target *target,
			       unsigned generation);
void sip_link_close(struct sip_link **link); /* no callback */
bool sip_link_is_up(const struct sip_link *link); /* fit for new requests */

/* Attempts wait for nothing any more; their owners free them. */
void sip_connects_drop(struct sip_transport *transport);
/* A link that some attempt was about to hand out has ended. */
void sip_connects_forget(struct sip_transport *transport,
			 const struct sip_link *link);
