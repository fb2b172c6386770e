/* SPDX-License-Identifier: MIT */
/* sip/transport.h - SIP over TLS and nothing else: one listening port, and a
 * pool of outgoing links keyed by verified name, port, client certificate and
 * trust generation. Frames messages, caps what a peer can grow.
 *
 * Keepalives (RFC 5626, 3.5.1): CRLFCRLF every 30 s on outgoing links and on
 * accepted ones in use; no pong within 10 s ends a link whose peer has answered
 * one before. Links that no dialog needs end after 5 minutes (outgoing) or 10
 * (accepted) without a whole message; keepalives do not count. When all seats
 * are taken the accepted link that has been idle for longest makes room. */
#pragma once
#include "core/listener.h"
#include "core/tls.h"
#include "sip/link.h"
#include "sip/message.h"

struct locate_options;
struct sip_transport;

struct sip_transport_options {
	struct loop *loop; /* borrowed: outlives us */
	struct tls *tls; /* borrowed: server and client */
	struct listen_options listen;
	const char *public_address; /* announced; "": the local address */
	const char *user_agent;
	bool no_private_trunks; /* nor on this machine (core/egress.h) */
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
	/* Calls sip_link_mark_used() for each link that a dialog needs. NULL:
	 * none is needed. */
	void (*mark_used)(void *owner);
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

/* The number of a client certificate, PEM texts of chain and key; kept by the
 * transport. -EINVAL: why says what is wrong with it. */
int sip_transport_identity(struct sip_transport *transport, unsigned *number,
			   struct slice certificate, struct slice key,
			   struct buffer *why);

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

enum { SIP_TRIED_MAX = 8 };

/* Where one request has been already (RFC 3263, 4.3). */
struct sip_tried {
	struct addr addresses[SIP_TRIED_MAX];
	size_t n;
};

/* As sip_transport_connect(), to an address that was not tried and is not
 * avoided now; -EHOSTUNREACH: there is none. tried is copied. */
struct sip_connect *sip_transport_connect_next(struct sip_transport *transport,
					       const struct sip_target *target,
					       const struct sip_tried *tried,
					       sip_connected_fn *on_done,
					       void *owner);
/* Other addresses are tried before this one for so long (sip/avoided.h). */
void sip_transport_avoid(struct sip_transport *transport,
			 const struct addr *peer, uint32_t seconds);
