/* SPDX-License-Identifier: MIT */
/* sip/client_transaction.h - one request of ours and its answers (RFC 3261,
 * 17.1, for a reliable transport; RFC 6026: a 2xx to INVITE leaves the
 * transaction open for its retransmissions and for those of other branches).
 * Belongs to whoever opened it. */
#pragma once
#include "sip/transactions.h"

struct client_transaction;

struct client_transaction_events {
	/* Every provisional and final answer; of an INVITE each 2xx for 32 s.
	 * A failed INVITE has been ACKed before. May close the transaction. */
	void (*on_response)(void *owner, struct sip_message *response);
	/* Nothing more will come: -ETIMEDOUT (32 s), -ECONNRESET (the link
	 * went), 0 (the time for further 2xx is over). May close it. */
	void (*on_over)(void *owner, int err);
};

/* text is the whole request, its top Via carrying branch. Sends it; on_over
 * tells when that fails. Never calls back inside. NULL: not a message
 * that sip_message_parse() would take (too many headers, say). */
struct client_transaction *client_transaction_open(
	struct transactions *layer, struct sip_link *link, struct slice text,
	const struct client_transaction_events *events, void *owner);
/* No callback after. NULL is fine. */
void client_transaction_close(struct client_transaction **transaction);
/* CANCEL for an INVITE that has seen a provisional answer (RFC 3261, 9.1), as
 * a transaction of its own. headers: further lines, each with its CRLF. */
struct client_transaction *client_transaction_cancel(
	struct client_transaction *invite, struct slice headers,
	const struct client_transaction_events *events, void *owner);
/* An INVITE with a provisional and no final answer: CANCEL may go. */
bool client_transaction_is_proceeding(
	const struct client_transaction *transaction);

/* From the wire: the transaction of a response that came over link, or NULL. */
struct client_transaction *client_transaction_find(
	const struct transactions *layer, const struct sip_link *link,
	const struct sip_message *response);
void client_transaction_on_response(struct client_transaction *transaction,
				    struct sip_message *response);
void client_transaction_on_link_closed(struct client_transaction *transaction,
				       const struct sip_link *link);
