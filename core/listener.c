/* SPDX-License-Identifier: MIT */
#include "core/listener.h"
#include <assert.h>
#include <errno.h>
#include <sys/queue.h>
#include "core/link_priv.h"
#include "core/listener_priv.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"

enum {
	MAX_LINKS = 1024,
	HANDSHAKE_MS = 5000,
	FIRST_BYTE_MS = 60 * 1000,
	/* Below the cap a newcomer does not push out one that came with the
	 * same burst. */
	GRACE_US = 1000 * 1000,
	COMPLAIN_EVERY_US = 60 * 1000 * 1000,
};

struct listener_seat {
	struct listener *listener; /* borrowed; NULL once it has closed */
	struct link *link; /* borrowed: owns us */
	uint64_t since_us;
	bool is_waiting; /* for the first byte */
	TAILQ_ENTRY(listener_seat) in_waiting;
	LIST_ENTRY(listener_seat) in_seats;
};

struct listener {
	struct loop *loop; /* borrowed: outlives us */
	struct listen_options options;
	struct addr local;
	listener_accept_fn *on_accept;
	void *owner;
	const struct listener_ops *ops;
	void *transport; /* owned, by way of ops */
	const struct listener_layer *layer; /* NULL: none */
	void *layer_arg;
	LIST_HEAD(, listener_seat) seats;
	TAILQ_HEAD(listener_waiting, listener_seat) waiting; /* oldest first */
	unsigned n_seats;
	struct timer *timer; /* owned: the oldest one's first byte */
	uint64_t complained_us;
};

static void on_first_byte_late(void *arg);

struct listener *listener_new(struct loop *loop,
			      const struct listen_options *options,
			      listener_accept_fn *on_accept, void *owner)
{
	struct listener *listener = mem_new(sizeof(*listener));
	struct listen_options *mine = &listener->options;

	listener->loop = loop;
	*mine = *options;
	mine->max_links = mine->max_links ? mine->max_links : MAX_LINKS;
	mine->handshake_ms =
		mine->handshake_ms ? mine->handshake_ms : HANDSHAKE_MS;
	mine->first_byte_ms =
		mine->first_byte_ms ? mine->first_byte_ms : FIRST_BYTE_MS;
	listener->on_accept = on_accept;
	listener->owner = owner;
	listener->timer = timer_new(loop);
	LIST_INIT(&listener->seats);
	TAILQ_INIT(&listener->waiting);
	return listener;
}

void listener_set_transport(struct listener *listener,
			    const struct listener_ops *ops, void *transport,
			    const struct addr *local)
{
	listener->ops = ops;
	listener->transport = transport;
	listener->local = *local;
}

void listener_set_layer(struct listener *listener,
			const struct listener_layer *layer, void *arg)
{
	assert(!listener->layer && !listener->n_seats);
	listener->layer = layer;
	listener->layer_arg = arg;
}

const struct listen_options *listener_options(const struct listener *listener)
{
	return &listener->options;
}

struct loop *listener_loop(const struct listener *listener)
{
	return listener->loop;
}

static void arm(struct listener *listener)
{
	const struct listener_seat *oldest = TAILQ_FIRST(&listener->waiting);

	if (!oldest)
		timer_stop(listener->timer);
	else
		timer_start_at(listener->timer,
			       oldest->since_us +
				       listener->options.first_byte_ms *
					       UINT64_C(1000),
			       on_first_byte_late, listener);
}

static void stop_waiting(struct listener_seat *seat)
{
	struct listener *listener = seat->listener;
	bool was_oldest;

	if (!seat->is_waiting)
		return;
	seat->is_waiting = false;
	was_oldest = TAILQ_FIRST(&listener->waiting) == seat;
	TAILQ_REMOVE(&listener->waiting, seat, in_waiting);
	if (was_oldest)
		arm(listener);
}

void listener_leave(struct listener_seat **seat)
{
	struct listener_seat *old = *seat;

	if (!old)
		return;
	if (old->listener) {
		stop_waiting(old);
		LIST_REMOVE(old, in_seats);
		old->listener->n_seats--;
	}
	mem_free(old);
	*seat = NULL;
}

/* Its seat is free at once; its owner hears of it on the next turn. */
static void evict(struct listener_seat *seat, const char *why)
{
	struct link *link = seat->link;

	listener_leave(&link->seat);
	link_fail(link, -ETIMEDOUT, why);
}

