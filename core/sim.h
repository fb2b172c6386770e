/* SPDX-License-Identifier: MIT */
/* core/sim.h - the simulated network's handles for tests. Everything that goes
 * between two addresses of one simulated loop arrives in order, one delay after
 * it was sent (0: on the next turn). Any IP may be bound. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/addr.h"
#include "core/slice.h"

struct loop;

struct sim_packet {
	bool is_tcp;
	bool is_connect; /* TCP: the attempt to connect, without bytes */
	struct addr from;
	struct addr to;
	struct slice bytes; /* valid during the call */
};

enum sim_verdict { SIM_PASS, SIM_DROP };

/* Sees each packet when it is sent. Dropping a datagram loses it; dropping TCP
 * bytes cuts the connection (-ECONNRESET at both ends); dropping a connect
 * leaves it unanswered. Must not call into the loop. */
typedef enum sim_verdict sim_filter_fn(void *arg,
				       const struct sim_packet *packet);

void sim_set_filter(struct loop *loop, sim_filter_fn *fn, void *arg);
/* One way. Packets under way keep the delay they were sent with. */
void sim_set_delay_us(struct loop *loop, uint64_t delay_us);
/* Cuts each TCP connection that has this address (port 0: this host) at one
 * of its ends: both owners see on_close(-ECONNRESET). */
void sim_cut_tcp(struct loop *loop, const struct addr *end);
/* What is bound or connected now, so that a test sees leaks and reuse. */
unsigned sim_udp_sockets(const struct loop *loop);
unsigned sim_tcp_links(const struct loop *loop);
