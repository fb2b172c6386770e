/* SPDX-License-Identifier: MIT */
/* tools/benches/sip_callees.c - the far end of a service's outgoing calls. The
 * last digit of the number says what happens: 1 answers and hangs up, 2 is
 * busy, 3 rings until it is canceled, 4 answers and waits for BYE. Says at its
 * end how many there were. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/ua.h"
#include "tools/benches/bench.h"
#include "tools/benches/bench_sip.h"
#include "tools/benches/media_child.h"
#include "tools/benches/node.h"

struct callees {
	struct node node;
	struct ua *ua; /* owned */
	struct buffer answer;
	struct {
		uint64_t invited, hung_up, refused, canceled, lost;
	} count;
};

struct callee {
	struct callees *all; /* borrowed */
	struct session *session; /* owned; the callee frees itself at its end */
	bool is_leaving;
};

static void on_progress(void *owner, int status, struct slice sdp)
{
	(void)owner;
	(void)status;
	(void)sdp;
}

/* ACK came. */
static void on_answer(void *owner, struct slice sdp)
{
	struct callee *callee = owner;

	(void)sdp;
	if (callee->is_leaving)
		session_hangup(callee->session, NULL);
}

static void on_offer(void *owner, struct slice sdp)
{
	struct callee *callee = owner;

	(void)sdp;
	session_refuse(callee->session, 488);
}

static void on_end(void *owner, const struct session_end *end)
{
	struct callee *callee = owner;
	struct callees *all = callee->all;

	if (end->cause == SESSION_HANGUP)
		all->count.hung_up++;
	else if (end->cause == SESSION_CANCELED)
		all->count.canceled++;
	else
		all->count.lost++;
	session_close(&callee->session);
	mem_free(callee);
}

static int on_invite(void *owner, struct session *session,
		     const struct ua_invite *invite)
{
	static const struct session_events events = {
		.on_progress = on_progress,
		.on_answer = on_answer,
		.on_offer = on_offer,
		.on_end = on_end,
	};
	struct callees *all = owner;
	size_t len = strlen(invite->to_number);
	char what = len ? invite->to_number[len - 1] : '1';
	struct callee *callee;

	all->count.invited++;
	if (what == '2') {
		all->count.refused++;
		return 486;
	}
	callee = mem_new(sizeof(*callee));
	callee->all = all;
	callee->session = session;
	callee->is_leaving = what == '1';
	session_accept(session, &events, callee);
	session_ring(session);
	if (what != '3')
		session_answer(session, buffer_slice(&all->answer));
	return 0;
}

static int open_callees(struct callees *all, char **argv)
{
	static const struct ua_events events = { .on_invite = on_invite };
	uint8_t key[SRTP_KEY_BYTES] = { 2 };
	struct ua_options ua = {
		.transport = { .loop = all->node.loop,
			       .tls = all->node.tls,
			       .public_address = "",
			       .user_agent = "Parley-bench" },
		.domain = "localhost",
		.max_sessions = 10000,
	};

	buffer_init(&all->answer, CHILD_TEXT_MAX);
	far_side_write(&all->answer, 9, 0, key);
	addr_parse(&ua.transport.listen.bind, SLICE("127.0.0.1"),
		   (uint16_t)bench_number(argv, "--port", 0));
	return ua_open(&all->ua, &ua, &events, all);
}

/* Runs until it is told to end; calls still up then end with the process. */
int bench_sip_callees(int argc, char **argv)
{
	struct callees *all = mem_new(sizeof(*all));
	int err = node_open(&all->node, argv);

	(void)argc;
	if (!err)
		err = open_callees(all, argv);
	if (err) {
		fputs("sip-callees: cannot start\n", stderr);
		return EXIT_FAILURE;
	}
	printf("ready: port %u\n", ua_port(all->ua));
	fflush(stdout);
	node_run(&all->node);
	printf("{\"invited\": %llu, \"hung_up\": %llu, \"refused\": %llu, "
	       "\"canceled\": %llu, \"lost\": %llu}\n",
	       (unsigned long long)all->count.invited,
	       (unsigned long long)all->count.hung_up,
	       (unsigned long long)all->count.refused,
	       (unsigned long long)all->count.canceled,
	       (unsigned long long)all->count.lost);
	return EXIT_SUCCESS;
}
