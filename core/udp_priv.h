/* SPDX-License-Identifier: MIT */
/* core/udp_priv.h - between udp.c (the real socket) and sim_udp.c. */
#pragma once
#include <stdbool.h>
#include <sys/queue.h>
#include "core/udp.h"

struct udp_poll;
struct sim_datagram;

struct udp {
	struct loop *loop; /* borrowed: outlives us */
	struct addr local; /* as bound */
	struct addr peer; /* meaningful when connected */
	bool is_connected;
	udp_ready_fn *ready; /* NULL: not watched */
	void *owner;
	/* real */
	int fd; /* owned; -1 on a simulated loop */
	struct udp_poll *poll; /* owned, frees itself; NULL: not watched */
	unsigned refusals; /* ECONNREFUSED seen */
	/* simulated */
	LIST_ENTRY(udp) entry;
	STAILQ_HEAD(, sim_datagram) arrived; /* owned */
	unsigned n_arrived;
};

int sim_udp_open(struct udp *udp, const struct addr *bind);
void sim_udp_close(struct udp *udp);
ssize_t sim_udp_recv(struct udp *udp, void *out, size_t size,
		     struct addr *from);
void sim_udp_send(struct udp *udp, struct slice datagram,
		  const struct addr *to);
