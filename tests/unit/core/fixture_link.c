/* SPDX-License-Identifier: MIT */
#include "tests/unit/core/fixture_link.h"
#include "core/loop.h"

static void happened(struct probe *probe)
{
	if (!loop_is_sim(probe->loop))
		loop_stop(probe->loop);
}

static void on_open(void *owner)
{
	struct probe *probe = owner;

	probe->opened++;
	happened(probe);
	if (probe->close_on_open)
		link_close(&probe->link);
}

static void on_data(void *owner, struct slice data)
{
	struct probe *probe = owner;

	buffer_add(&probe->got, data);
	happened(probe);
	if (probe->echo)
		link_send(probe->link, data);
	if (probe->close_on_data)
		link_close(&probe->link);
}

static void on_drain(void *owner)
{
	struct probe *probe = owner;

	probe->drained++;
	happened(probe);
}

static void on_close(void *owner, int err, const char *why)
{
	struct probe *probe = owner;

	probe->closed++;
	probe->err = err;
	probe->why = why;
	happened(probe);
	if (probe->close_on_close)
		link_close(&probe->link);
}

const struct link_events probe_events = {
	.on_open = on_open,
	.on_data = on_data,
	.on_drain = on_drain,
	.on_close = on_close,
};

void probe_init(struct probe *probe, struct loop *loop)
{
	*probe = (struct probe){ .loop = loop };
	buffer_init(&probe->got, 64 * 1024 * 1024);
}

void probe_reset(struct probe *probe)
{
	link_close(&probe->link);
	buffer_reset(&probe->got);
}

void probe_accept(void *owner, struct link *link)
{
	struct probe *probe = owner;

	link_close(&probe->link);
	probe->link = link;
	link_attach(link, &probe_events, probe);
}