static void on_first_byte_late(void *arg)
{
	struct listener *listener = arg;
	uint64_t now_us = loop_now_us(listener->loop);
	uint64_t limit_us = listener->options.first_byte_ms * UINT64_C(1000);
	struct listener_seat *oldest;

	while ((oldest = TAILQ_FIRST(&listener->waiting)) &&
	       oldest->since_us + limit_us <= now_us)
		evict(oldest, "no first byte in time");
}

static void make_room(struct listener *listener)
{
	struct listener_seat *oldest = TAILQ_FIRST(&listener->waiting);
	uint64_t now_us = loop_now_us(listener->loop);
	bool is_full = listener->n_seats >= listener->options.max_links;

	if (!oldest && is_full && listener->options.make_room)
		listener->options.make_room(listener->owner);
	if (!oldest || listener->n_seats < listener->options.max_links / 2)
		return;
	if (is_full || now_us - oldest->since_us >= GRACE_US)
		evict(oldest, "made room for a newer connection");
}

/* One host is given a whole /64: its other addresses are the same source. */
static bool is_same_source(const struct addr *a, const struct addr *b)
{
	return addr_is_same_host(a, b) ||
	       (a->sa.sa_family == AF_INET6 && b->sa.sa_family == AF_INET6 &&
		!IN6_IS_ADDR_V4MAPPED(&a->in6.sin6_addr) &&
		!IN6_IS_ADDR_LINKLOCAL(&a->in6.sin6_addr) &&
		!memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr, 8));
}

static unsigned count_address(const struct listener *listener,
			      const struct addr *peer)
{
	const struct listener_seat *seat;
	unsigned n = 0;

	LIST_FOREACH(seat, &listener->seats, in_seats)
		n += is_same_source(&seat->link->peer, peer);
	return n;
}

/* Why there is no seat for this peer, or NULL. */
static const char *refusal(const struct listener *listener,
			   const struct addr *peer)
{
	unsigned each = listener->options.max_per_address;

	if (listener->n_seats >= listener->options.max_links)
		return "too many connections";
	if (each && count_address(listener, peer) >= each)
		return "too many connections from this address";
	return NULL;
}

static void complain(struct listener *listener, const struct link *raw,
		     const char *why)
{
	uint64_t now_us = loop_now_us(listener->loop);

	if (listener->complained_us &&
	    now_us - listener->complained_us < COMPLAIN_EVERY_US)
		return;
	listener->complained_us = now_us;
	log_warn("listener", NULL, "port %u refused %s: %s, %u are open",
		 addr_port(&listener->local), link_name(raw), why,
		 listener->n_seats);
}

static void take_seat(struct listener *listener, struct link *raw)
{
	struct listener_seat *seat = mem_new(sizeof(*seat));

	seat->listener = listener;
	seat->link = raw;
	seat->since_us = loop_now_us(listener->loop);
	seat->is_waiting = true;
	TAILQ_INSERT_TAIL(&listener->waiting, seat, in_waiting);
	LIST_INSERT_HEAD(&listener->seats, seat, in_seats);
	listener->n_seats++;
	raw->seat = seat;
	if (TAILQ_FIRST(&listener->waiting) == seat)
		arm(listener);
}

void listener_on_link(struct listener *listener, struct link *raw)
{
	const char *why;

	make_room(listener);
	why = refusal(listener, &raw->peer);
	if (why) {
		complain(listener, raw, why);
		link_close(&raw);
		return;
	}
	take_seat(listener, raw);
	if (listener->layer)
		listener->layer->on_raw(listener->layer_arg, listener, raw);
	else
		listener_deliver(listener, raw);
}

void listener_deliver(struct listener *listener, struct link *link)
{
	listener->on_accept(listener->owner, link);
}

void listener_on_first_byte(struct link *raw)
{
	if (raw->seat && raw->seat->listener)
		stop_waiting(raw->seat);
}

void listener_on_data(struct link *raw)
{
	if (raw->seat->listener && !raw->seat->listener->layer)
		stop_waiting(raw->seat);
}

uint16_t listener_port(const struct listener *listener)
{
	return addr_port(&listener->local);
}

unsigned listener_links(const struct listener *listener)
{
	return listener->n_seats;
}

void listener_pause(struct listener *listener)
{
	listener->ops->pause(listener->transport);
}

void listener_close(struct listener **listener)
{
	struct listener *old = *listener;
	struct listener_seat *seat;

	if (!old)
		return;
	*listener = NULL;
	if (old->ops)
		old->ops->close(old->transport);
	LIST_FOREACH(seat, &old->seats, in_seats) {
		seat->listener = NULL;
		seat->is_waiting = false;
	}
	if (old->layer)
		old->layer->on_closing(old->layer_arg);
	timer_close(&old->timer);
	mem_free(old);
}
