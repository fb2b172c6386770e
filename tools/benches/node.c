/* SPDX-License-Identifier: MIT */
#include "tools/benches/node.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include "core/buffer.h"
#include "core/loop.h"
#include "core/tls.h"
#include "core/work.h"
#include "tools/benches/bench.h"

/* On the loop that is open, or failed to. */
static int open_rest(struct node *node, char **argv, int err)
{
	struct tls_options options = {
		.certificate_file = bench_text(argv, "--certificate", NULL),
		.key_file = bench_text(argv, "--key", NULL),
		.ca_file = bench_text(argv, "--ca", NULL),
	};
	struct buffer why;

	buffer_init(&why, 1024);
	if (!err)
		err = work_open(&node->work, node->loop);
	options.loop = node->loop;
	options.work = node->work;
	if (!err)
		err = tls_open(&node->tls, &options, &why);
	if (err)
		fprintf(stderr, "bench_parts: %s\n",
			why.len ? buffer_str(&why) : strerror(-err));
	buffer_reset(&why);
	return err;
}

int node_open(struct node *node, char **argv)
{
	*node = (struct node){ 0 };
	return open_rest(node, argv, loop_open(&node->loop));
}

int node_open_sim(struct node *node, char **argv)
{
	*node = (struct node){ 0 };
	loop_open_sim(&node->loop, (int64_t)time(NULL) * 1000);
	return open_rest(node, argv, 0);
}

static void on_signal(void *owner, int signum)
{
	(void)signum;
	loop_stop(owner);
}

void node_run(struct node *node)
{
	loop_on_signals(node->loop, on_signal, node->loop);
	loop_run(node->loop);
}

void node_close(struct node *node)
{
	tls_close(&node->tls);
	if (node->work)
		work_close(&node->work);
	if (node->loop)
		loop_close(&node->loop);
}
