/* SPDX-License-Identifier: MIT */
/* From a target to a link: the pool, else a dial. A dial is the work itself,
 * shared by all connects that wait for the same target; each connect reports on
 * a turn of its own, because its owner may do anything then. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include "core/egress.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/identities.h"
#include "sip/locate.h"
#include "sip/transport_priv.h"

enum {
	WHY_SIZE = 256,
	UNREACHABLE_S = 30, /* others are tried first for so long */
	SECOND_CHOICE_US = 60 * 1000000
};

struct outcome {
	struct sip_link *link; /* borrowed: the transport's */
	int err;
	char why[WHY_SIZE];
};

struct sip_dial {
	struct sip_transport *transport; /* borrowed: outlives us */
	struct sip_target target;
	struct sip_tried tried;
	unsigned generation; /* trust that the attempt began under */
	struct locate_query *query; /* owned, while it runs */
	struct addr addresses[LOCATE_MAX_ADDRESSES]; /* in our order */
	size_t n, at; /* at: the next one to try */
	struct addr first; /* in the DNS' order */
	struct link *link; /* owned until it is open */
	struct tls_identity *identity; /* counted; NULL: the service's own */
	struct outcome outcome;
	LIST_ENTRY(sip_dial) in_dials;
};

struct sip_connect {
	struct sip_transport *transport; /* borrowed; NULL: it has closed */
	struct sip_target target;
	struct sip_tried tried;
	sip_connected_fn *on_done;
	void *owner;
	struct timer *timer; /* owned: the next turn */
	struct sip_dial *dial; /* borrowed; NULL: not waiting */
	bool is_done;
	struct outcome outcome;
	LIST_ENTRY(sip_connect) in_connects;
};

static void try_next(struct sip_dial *dial);

static uint64_t now_us(const struct sip_transport *transport)
{
	return loop_now_us(transport->options.loop);
}

static bool was_tried(const struct sip_tried *tried, const struct addr *addr)
{
	for (size_t i = 0; i < tried->n; i++)
		if (addr_is_same(&tried->addresses[i], addr))
			return true;
	return false;
}

static bool is_same_target(const struct sip_target *a,
			   const struct sip_target *b)
{
	return a->port == b->port && a->identity == b->identity &&
	       slice_eq_nocase(slice_of(a->host), slice_of(b->host));
}

/* A link that the peer opened serves too when its certificate proved the name
 * and it asked for that (RFC 5923); never where we are to show a certificate
 * of the trunk's. */
static bool serves(const struct sip_link *link, const struct sip_target *target)
{
	if (!link->is_accepted)
		return is_same_target(&link->target, target);
	return link->alias_port && !target->identity &&
	       (!target->port || target->port == link->alias_port) &&
	       sip_link_has_peer_name(link, slice_of(target->host));
}

static bool is_for_new(const struct sip_link *link,
		       const struct sip_target *target)
{
	return link->generation ==
		       tls_generation(link->transport->options.tls) &&
	       sip_link_is_up(link) && serves(link, target);
}

static struct sip_link *find_pooled(const struct sip_transport *transport,
				    const struct sip_target *target,
				    const struct sip_tried *tried)
{
	uint64_t now = now_us(transport);
	struct sip_link *link;

	LIST_FOREACH(link, &transport->links, in_links)
		if (is_for_new(link, target) &&
		    !was_tried(tried, &link->peer) &&
		    !avoided_has(&transport->avoided, &link->peer, now) &&
		    (!link->second_choice_until_us ||
		     link->second_choice_until_us > now))
			return link;
	return NULL;
}

/* One that is there already at an address we are about to dial. */
static struct sip_link *find_at(const struct sip_transport *transport,
				const struct sip_target *target,
				const struct addr *addr)
{
	struct sip_link *link;

	LIST_FOREACH(link, &transport->links, in_links)
		if (!link->is_accepted && is_for_new(link, target) &&
		    addr_is_same(&link->peer, addr))
			return link;
	return NULL;
}

/* ---- dials ---- */

static void dial_close(struct sip_dial *dial)
{
	LIST_REMOVE(dial, in_dials);
	locate_cancel(&dial->query);
	link_close(&dial->link);
	tls_identity_close(&dial->identity);
	mem_free(dial);
}

static void on_turn(void *arg);

/* Tells all who wait, each on its own turn. */
static void dial_finish(struct sip_dial *dial)
{
	struct sip_connect *connect;

	LIST_FOREACH(connect, &dial->transport->connects, in_connects) {
		if (connect->dial != dial)
			continue;
		connect->dial = NULL;
		connect->is_done = true;
		connect->outcome = dial->outcome;
		timer_start(connect->timer, 0, on_turn, connect);
	}
	dial_close(dial);
}

