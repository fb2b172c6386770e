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
};

void fixture_world_open(struct fixture_world *world);
void fixture_world_close(struct fixture_world *world);
/* A certificate under these names ("a.example sip:b.example"), separated by
 * spaces; name also names its files. */
void fixture_tls(struct fixture_world *world, struct tls **out,
		 const char *name, const char *names);
/* Opens tls and transport on 127.0.0.1:port with a certificate for names. */
void fixture_node_open(struct fixture_node *node, struct fixture_world *world,
		       const char *names, uint16_t port,
		       const struct locate_options *locate);
void fixture_node_close(struct fixture_node *node);
struct sip_connect *fixture_connect(struct fixture_node *node, const char *host,
				    uint16_t port);

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
