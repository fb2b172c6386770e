/* SPDX-License-Identifier: MIT */
/* sip/link_index.h - what hangs on which link, so that a link that closes is
 * told to its own transactions and nobody else's. Items are members of what
 * they stand for; the index owns one group per link that has any. */
#pragma once
#include <stddef.h>
#include <sys/queue.h>
#include "sip/table.h"

struct link_group;
struct sip_link;

struct link_index {
	struct table groups;
};

struct link_item {
	struct link_group *group; /* NULL: on no link */
	void *of; /* borrowed: what the item is a member of */
	LIST_ENTRY(link_item) in_group;
};

void link_index_init(struct link_index *index);
void link_index_reset(struct link_index *index); /* empty by now: asserted */
/* item is on no link yet. The link itself is not looked into. */
void link_index_add(struct link_index *index, const struct sip_link *link,
		    struct link_item *item, void *of);
/* Nothing happens when it is on no link. */
void link_index_remove(struct link_index *index, struct link_item *item);
/* Calls fn for all on this link; fn may remove only its own. */
void link_index_each(const struct link_index *index,
		     const struct sip_link *link, table_fn *fn, void *arg);