static bool is_unreachable(int err)
{
	return err == -ECONNREFUSED || err == -ETIMEDOUT ||
	       err == -EHOSTUNREACH || err == -ENETUNREACH ||
	       err == -ECONNRESET;
}

/* Of several addresses the finding that says most: a wrong certificate before
 * an address where nobody is. */
static void note_failure(struct sip_dial *dial, int err, const char *why)
{
	struct outcome *outcome = &dial->outcome;

	if (outcome->err && !is_unreachable(outcome->err))
		return;
	outcome->err = err ? err : -ECONNRESET;
	snprintf(outcome->why, sizeof(outcome->why), "%s", why);
}

static void succeed(struct sip_dial *dial, struct sip_link *link)
{
	link->second_choice_until_us =
		addr_is_same(&link->peer, &dial->first)
			? 0
			: now_us(dial->transport) + SECOND_CHOICE_US;
	dial->outcome = (struct outcome){ .link = link };
	dial_finish(dial);
}

static void on_dial_open(void *owner)
{
	struct sip_dial *dial = owner;
	struct link *link = dial->link;

	dial->link = NULL;
	succeed(dial, sip_link_open(dial->transport, link, &dial->target,
				    dial->generation));
}

static void on_dial_data(void *owner, struct slice data)
{
	assert(!"data before the link was attached");
}

static void on_dial_close(void *owner, int err, const char *why)
{
	struct sip_dial *dial = owner;

	log_debug("sip", NULL, "%s not reached at %s: %s", dial->target.host,
		  link_name(dial->link), why);
	note_failure(dial, err, why);
	if (is_unreachable(err))
		sip_transport_avoid(dial->transport,
				    &dial->addresses[dial->at - 1],
				    UNREACHABLE_S);
	link_close(&dial->link);
	try_next(dial);
}

static void try_next(struct sip_dial *dial)
{
	static const struct link_events events = {
		.on_open = on_dial_open,
		.on_data = on_dial_data,
		.on_close = on_dial_close,
	};
	struct tls *tls = dial->transport->options.tls;
	struct tls_target target = { .name = dial->target.host,
				     .is_sip = true,
				     .identity = dial->identity };
	struct sip_link *link;
	int err;

	while (dial->at < dial->n) {
		target.addr = dial->addresses[dial->at++];
		link = find_at(dial->transport, &dial->target, &target.addr);
		if (link) {
			succeed(dial, link);
			return;
		}
		dial->generation = tls_generation(tls);
		err = tls_connect(&dial->link, tls, &target, &events, dial);
		if (!err)
			return;
		note_failure(dial, err, strerror(-err));
	}
	dial_finish(dial);
}

/* Anybody may call, with a Contact of his making: nobody leads us from the
 * internet into a network that he is not in himself. Trunks may be anywhere,
 * as far as the options say, but where nobody has one: at a cloud's metadata
 * service and the like. */
static bool is_refused(const struct sip_dial *dial, const struct addr *addr)
{
	static const struct egress strict = { 0 };
	struct addr by = addr_unmapped(&dial->target.named_by);
	bool is_lax = !dial->transport->options.no_private_trunks;
	struct egress policy = { .allow_private = is_lax,
				 .allow_loopback = is_lax };

	if (by.sa.sa_family != AF_UNSPEC) {
		if (addr_is_same_host(&by, addr))
			return false;
		policy.allow_private = egress_check(&strict, &by) != 0;
		policy.allow_loopback = addr_is_loopback(&by);
	}
	return egress_check(&policy, addr) != 0;
}

/* Those that are avoided now come last; for a request that has been elsewhere
 * already they do not come at all. */
static void take_addresses(struct sip_dial *dial,
			   const struct locate_result *result)
{
	const struct avoided *avoided = &dial->transport->avoided;
	uint64_t now = now_us(dial->transport);

	_Static_assert((int)SIP_TRIED_MAX >= (int)LOCATE_MAX_ADDRESSES,
		       "all of a host's can be tried");
	if (result->n_addresses)
		dial->first = result->addresses[0];
	for (int last = 0; last <= (dial->tried.n == 0); last++) {
		for (size_t i = 0; i < result->n_addresses; i++) {
			const struct addr *addr = &result->addresses[i];

			if (avoided_has(avoided, addr, now) == last &&
			    !was_tried(&dial->tried, addr) &&
			    !is_refused(dial, addr))
				dial->addresses[dial->n++] = *addr;
		}
	}
}

