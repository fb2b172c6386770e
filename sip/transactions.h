/* SPDX-License-Identifier: MIT */
/* sip/transactions.h - what client and server transactions of one UA share:
 * the tables they are found in, the way out, and the times (RFC 3261, 17 and
 * table 4, for a reliable transport). */
#pragma once
#include "core/addr.h"
#include "sip/link_index.h"
#include "sip/message.h"
#include "sip/table.h"

struct loop;
struct sip_link;

enum {
	SIP_T1_MS = 500,
	SIP_T2_MS = 4000,
	SIP_TIMEOUT_MS = 64 * SIP_T1_MS, /* Timers B, F, H, L, M */
	SIP_BRANCH_SIZE = 7 + 24 + 1 /* z9hG4bK, a word, NUL */
};

/* The way to the wire; tests keep a list in its place. */
struct transactions_wire {
	int (*send)(void *owner, struct sip_link *link, struct slice text);
	void (*peer)(const struct sip_link *link, struct addr *out);
};

struct transactions {
	struct loop *loop; /* borrowed: outlives us */
	const struct transactions_wire *wire;
	void *owner;
	struct table client;
	struct table server;
	struct table merged; /* initial requests by what forking keeps */
	struct link_index client_links, server_links;
};

void transactions_init(struct transactions *layer, struct loop *loop,
		       const struct transactions_wire *wire, void *owner);
/* Client transactions have been closed by their owners. */
void transactions_reset(struct transactions *layer);
/* The link is gone: client transactions fail and server transactions that wait
 * for an answer report the loss, on the next turn. */
void transactions_on_link_closed(struct transactions *layer,
				 struct sip_link *link);
/* A new branch: the cookie of RFC 3261 and 120 random bits. */
void transactions_branch(char out[SIP_BRANCH_SIZE]);
