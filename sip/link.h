/* SPDX-License-Identifier: MIT */
/* sip/link.h - one open TLS connection that carries SIP, and whom it may carry
 * it to. Links belong to the transport; others borrow them until its
 * on_link_closed. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/addr.h"
#include "core/slice.h"

struct sip_link;

/* Where a request goes: the verified name and how to reach it. */
struct sip_target {
	char host[256]; /* verified name: DNS name or IP literal */
	uint16_t port; /* 0: RFC 3263, then 5061 */
	unsigned identity; /* sip_transport_identity(); 0: the service's own */
	/* The peer that named it; no family: a trunk, which we were given. */
	struct addr named_by;
};

/* 0, or -EPIPE, -ENOBUFS: the link is ending, on_link_closed follows. */
int sip_link_send(struct sip_link *link, struct slice text);
/* New requests take another link from now on, as after a reload of trust:
 * this one did not answer. What is under way over it goes on. */
void sip_link_retire(struct sip_link *link);
/* "host:port" for Via and Contact of messages over this link. */
const char *sip_link_sent_by(const struct sip_link *link);
void sip_link_peer(const struct sip_link *link, struct addr *out);
bool sip_link_has_peer_name(const struct sip_link *link, struct slice name);
/* The peer has proved to be this host, in whichever direction the link was
 * opened: secrets meant for it may go over it. */
bool sip_link_is_at(const struct sip_link *link, const struct sip_target *of);
/* From sip_transport_events.mark_used. */
void sip_link_mark_used(struct sip_link *link);