static void on_located(void *owner, const struct locate_result *result)
{
	struct sip_dial *dial = owner;

	dial->query = NULL;
	take_addresses(dial, result);
	if (result->err)
		note_failure(dial, result->err, result->why);
	else if (!dial->n)
		note_failure(dial, -EHOSTUNREACH,
			     "no other address to try, or none that we may");
	if (dial->target.identity && !dial->identity) {
		dial->n = 0;
		note_failure(dial, -ESTALE,
			     "the trunk's client certificate is not at hand");
	}
	try_next(dial);
}

static struct sip_dial *join_dial(struct sip_transport *transport,
				  const struct sip_target *target,
				  const struct sip_tried *tried)
{
	struct sip_dial *dial;

	LIST_FOREACH(dial, &transport->dials, in_dials)
		if (dial->generation ==
			    tls_generation(transport->options.tls) &&
		    !dial->tried.n && !tried->n &&
		    addr_is_same(&dial->target.named_by, &target->named_by) &&
		    is_same_target(&dial->target, target))
			return dial;
	dial = mem_new(sizeof(*dial));
	dial->transport = transport;
	dial->target = *target;
	dial->tried = *tried;
	dial->identity = tls_identity_hold(
		identities_find(transport->identities, target->identity));
	dial->generation = tls_generation(transport->options.tls);
	LIST_INSERT_HEAD(&transport->dials, dial, in_dials);
	dial->query = locate_start(transport->locate, target->host,
				   target->port, on_located, dial);
	return dial;
}

/* ---- connects ---- */

static void connect_free(struct sip_connect *connect)
{
	if (connect->transport)
		LIST_REMOVE(connect, in_connects);
	timer_close(&connect->timer);
	mem_free(connect);
}

static void on_turn(void *arg)
{
	struct sip_connect *connect = arg;
	struct outcome outcome = connect->outcome;
	sip_connected_fn *on_done = connect->on_done;
	void *owner = connect->owner;

	if (!connect->is_done) {
		outcome.link = find_pooled(connect->transport, &connect->target,
					   &connect->tried);
		if (!outcome.link) {
			connect->dial =
				join_dial(connect->transport, &connect->target,
					  &connect->tried);
			return;
		}
	}
	connect_free(connect);
	on_done(owner, outcome.link, outcome.err, outcome.why);
}

struct sip_connect *sip_transport_connect(struct sip_transport *transport,
					  const struct sip_target *target,
					  sip_connected_fn *on_done,
					  void *owner)
{
	static const struct sip_tried none;

	return sip_transport_connect_next(transport, target, &none, on_done,
					  owner);
}

struct sip_connect *sip_transport_connect_next(struct sip_transport *transport,
					       const struct sip_target *target,
					       const struct sip_tried *tried,
					       sip_connected_fn *on_done,
					       void *owner)
{
	struct sip_connect *connect = mem_new(sizeof(*connect));

	connect->transport = transport;
	connect->target = *target;
	connect->tried = *tried;
	connect->on_done = on_done;
	connect->owner = owner;
	connect->timer = timer_new(transport->options.loop);
	LIST_INSERT_HEAD(&transport->connects, connect, in_connects);
	timer_start(connect->timer, 0, on_turn, connect);
	return connect;
}

static bool is_awaited_by_others(const struct sip_dial *dial,
				 const struct sip_connect *connect)
{
	const struct sip_connect *other;

	LIST_FOREACH(other, &dial->transport->connects, in_connects) {
		if (other != connect && other->dial == dial)
			return true;
	}
	return false;
}

void sip_connect_cancel(struct sip_connect **connect)
{
	struct sip_connect *old = *connect;
	struct sip_dial *dial;

	if (!old)
		return;
	*connect = NULL;
	dial = old->dial;
	if (dial && is_awaited_by_others(dial, old))
		dial = NULL;
	connect_free(old);
	if (dial)
		dial_close(dial); /* nobody waits for it any more */
}

void sip_connects_drop(struct sip_transport *transport)
{
	struct sip_connect *connect;
	struct sip_dial *dial;

	while ((connect = LIST_FIRST(&transport->connects))) {
		LIST_REMOVE(connect, in_connects);
		timer_close(&connect->timer);
		connect->transport = NULL;
		connect->dial = NULL;
	}
	while ((dial = LIST_FIRST(&transport->dials)))
		dial_close(dial);
}

void sip_connects_forget(struct sip_transport *transport,
			 const struct sip_link *link)
{
	struct sip_connect *connect;

	LIST_FOREACH(connect, &transport->connects, in_connects) {
		if (connect->outcome.link != link)
			continue;
		connect->outcome.link = NULL;
		connect->outcome.err = -ECONNRESET;
		snprintf(connect->outcome.why, WHY_SIZE,
			 "the connection was lost");
	}
}
