/* SPDX-License-Identifier: MIT */
/* Connecting and listening on the simulated network. */
#include <errno.h>
#include "core/listener_priv.h"
#include "core/loop_priv.h"
#include "core/mem.h"
#include "core/sim_priv.h"
#include "core/sim_tcp_priv.h"
#include "core/tcp_priv.h"
#include "core/timer.h"

struct sim_listener {
	LIST_ENTRY(sim_listener) entry;
	struct listener *listener; /* borrowed: owns us */
	struct addr local;
	bool is_paused;
};

static struct sim_listener *find_listener(const struct loop *loop,
					  const struct addr *to)
{
	struct sim_listener *one;

	LIST_FOREACH(one, &loop->sim->listeners, entry)
		if (!one->is_paused && sim_reaches(&one->local, to))
			return one;
	return NULL;
}

static void on_connect(struct sim_conn *conn)
{
	struct sim_listener *found = find_listener(conn->loop, &conn->addrs[1]);
	struct sim_end *end;

	if (!found) {
		sim_parcel_send(conn, SIM_REFUSE, 0, slice_make(NULL, 0));
		return;
	}
	sim_parcel_send(conn, SIM_ACCEPT, 0, slice_make(NULL, 0));
	end = sim_end_open(conn, 1, NULL, NULL);
	listener_on_link(found->listener, &end->link);
}

/* Exactly one of these calls reaches an owner, and it is the last thing. */
static void dispatch(struct sim_conn *conn, enum sim_kind kind, int to)
{
	struct sim_end *end = conn->ends[to];

	switch (kind) {
	case SIM_CONNECT:
		if (conn->ends[0])
			on_connect(conn);
		return;
	case SIM_ACCEPT:
		if (end)
			sim_end_on_open(end);
		return;
	case SIM_REFUSE:
		if (end)
			link_fail(&end->link, -ECONNREFUSED,
				  "connection refused");
		return;
	case SIM_BYTES:
		return; /* sim_parcel_arrive() has seen to it */
	case SIM_FIN:
		if (end)
			sim_end_on_fin(end);
		return;
	}
}

void sim_parcel_arrive(struct loop *loop, void *arg)
{
	struct sim_tcp_parcel *parcel = arg;
	struct sim_conn *conn = parcel->conn;
	enum sim_kind kind = parcel->kind;
	int to = parcel->to;
	struct sim_end *end = conn->ends[to];

	if (!conn->is_cut && kind == SIM_BYTES && end) {
		sim_end_on_bytes(end, parcel);
		return;
	}
	if (!conn->is_cut)
		dispatch(conn, kind, to);
	sim_parcel_free(parcel); /* the connection lived until here */
}

int sim_tcp_connect(struct link **out, struct loop *loop, const struct addr *to,
		    const struct link_events *events, void *owner)
{
	struct sim_conn *conn = mem_new(sizeof(*conn));
	struct sim_packet packet = { .is_tcp = true, .is_connect = true };
	struct sim_end *end;

	conn->loop = loop;
	conn->addrs[0] = *to; /* the same host speaks to itself */
	addr_set_port(&conn->addrs[0], sim_next_port(loop));
	conn->addrs[1] = *to;
	LIST_INSERT_HEAD(&loop->sim->conns, conn, entry);
	end = sim_end_open(conn, 0, events, owner);
	sim_end_await(end);
	packet.from = conn->addrs[0];
	packet.to = conn->addrs[1];
	if (sim_judge(loop, &packet) == SIM_PASS)
		sim_parcel_send(conn, SIM_CONNECT, 1, slice_make(NULL, 0));
	*out = &end->link;
	return 0;
}

static void pause_listener(void *arg)
{
	struct sim_listener *mine = arg;

	mine->is_paused = true;
}

static void close_listener(void *arg)
{
	struct sim_listener *mine = arg;

	LIST_REMOVE(mine, entry);
	mem_free(mine);
}

static const struct listener_ops ops = {
	.pause = pause_listener,
	.close = close_listener,
};

static bool is_taken(const struct loop *loop, const struct addr *local)
{
	const struct sim_listener *one;

	LIST_FOREACH(one, &loop->sim->listeners, entry)
		if (!one->is_paused && (sim_reaches(&one->local, local) ||
					sim_reaches(local, &one->local)))
			return true;
	return false;
}

int sim_tcp_listen(struct listener *listener, struct loop *loop,
		   const struct addr *bind)
{
	struct sim_listener *mine;
	struct addr local = *bind;

	if (!addr_port(bind)) {
		do
			addr_set_port(&local, sim_next_port(loop));
		while (is_taken(loop, &local));
	} else if (is_taken(loop, &local)) {
		return -EADDRINUSE;
	}
	mine = mem_new(sizeof(*mine));
	mine->listener = listener;
	mine->local = local;
	LIST_INSERT_HEAD(&loop->sim->listeners, mine, entry);
	listener_set_transport(listener, &ops, mine, &local);
	return 0;
}

void sim_cut_tcp(struct loop *loop, const struct addr *end)
{
	struct sim_conn *conn;

	LIST_FOREACH(conn, &loop->sim->conns, entry) {
		bool is_meant = false;
		int side;

		for (side = 0; side < 2; side++)
			is_meant |=
				addr_port(end)
					? addr_is_same(&conn->addrs[side], end)
					: addr_is_same_host(&conn->addrs[side],
							    end);
		if (is_meant)
			sim_conn_cut(conn);
	}
}

unsigned sim_tcp_links(const struct loop *loop)
{
	const struct sim_conn *conn;
	unsigned n = 0;

	LIST_FOREACH(conn, &loop->sim->conns, entry)
		n += (conn->ends[0] != NULL) + (conn->ends[1] != NULL);
	return n;
}
