/* SPDX-License-Identifier: MIT */
/* core/tcp.h - plain TCP links: under tls, and for HTTP on loopback behind a
 * reverse proxy. TCP_NODELAY is on. */
#pragma once
#include "core/link.h"
#include "core/listener.h"

/* Fails at once only with a local error; else on_open or on_close follows.
 * Gives up after 4 s. */
int tcp_connect(struct link **out, struct loop *loop, const struct addr *to,
		const struct link_events *events, void *owner);
int tcp_listen(struct listener **out, struct loop *loop,
	       const struct listen_options *options,
	       listener_accept_fn *on_accept, void *owner);
