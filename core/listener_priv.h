/* SPDX-License-Identifier: MIT */
/* core/listener_priv.h - how a transport feeds a listener and how a layer such
 * as TLS stands between accept and on_accept. Private to core/.
 *
 *   transport: listener_on_link(raw) -> caps -> layer->on_raw(raw)
 *   layer, handshake done: listener_deliver(link) -> the owner's on_accept
 *
 * Every accepted raw link sits on a seat until it is closed. The seat waits
 * for the first byte: plain links report it by themselves, a layer calls
 * listener_on_first_byte(raw) with the first byte of application data. A seat
 * that waits too long, or has to make room, ends by link_fail(raw), which
 * reaches the layer as the raw link's on_close. */
#pragma once
#include <stdbool.h>
#include "core/listener.h"

struct link;
struct listener_seat;
struct loop;

struct listener_layer {
	/* raw is the layer's from here on: link_attach() or link_close() it
	 * before returning. The handshake's timer is the layer's too
	 * (listener_options()->handshake_ms). */
	void (*on_raw)(void *arg, struct listener *listener, struct link *raw);
	/* The listener goes: close what is still in its handshake, free arg.
	 * Links that were delivered live on. */
	void (*on_closing)(void *arg);
};

/* A bound transport; one of them per kind of loop. */
struct listener_ops {
	void (*pause)(void *transport); /* stops listening for good */
	void (*close)(void *transport); /* frees it */
};

/* Called right after tcp_listen(), before the loop turns: on_accept of that
 * listener is then reached by listener_deliver() alone. The listener owns the
 * use of arg until on_closing(arg). */
void listener_set_layer(struct listener *listener,
			const struct listener_layer *layer, void *arg);
/* With the defaults filled in. */
const struct listen_options *listener_options(const struct listener *listener);
struct loop *listener_loop(const struct listener *listener);
/* From a transport: a fresh link, which is taken over (or closed at a cap). */
void listener_on_link(struct listener *listener, struct link *raw);
/* From a layer: hands the finished link to the owner. Last thing. */
void listener_deliver(struct listener *listener, struct link *link);
void listener_on_first_byte(struct link *raw);

/* Between listener.c, link.c and the transports. */
struct listener *listener_new(struct loop *loop,
			      const struct listen_options *options,
			      listener_accept_fn *on_accept, void *owner);
void listener_set_transport(struct listener *listener,
			    const struct listener_ops *ops, void *transport,
			    const struct addr *local);
/* link.c: data came on a seat without a layer. */
void listener_on_data(struct link *raw);
void listener_leave(struct listener_seat **seat);
