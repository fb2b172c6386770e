/* SPDX-License-Identifier: MIT */
/* core/sim_priv.h - inside of the simulated network: sim.c has the clock and
 * what is under way, sim_udp.c and sim_tcp.c the sockets. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include "core/addr.h"
#include "core/sim.h"

struct link;
struct link_events;
struct listener;
struct sim_conn;
struct sim_listener;
struct sim_parcel;
struct udp;

LIST_HEAD(sim_parcels, sim_parcel);
LIST_HEAD(sim_conns, sim_conn);
LIST_HEAD(sim_listeners, sim_listener);
LIST_HEAD(sim_udps, udp);

struct sim {
	uint64_t now_us;
	int64_t wall_start_ms;
	bool is_running; /* inside loop_advance_ms() */
	uint64_t delay_us;
	sim_filter_fn *filter; /* NULL: all pass */
	void *filter_arg;
	uint16_t next_port;
	struct sim_parcels parcels; /* owned: under way */
	struct sim_conns conns;
	struct sim_listeners listeners;
	struct sim_udps udps;
};

void sim_open(struct loop *loop, int64_t wall_ms);
/* Drops what is under way; every socket must have been closed. */
void sim_close(struct loop *loop);
void sim_advance_us(struct loop *loop, uint64_t us);

typedef void sim_parcel_fn(struct loop *loop, void *arg);
/* At at_us (or now, if that is past) deliver(arg) runs; if the loop ends
 * before, drop(arg). Either frees arg. */
void sim_post(struct loop *loop, uint64_t at_us, sim_parcel_fn *deliver,
	      sim_parcel_fn *drop, void *arg);
enum sim_verdict sim_judge(const struct loop *loop,
			   const struct sim_packet *packet);
/* The next port that a caller may try for "any". */
uint16_t sim_next_port(struct loop *loop);
/* True if something bound to have receives what is sent to want. */
bool sim_reaches(const struct addr *have, const struct addr *want);

int sim_tcp_connect(struct link **out, struct loop *loop, const struct addr *to,
		    const struct link_events *events, void *owner);
int sim_tcp_listen(struct listener *listener, struct loop *loop,
		   const struct addr *bind);
