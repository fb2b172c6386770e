/* SPDX-License-Identifier: MIT */
/* tests/unit/core/fixture_link.h - an owner of a link that notes what came. */
#pragma once
#include <stdbool.h>
#include "core/buffer.h"
#include "core/link.h"
#include "core/tcp.h"

struct probe {
	struct link *link; /* owned */
	struct loop *loop; /* stopped when is_real and something happened */
	struct buffer got;
	int opened;
	int drained;
	int closed;
	int err;
	const char *why;
	bool close_on_data; /* what to do inside the callbacks */
	bool close_on_open;
	bool close_on_close;
	bool echo;
};

extern const struct link_events probe_events;

void probe_init(struct probe *probe, struct loop *loop);
void probe_reset(struct probe *probe);
/* A listener_accept_fn: owner is the probe that takes the link. */
void probe_accept(void *owner, struct link *link);
