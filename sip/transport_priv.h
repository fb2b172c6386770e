/* SPDX-License-Identifier: MIT */
/* sip/transport_priv.h - what transport.c, sip_link.c, link_life.c and
 * connect.c share: the transport's own struct, links and the attempts to make
 * one. */
#pragma once
#include <sys/queue.h>
#include "core/link.h"
#include "sip/avoided.h"
#include "sip/transport.h"

struct identities;
struct locate;
struct sip_dial;
struct sip_link_flow;
struct sip_link_life;

struct sip_transport {
	struct sip_transport_options options; /* text owned */
	struct sip_transport_events events;
	void *owner;
	uint16_t port; /* kept when listening has stopped */
	struct listener *listener; /* owned */
	struct locate *locate; /* owned */
	struct identities *identities; /* owned */
	struct avoided avoided;
	LIST_HEAD(, sip_link) links; /* owned */
	LIST_HEAD(, sip_dial) dials; /* owned */
	LIST_HEAD(, sip_connect) connects; /* borrowed: their callers' */
	struct sip_transport_stats stats; /* its links member unused */
};

/* Every link has one struct from the first moment it is open. */
struct sip_link {
	struct sip_transport *transport; /* borrowed: outlives us */
	struct link *link; /* owned; NULL once it has ended */
	struct sip_link_flow *flow; /* owned: bytes in */
	struct sip_link_life *life; /* owned: keepalives, idle time */
	bool is_accepted;
	bool is_used; /* as of the last mark_used */
	/* RFC 5923: where an accepted link's peer listens, by its Via with
	 * "alias"; 0: it has not offered itself for our requests. */
	uint16_t alias_port;
	/* Not the target's first choice of address: fit for new requests until
	 * then, when the first one is tried again. 0: it is. */
	uint64_t second_choice_until_us;
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
bool sip_link_is_up(const struct sip_link *link); /* can send */
/* Ends it: on_link_closed follows at once (end) or on the next turn, with the
 * seat free already (evict). why is copied. */
void sip_link_end(struct sip_link *link, int err, const char *why);
void sip_link_evict(struct sip_link *link, const char *why);

/* Attempts wait for nothing any more; their owners free them. */
void sip_connects_drop(struct sip_transport *transport);
/* A link that some attempt was about to hand out has ended. */
void sip_connects_forget(struct sip_transport *transport,
			 const struct sip_link *link);
