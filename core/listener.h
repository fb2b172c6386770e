/* SPDX-License-Identifier: MIT */
/* core/listener.h - accepts links under caps: in all, per address, and a time
 * for the handshake and the first byte. Above half the cap the link that has
 * waited longest for its first byte goes first. */
#pragma once
#include <stdint.h>
#include "core/addr.h"

struct link;
struct listener;

struct listen_options {
	struct addr bind;
	unsigned max_links; /* in all; 0: 1024 */
	unsigned max_per_address; /* 0: no limit of its own */
	uint32_t handshake_ms; /* 0: 5000 */
	uint32_t first_byte_ms; /* 0: 60000 */
	/* All seats are taken and nobody waits for a first byte: the owner may
	 * link_close() one of its accepted links for the newcomer. NULL: it
	 * is refused. */
	void (*make_room)(void *owner);
};

/* A new link, handshake done; the owner must link_attach() or link_close()
 * it before returning. */
typedef void listener_accept_fn(void *owner, struct link *link);

uint16_t listener_port(const struct listener *listener);
unsigned listener_links(const struct listener *listener); /* open now */
void listener_pause(struct listener *listener); /* no new links */
void listener_close(struct listener **listener); /* links live on */
