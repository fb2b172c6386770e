/* SPDX-License-Identifier: MIT */
#include "sip/transport.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/loop.h"
#include "sip/identities.h"
#include "sip/link_life.h"
#include "sip/locate.h"
#include "sip/transport_priv.h"

static void on_accept(void *owner, struct link *link)
{
	struct sip_transport *transport = owner;

	sip_link_open(transport, link, NULL,
		      tls_generation(transport->options.tls));
}

static void make_room(void *owner)
{
	sip_link_life_make_room(owner);
}

int sip_transport_open(struct sip_transport **out,
		       const struct sip_transport_options *options,
		       const struct sip_transport_events *events, void *owner)
{
	struct sip_transport *transport = mem_new(sizeof(*transport));
	struct listen_options listen = options->listen;
	struct locate_options locate = { 0 };
	const char *address = options->public_address;
	int err;

	transport->options = *options;
	transport->options.locate = NULL;
	transport->options.public_address = mem_dup_str(address ? address : "");
	transport->options.user_agent = mem_dup_str(options->user_agent);
	transport->events = *events;
	transport->owner = owner;
	transport->identities = identities_open();
	LIST_INIT(&transport->links);
	LIST_INIT(&transport->dials);
	LIST_INIT(&transport->connects);
	if (options->locate)
		locate = *options->locate;
	locate.loop = options->loop;
	listen.make_room = make_room;
	err = locate_open(&transport->locate, &locate);
	if (!err)
		err = tls_listen(&transport->listener, options->tls, &listen,
				 on_accept, transport);
	if (!err)
		transport->port = listener_port(transport->listener);
	else
		sip_transport_close(&transport);
	*out = transport;
	return err;
}

void sip_transport_close(struct sip_transport **transport)
{
	struct sip_transport *old = *transport;
	struct sip_link *link, *next;

	if (!old)
		return;
	*transport = NULL;
	listener_close(&old->listener);
	sip_connects_drop(old);
	for (link = LIST_FIRST(&old->links); link; link = next) {
		next = LIST_NEXT(link, in_links);
		sip_link_close(&link);
	}
	locate_close(&old->locate);
	identities_close(&old->identities);
	mem_free((char *)old->options.public_address);
	mem_free((char *)old->options.user_agent);
	mem_free(old);
}

uint16_t sip_transport_port(const struct sip_transport *transport)
{
	return transport->port;
}

void sip_transport_stop_listening(struct sip_transport *transport)
{
	listener_close(&transport->listener);
}

void sip_transport_stats(const struct sip_transport *transport,
			 struct sip_transport_stats *out)
{
	const struct sip_link *link;

	*out = transport->stats;
	LIST_FOREACH(link, &transport->links, in_links)
		out->links++;
}

int sip_transport_identity(struct sip_transport *transport, unsigned *number,
			   struct slice certificate, struct slice key,
			   struct buffer *why)
{
	return identities_add(transport->identities, number, certificate, key,
			      why);
}

void sip_transport_avoid(struct sip_transport *transport,
			 const struct addr *peer, uint32_t seconds)
{
	avoided_add(&transport->avoided, peer, seconds,
		    loop_now_us(transport->options.loop));
}
