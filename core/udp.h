/* SPDX-License-Identifier: MIT */
/* core/udp.h - datagrams. A media socket stays out of the poll set: its owner
 * calls udp_recv() when its slot comes. One that is watched calls back. */
#pragma once
#include <stdint.h>
#include <sys/types.h>
#include "core/addr.h"

struct loop;
struct udp;

typedef void udp_ready_fn(void *owner); /* read until -EAGAIN */

/* Bound, non-blocking. 0, -EADDRINUSE or another errno. */
int udp_open(struct udp **out, struct loop *loop, const struct addr *bind);
void udp_close(struct udp **udp); /* no callback after; NULL is fine */
void udp_watch(struct udp *udp, udp_ready_fn *fn, void *owner);
/* Length of one datagram, at most size (a longer one is cut), or -EAGAIN.
 * A pending ECONNREFUSED is swallowed and reading goes on. from may be NULL. */
ssize_t udp_recv(struct udp *udp, void *out, size_t size, struct addr *from);
/* to NULL: the connected peer. ECONNREFUSED is counted and sent once more. */
int udp_send(struct udp *udp, struct slice datagram, const struct addr *to);
/* Fixes the peer (15 % cheaper sends); NULL dissolves, keeping the port. */
int udp_connect(struct udp *udp, const struct addr *peer);
void udp_local(const struct udp *udp, struct addr *out);
