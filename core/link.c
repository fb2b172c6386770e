/* SPDX-License-Identifier: MIT */
#include "core/link.h"
#include <assert.h>
#include <errno.h>
#include "core/link_priv.h"
#include "core/listener_priv.h"

void link_init(struct link *link, const struct link_ops *ops, struct loop *loop,
	       const struct link_events *events, void *owner)
{
	*link = (struct link){ .ops = ops, .loop = loop, .owner = owner };
	link->state = events ? LINK_CONNECTING : LINK_OPEN;
	link->is_attached = events != NULL;
	if (events)
		link->events = *events;
}

void link_set_addrs(struct link *link, const struct addr *local,
		    const struct addr *peer)
{
	link->local = *local;
	link->peer = *peer;
	addr_text(peer, link->name);
}

void link_reset(struct link *link)
{
	listener_leave(&link->seat);
}

void link_emit_open(struct link *link)
{
	assert(link->state <= LINK_OPEN);
	link->state = LINK_OPEN;
	if (link->events.on_open)
		link->events.on_open(link->owner);
}

void link_emit_data(struct link *link, struct slice data)
{
	assert(link->is_attached && link->events.on_data);
	if (link->seat)
		listener_on_data(link);
	link->events.on_data(link->owner, data);
}

void link_emit_drain(struct link *link)
{
	if (link->events.on_drain)
		link->events.on_drain(link->owner);
}

void link_emit_close(struct link *link, int err, const char *why)
{
	assert(link->state != LINK_ENDED);
	link->state = LINK_ENDED;
	if (link->events.on_close)
		link->events.on_close(link->owner, err, why);
}

void link_fail(struct link *link, int err, const char *why)
{
	if (link->state != LINK_ENDED)
		link->ops->fail(link, err, why);
}

int link_send(struct link *link, struct slice bytes)
{
	if (link->state >= LINK_ENDING)
		return -EPIPE;
	if (!bytes.len)
		return 0;
	if (bytes.len > LINK_QUEUE_MAX_BYTES ||
	    link_queued_bytes(link) > LINK_QUEUE_MAX_BYTES - bytes.len)
		return -ENOBUFS;
	return link->ops->send(link, bytes);
}

size_t link_queued_bytes(const struct link *link)
{
	return link->ops->queued_bytes(link);
}

void link_pause(struct link *link)
{
	link->ops->pause(link);
}

void link_resume(struct link *link)
{
	link->ops->resume(link);
}

void link_shutdown(struct link *link)
{
	if (link->state >= LINK_ENDING)
		return;
	link->state = LINK_ENDING;
	link->ops->shutdown(link);
}

void link_close(struct link **link)
{
	struct link *old = *link;

	if (!old)
		return;
	*link = NULL;
	old->ops->close(old);
}

void link_attach(struct link *link, const struct link_events *events,
		 void *owner)
{
	link->events = *events;
	link->owner = owner;
	link->is_attached = true;
	link->ops->attach(link);
}

void link_peer(const struct link *link, struct addr *out)
{
	*out = link->peer;
}

void link_local(const struct link *link, struct addr *out)
{
	*out = link->local;
}

const char *link_name(const struct link *link)
{
	return link->name;
}

bool link_has_peer_name(const struct link *link, struct slice name)
{
	return link->ops->has_peer_name && link->ops->has_peer_name(link, name);
}
