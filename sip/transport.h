/* SPDX-License-Identifier: MIT */
/* sip/transport.h - SIP over TLS and nothing else: one listening port, and a
 * pool of outgoing links keyed by verified name, port and trust generation.
 * Frames messages, answers CRLF keepalives (RFC 5626, 3.5.1), caps what a peer
 * can grow. */
#pragma once
#include "core/listener.h"
#include "core/tls.h"
#include "sip/message.h"

struct locate_options;
struct sip_transport;
struct sip_link; /* one TLS connection; borrowed by those who use it */

struct sip_transport_options {
	struct loop *loop; /* borrowed: outlives us */
	struct tls *tls; /* borrowed: server and client */
	struct listen_options listen;
	const char *public_address; /* announced; "": the local address */
	const char *user_agent;
	/* Hosts and servers (sip/locate.h), copied; its loop is not read.
	 * NULL: the system's DNS, and on a simulated loop localhost alone. */
	const struct locate_options *locate;
};

struct sip_transport_events {
	/* The message is borrowed; sip_message_ref() keeps it. */
	void (*on_message)(void *owner, struct sip_link *link,
			   struct sip_message *message);
	/* The link is gone after this returns: forget it. */
	void (*on_link_closed)(void *owner, struct sip_link *link, int err,
			       const char *why);
};

int sip_transport_open(struct sip_transport **out,
		       const struct sip_transport_options *options,
		       const struct sip_transport_events *events, void *owner);
/* No callback after. Connects under way never report: their owners still
 * cancel them, before or after this. */
void sip_transport_close(struct sip_transport **transport);
uint16_t sip_transport_port(const struct sip_transport *transport);
void sip_transport_stop_listening(struct sip_transport *transport);

struct sip_transport_stats {
	unsigned links;
	uint64_t messages_in, messages_out, parse_errors;
};
void sip_transport_stats(const struct sip_transport *transport,
			 struct sip_transport_stats *out);

/* Where a request goes: the verified name and how to reach it. */
struct sip_target {
	char host[256]; /* verified name: DNS name or IP literal */
	uint16_t port; /* 0: RFC 3263, then 5061 */
};

/* Outcome of sip_transport_connect(): link, or NULL with err and why. */
typedef void sip_connected_fn(void *owner, struct sip_link *link, int err,
			      const char *why);
struct sip_connect; /* one attempt under way */
/* Gives an open pooled link or makes one (locate, connect, verify; next
 * address on failure). on_done runs once, never inside this call, and the
 * sip_connect is gone by then. err: -EKEYREJECTED, -EKEYEXPIRED and -ENOKEY
 * speak of the certificate, others of the way there. */
struct sip_connect *sip_transport_connect(struct sip_transport *transport,
					  const struct sip_target *target,
					  sip_connected_fn *on_done,
					  void *owner);
void sip_connect_cancel(struct sip_connect **connect); /* NULL is fine */

/* 0, or -EPIPE, -ENOBUFS: the link is ending, on_link_closed follows. */
int sip_link_send(struct sip_link *link, struct slice text);
/* New requests take another link from now on, as after a reload of trust:
 * this one did not answer. What is under way over it goes on. */
void sip_link_retire(struct sip_link *link);
/* "host:port" for Via and Contact of messages over this link. */
const char *sip_link_sent_by(const struct sip_link *link);
void sip_link_peer(const struct sip_link *link, struct addr *out);
bool sip_link_has_peer_name(const struct sip_link *link, struct slice name);
