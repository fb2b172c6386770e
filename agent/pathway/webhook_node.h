/* SPDX-License-Identifier: MIT */
/* agent/pathway/webhook_node.h - one run of a Webhook node: the request, its
 * retries, its mappings and their events. */
#pragma once
#include <stdbool.h>
#include "agent/pathway/graph.h"
#include "agent/pathway/timeline.h"
#include "agent/pathway/variables.h"

struct fetch;
struct loop;
struct webhook_node;

/* The variables are set and all events written. Never inside
 * webhook_node_open(); may close the run. */
typedef void webhook_done_fn(void *owner, struct webhook_node *run);

struct webhook_node_options {
	struct loop *loop; /* borrowed: outlives us */
	struct fetch *fetch; /* borrowed: outlives us */
	struct timeline *timeline; /* borrowed: outlives us */
	struct variables *variables; /* borrowed: outlives us */
	const json_t *data; /* of the node; borrowed: outlives us */
};

/* True without responseData: nobody waits for the answer. */
bool webhook_is_fire_and_forget(const json_t *data);
struct webhook_node *webhook_node_open(
	const struct webhook_node_options *options, webhook_done_fn *on_done,
	void *owner);
void webhook_node_close(struct webhook_node **run); /* no callback after */
