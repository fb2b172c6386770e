/* SPDX-License-Identifier: MIT */
/* core/link_priv.h - what carries a link: tcp, tls and the simulated network
 * embed struct link first in their own struct and fill in the table below.
 * Private to core/. */
#pragma once
#include <stdbool.h>
#include "core/link.h"

struct listener_seat;

/* CONNECTING --on_open--> OPEN --shutdown--> ENDING --> ENDED
 * any of the first three --on_close--> ENDED; accepted links start OPEN. */
enum link_state { LINK_CONNECTING, LINK_OPEN, LINK_ENDING, LINK_ENDED };

/* link.c has checked state and queue before send, and state before shutdown
 * (called once). No entry may call the owner back: it posts (timer 0 ms). */
struct link_ops {
	int (*send)(struct link *link, struct slice bytes);
	size_t (*queued_bytes)(const struct link *link);
	void (*pause)(struct link *link);
	void (*resume)(struct link *link);
	void (*shutdown)(struct link *link);
	/* Ends it from our side: on_close(err, why) is posted. */
	void (*fail)(struct link *link, int err, const char *why);
	/* Releases; no callback after. Ends with link_reset(). */
	void (*close)(struct link *link);
	/* The owner has changed; an accepted link starts reading. */
	void (*attach)(struct link *link);
	bool (*has_peer_name)(const struct link *link, struct slice name);
};

struct link {
	const struct link_ops *ops;
	struct loop *loop; /* borrowed: outlives us */
	struct link_events events; /* a copy; all NULL until attached */
	void *owner; /* borrowed */
	struct listener_seat *seat; /* owned; NULL: not accepted, or evicted */
	enum link_state state;
	bool is_attached;
	struct addr peer;
	struct addr local;
	char name[ADDR_TEXT_SIZE];
};

/* events NULL: an accepted link, not attached yet. */
void link_init(struct link *link, const struct link_ops *ops, struct loop *loop,
	       const struct link_events *events, void *owner);
void link_set_addrs(struct link *link, const struct addr *local,
		    const struct addr *peer); /* also writes the name */
/* Gives the seat back. The last thing before the memory goes. */
void link_reset(struct link *link);

/* Each calls the owner, so each is the last thing its caller does. They move
 * the state; after link_emit_close() nothing is emitted any more. */
void link_emit_open(struct link *link);
void link_emit_data(struct link *link, struct slice data);
void link_emit_drain(struct link *link);
void link_emit_close(struct link *link, int err, const char *why);
/* What a layer or the listener calls to end a link; why is static text. */
void link_fail(struct link *link, int err, const char *why);
