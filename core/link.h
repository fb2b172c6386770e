/* SPDX-License-Identifier: MIT */
/* core/link.h - a connection that carries bytes: what tcp and tls both hand
 * out. A link belongs to whoever opened or accepted it until link_close(); from
 * then on no callback runs and the owner may vanish at once. Callbacks are
 * posted: they never run inside a call into the link. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "core/addr.h"
#include "core/slice.h"

struct link;
struct listener;
struct loop;

struct link_events {
	/* Connected and, on TLS, verified. Not called on accepted links. */
	void (*on_open)(void *owner);
	/* data is valid during the call; may close the link. */
	void (*on_data)(void *owner, struct slice data);
	/* The send queue has emptied after link_send() made it grow. May be
	 * NULL. */
	void (*on_drain)(void *owner);
	/* Called at most once, and last; the owner still calls link_close().
	 * err 0: the peer ended in order. why: for an operator, for example
	 * "certificate name mismatch: wanted sip.example, got ...". */
	void (*on_close)(void *owner, int err, const char *why);
};

enum { LINK_QUEUE_MAX_BYTES = 4 * 1024 * 1024 };

/* Queues a copy. 0, -ENOBUFS past LINK_QUEUE_MAX_BYTES, -EPIPE when closed. */
int link_send(struct link *link, struct slice bytes);
size_t link_queued_bytes(const struct link *link);
/* Back-pressure: while paused on_data is not called. */
void link_pause(struct link *link);
void link_resume(struct link *link);
/* Sends what is queued, ends the connection, then on_close(0). */
void link_shutdown(struct link *link);
void link_close(struct link **link); /* at once; NULL is fine */
/* Replaces callbacks and owner; an accepted link starts reading here. */
void link_attach(struct link *link, const struct link_events *events,
		 void *owner);
void link_peer(const struct link *link, struct addr *out);
void link_local(const struct link *link, struct addr *out);
/* "192.0.2.1:5061", for logs; lives as long as the link. */
const char *link_name(const struct link *link);
/* True if the peer proved this DNS or SIP name with its certificate. */
bool link_has_peer_name(const struct link *link, struct slice name);
