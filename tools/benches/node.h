/* SPDX-License-Identifier: MIT */
/* tools/benches/node.h - a loop with TLS of its own, as one end of SIP or
 * HTTPS: certificate, key and authority are files of a data folder that `parley
 * init` made. */
#pragma once

struct loop;
struct tls;
struct work;

struct node {
	struct loop *loop;
	struct work *work;
	struct tls *tls;
};

/* --certificate, --key and --ca among the arguments; without the first a
 * client alone. 0 or negative errno, and said on stderr. */
int node_open(struct node *node, char **argv);
/* The same on a simulated loop, whose clock starts now. */
int node_open_sim(struct node *node, char **argv);
void node_close(struct node *node);
/* Ends the loop on SIGTERM and SIGINT. */
void node_run(struct node *node);
