/* SPDX-License-Identifier: MIT */
/* core/sim_tcp_priv.h - between sim_tcp.c (the two ends of a connection) and
 * sim_conn.c (connecting, listening and what travels). */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include "core/addr.h"
#include "core/link_priv.h"
#include "core/slice.h"

struct loop;
struct timer;

/* Side 0 has connected, side 1 accepted. */
enum sim_kind { SIM_CONNECT, SIM_ACCEPT, SIM_REFUSE, SIM_BYTES, SIM_FIN };

struct sim_conn {
	LIST_ENTRY(sim_conn) entry;
	struct loop *loop; /* borrowed: outlives us */
	struct sim_end *ends[2]; /* borrowed; NULL: not yet, or closed */
	struct addr addrs[2];
	uint64_t last_us[2]; /* when the last parcel to that side arrives */
	unsigned count; /* ends and parcels */
	bool is_cut;
};

struct sim_tcp_parcel {
	STAILQ_ENTRY(sim_tcp_parcel) entry;
	struct sim_conn *conn; /* counted */
	enum sim_kind kind;
	int to;
	size_t len;
	char bytes[];
};

struct sim_end {
	struct link link; /* first: links are cast to us */
	struct sim_conn *conn; /* counted */
	int side;
	struct timer *timer; /* owned: connect, linger, or a posted failure */
	struct timer *flush; /* owned */
	struct timer *drain; /* owned */
	STAILQ_HEAD(, sim_tcp_parcel) arrived; /* owned */
	size_t queued; /* sent and not taken by the other end */
	bool is_paused;
	bool is_unanswered; /* no SIM_ACCEPT yet */
	bool has_peer_ended;
	bool has_sent_fin;
	int err; /* of a posted failure */
	const char *why;
};

struct sim_end *sim_end_open(struct sim_conn *conn, int side,
			     const struct link_events *events, void *owner);
void sim_end_await(struct sim_end *end); /* the answer, 4 s */
/* Arrivals. Each calls the owner last. */
void sim_end_on_open(struct sim_end *end);
void sim_end_on_bytes(struct sim_end *end, struct sim_tcp_parcel *parcel);
void sim_end_on_fin(struct sim_end *end);
void sim_conn_cut(struct sim_conn *conn);

void sim_parcel_send(struct sim_conn *conn, enum sim_kind kind, int to,
		     struct slice bytes);
void sim_parcel_arrive(struct loop *loop, void *parcel);
void sim_parcel_free(struct sim_tcp_parcel *parcel);
