/* SPDX-License-Identifier: MIT */
/* sip/server_transaction.h - one request of the peer's and our answer (RFC
 * 3261, 17.2, for a reliable transport, with RFC 6026). It belongs to its
 * transactions layer and is lent to the one who answers, until released. It
 * also sends a 2xx to INVITE again until its ACK came (13.3.1.4), because it
 * knows over which link. */
#pragma once
#include "sip/transactions.h"

struct server_transaction;

/* Each is called at most once and ends the loan: forget the transaction. */
struct server_transaction_events {
	/* CANCEL came and has its 200; the transaction has been answered with
	 * 487 by itself. */
	void (*on_cancel)(void *owner, struct sip_message *cancel);
	/* There can be no final answer of the owner's: the link closed, it
	 * was too long to be written, or a request other than INVITE waited
	 * for 20 s. The latter two were answered with 500, 504. */
	void (*on_lost)(void *owner);
	/* No ACK to our 2xx for 32 s. */
	void (*on_no_ack)(void *owner);
};

/* For INVITE, and for other requests that are not answered at once. tag goes
 * into To when the request has none. The message is kept until the final
 * answer. */
struct server_transaction *server_transaction_open(struct transactions *layer,
						   struct sip_link *link,
						   struct sip_message *request,
						   const char *tag);
/* Lends it: events come to owner from now on. */
void server_transaction_lend(struct server_transaction *transaction,
			     const struct server_transaction_events *events,
			     void *owner);
/* headers: further lines, each with its CRLF; body: SDP or empty. */
void server_transaction_respond(struct server_transaction *transaction,
				int status, struct slice headers,
				struct slice body);
/* The ACK of our 2xx came: no more of them. */
void server_transaction_acked(struct server_transaction *transaction);
/* Ends the loan; a final answer must have been given. NULL is fine. */
void server_transaction_release(struct server_transaction **transaction);

/* From the wire: the transaction a request belongs to (an ACK to its INVITE),
 * or NULL. */
struct server_transaction *server_transaction_find(
	const struct transactions *layer, const struct sip_message *request);
/* Is this the same request over another path (RFC 3261, 8.2.2.2)? */
bool server_transaction_is_merged(const struct transactions *layer,
				  const struct sip_message *request);
/* A request that server_transaction_find() matched: sent again, or its ACK.
 * False: an ACK that belongs to the dialog. */
bool server_transaction_on_request(struct server_transaction *transaction,
				   const struct sip_message *request);
void server_transaction_on_cancel(struct server_transaction *transaction,
				  struct sip_link *link,
				  struct sip_message *cancel);
void server_transaction_on_link_closed(struct server_transaction *transaction,
				       const struct sip_link *link);
void server_transaction_close(struct server_transaction *transaction);
