/* SPDX-License-Identifier: MIT */
/* UDP of the simulated network. */
#include <assert.h>
#include <errno.h>
#include "core/loop_priv.h"
#include "core/mem.h"
#include "core/sim_priv.h"
#include "core/udp_priv.h"

enum { ARRIVED_MAX = 256 }; /* what a socket's buffer holds; the rest is lost */

struct sim_datagram {
	STAILQ_ENTRY(sim_datagram) entry;
	struct addr from;
	struct addr to;
	size_t len;
	char bytes[];
};

static struct udp *find(const struct loop *loop, const struct addr *to)
{
	struct udp *udp;

	LIST_FOREACH(udp, &loop->sim->udps, entry)
		if (sim_reaches(&udp->local, to))
			return udp;
	return NULL;
}

static bool is_taken(const struct loop *loop, const struct addr *local)
{
	const struct udp *udp;

	LIST_FOREACH(udp, &loop->sim->udps, entry)
		if (sim_reaches(&udp->local, local) ||
		    sim_reaches(local, &udp->local))
			return true;
	return false;
}

int sim_udp_open(struct udp *udp, const struct addr *bind)
{
	udp->local = *bind;
	STAILQ_INIT(&udp->arrived);
	if (!addr_port(bind)) {
		do
			addr_set_port(&udp->local, sim_next_port(udp->loop));
		while (is_taken(udp->loop, &udp->local));
	} else if (is_taken(udp->loop, bind)) {
		return -EADDRINUSE;
	}
	LIST_INSERT_HEAD(&udp->loop->sim->udps, udp, entry);
	return 0;
}

void sim_udp_close(struct udp *udp)
{
	struct sim_datagram *datagram;

	while ((datagram = STAILQ_FIRST(&udp->arrived))) {
		STAILQ_REMOVE_HEAD(&udp->arrived, entry);
		mem_free(datagram);
	}
	LIST_REMOVE(udp, entry);
}

ssize_t sim_udp_recv(struct udp *udp, void *out, size_t size, struct addr *from)
{
	struct sim_datagram *datagram = STAILQ_FIRST(&udp->arrived);
	size_t n;

	if (!datagram)
		return -EAGAIN;
	STAILQ_REMOVE_HEAD(&udp->arrived, entry);
	udp->n_arrived--;
	n = datagram->len < size ? datagram->len : size;
	if (n)
		memcpy(out, datagram->bytes, n);
	if (from)
		*from = datagram->from;
	mem_free(datagram);
	return (ssize_t)n;
}

static void drop(struct loop *loop, void *arg)
{
	mem_free(arg);
}

static void arrive(struct loop *loop, void *arg)
{
	struct sim_datagram *datagram = arg;
	struct udp *udp = find(loop, &datagram->to);

	if (!udp || udp->n_arrived == ARRIVED_MAX ||
	    (udp->is_connected && !addr_is_same(&udp->peer, &datagram->from))) {
		mem_free(datagram);
		return;
	}
	STAILQ_INSERT_TAIL(&udp->arrived, datagram, entry);
	udp->n_arrived++;
	if (udp->ready)
		udp->ready(udp->owner);
}

void sim_udp_send(struct udp *udp, struct slice datagram, const struct addr *to)
{
	struct loop *loop = udp->loop;
	struct sim_packet packet = { .from = udp->local,
				     .to = *to,
				     .bytes = datagram };
	struct sim_datagram *copy;

	if (addr_is_any(&packet.from)) { /* a host speaks to itself */
		packet.from = *to;
		addr_set_port(&packet.from, addr_port(&udp->local));
	}
	if (sim_judge(loop, &packet) == SIM_DROP)
		return;
	copy = mem_new(sizeof(*copy) + datagram.len);
	copy->from = packet.from;
	copy->to = *to;
	copy->len = datagram.len;
	if (datagram.len)
		memcpy(copy->bytes, datagram.ptr, datagram.len);
	sim_post(loop, loop->sim->now_us + loop->sim->delay_us, arrive, drop,
		 copy);
}

unsigned sim_udp_sockets(const struct loop *loop)
{
	const struct udp *udp;
	unsigned n = 0;

	LIST_FOREACH(udp, &loop->sim->udps, entry)
		n++;
	return n;
}
