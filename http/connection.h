/* SPDX-License-Identifier: MIT */
/* http/connection.h - one client connection: reads requests one at a time,
 * answers in order, bounds what a peer can hold open. */
#pragma once
#include <stdbool.h>
#include "http/server.h"

struct connection;
struct link;

/* The connection is over and frees itself after this returns. */
typedef void connection_gone_fn(void *owner, struct connection *connection);

struct connection_options {
	struct service *service; /* borrowed: outlives us */
	struct http_stats *stats; /* borrowed: outlives us */
	connection_gone_fn *on_gone;
	void *owner;
};

/* Takes over the link. */
struct connection *connection_open(struct link *link,
				   const struct connection_options *options);
/* Answers what is under way, then closes; an idle one closes at once. */
void connection_drain(struct connection *connection);
/* At once, without on_gone. */
void connection_close(struct connection **connection);
/* A list for the owner's use. */
struct connection **connection_next(struct connection *connection);
