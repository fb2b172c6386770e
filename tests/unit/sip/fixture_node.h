/* SPDX-License-Identifier: MIT */
/* SIP transports on one simulated loop under one test CA: what each was told,
 * and a bare TLS peer that sends any bytes. */
#pragma once
#include "core/buffer.h"
#include "core/link.h"
#include "core/loop.h"
#include "core/tls.h"
#include "core/work.h"
#include "sip/locate.h"
#include "sip/transport.h"

enum { FIXTURE_MESSAGES = 64, FIXTURE_PATH_SIZE = 96 };

struct fixture_world {
	struct loop *loop;
	struct work *work;
	char dir[FIXTURE_PATH_SIZE];
	char ca[FIXTURE_PATH_SIZE];
	char ca_key[FIXTURE_PATH_SIZE];
};

struct fixture_node {
	struct fixture_world *world;
	struct tls *tls;
	struct sip_transport *transport;
	struct sip_message *messages[FIXTURE_MESSAGES];
	struct sip_link *link; /* of the last message */
	size_t n;
	/* Of a connect. */
	struct sip_link *connected;
	unsigned outcomes;
	int err;
	char why[512];
	/* Of links that ended. */
	unsigned ended;
	int end_err;
	char end_why[512];
	bool closes_in_message; /* its own transport */
	bool in_use; /* a dialog needs link and connected, it says */
};

void fixture_world_open(struct fixture_world *world);
void fixture_world_close(struct fixture_world *world);
/* A certificate under these names ("a.example sip:b.example"), separated by
 * spaces; name also names its files. */
void fixture_tls(struct fixture_world *world, struct tls **out,
		 const char *name, const char *names);
/* The same, asking nobody who connects for a certificate. */
void fixture_tls_lax(struct fixture_world *world, struct tls **out,
		     const char *name, const char *names);
/* Opens tls and transport on 127.0.0.1:port with a certificate for names. */
void fixture_node_open(struct fixture_node *node, struct fixture_world *world,
		       const char *names, uint16_t port,
		       const struct locate_options *locate);
/* The same with tls (the node's from now on) and listen options of the test's;
 * bind 0: 127.0.0.1. */
void fixture_node_open_with(struct fixture_node *node,
			    struct fixture_world *world, struct tls *tls,
			    uint16_t port,
			    const struct sip_transport_options *options);
void fixture_node_close(struct fixture_node *node);
struct sip_connect *fixture_connect(struct fixture_node *node, const char *host,
				    uint16_t port);

/* With that client certificate (sip_transport_identity()). */
void fixture_connect_as(struct fixture_node *node, const char *host,
			unsigned identity);

/* A link without SIP. */
struct fixture_peer {
	struct link *link;
	struct buffer got; /* all it received */
	unsigned opens, ends;
	int err;
	char why[512];
};

void fixture_peer_open(struct fixture_peer *peer, struct fixture_node *from,
		       const char *name, uint16_t port);
void fixture_peer_send(struct fixture_peer *peer, struct slice bytes);
void fixture_peer_close(struct fixture_peer *peer);
