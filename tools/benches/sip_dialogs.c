/* SPDX-License-Identifier: MIT */
/* tools/benches/sip_dialogs.c - does a call cost more the more are up? Two user
 * agents on a simulated loop, joined by real TLS: so many calls stay up, and
 * others come and go beside them. CPU time of both ends, set-up to the end; and
 * memory of one end of a call that stays, its transactions over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/loop.h"
#include "core/mem.h"
#include "sip/ua.h"
#include "tools/benches/bench.h"
#include "tools/benches/bench_sip.h"
#include "tools/benches/media_child.h"
#include "tools/benches/meter.h"
#include "tools/benches/node.h"

enum {
	MAX_UP = 5000,
	ABREAST = 16,
	STEP_MS = 2,
	SETTLE_MS = 40 * 1000, /* transactions of a 2xx live 32 s */
	FAR_PORT = 5063
};

static const unsigned levels[] = { 100, 500, 1000, 2500, MAX_UP };

struct far_call {
	struct session *session; /* owned; frees itself at its end */
};

struct near_call {
	struct dialogs *all; /* borrowed */
	struct session *session; /* owned; NULL: none */
	bool stays;
};

struct dialogs {
	struct node node;
	struct ua *near, *far; /* owned */
	struct buffer sdp;
	struct near_call up[MAX_UP], passing[ABREAST];
	uint64_t over, failed;
};

static void on_progress(void *owner, int status, struct slice sdp)
{
	(void)owner;
	(void)status;
	(void)sdp;
}

static void on_offer(void *owner, struct slice sdp)
{
	(void)owner;
	(void)sdp;
}

/* ---- who is called ---- */

static void far_on_answer(void *owner, struct slice sdp)
{
	(void)owner;
	(void)sdp;
}

static void far_on_end(void *owner, const struct session_end *end)
{
	struct far_call *call = owner;

	(void)end;
	session_close(&call->session);
	mem_free(call);
}

static int on_invite(void *owner, struct session *session,
		     const struct ua_invite *invite)
{
	static const struct session_events events = {
		.on_progress = on_progress,
		.on_answer = far_on_answer,
		.on_offer = on_offer,
		.on_end = far_on_end,
	};
	struct dialogs *all = owner;
	struct far_call *call = mem_new(sizeof(*call));

	(void)invite;
	call->session = session;
	session_accept(session, &events, call);
	session_answer(session, buffer_slice(&all->sdp));
	return 0;
}

/* ---- who calls ---- */

static void near_on_answer(void *owner, struct slice sdp)
{
	struct near_call *call = owner;

	(void)sdp;
	if (!call->stays)
		session_hangup(call->session, NULL);
}

static void near_on_end(void *owner, const struct session_end *end)
{
	struct near_call *call = owner;

	if (call->stays || end->cause != SESSION_HANGUP)
		call->all->failed++;
	call->all->over++;
	session_close(&call->session);
}

static void dial(struct dialogs *all, struct near_call *call, bool stays)
{
	static const struct session_events events = {
		.on_progress = on_progress,
		.on_answer = near_on_answer,
		.on_offer = on_offer,
		.on_end = near_on_end,
	};
	static const struct session_trunk trunk = { .host = "localhost",
						    .port = FAR_PORT };
	struct session_call what = { .trunk = &trunk,
				     .to_number = "+14155550123",
				     .from_number = "+14155550100",
				     .offer = buffer_slice(&all->sdp) };

	call->all = all;
	call->stays = stays;
	if (session_invite(&call->session, all->near, &what, &events, call))
		all->failed++;
}

static void pass_through(struct dialogs *all, unsigned calls)
{
	for (unsigned done = 0; done < calls; done += ABREAST) {
		uint64_t goal = all->over + ABREAST;

		for (int i = 0; i < ABREAST; i++)
			dial(all, &all->passing[i], false);
		while (all->over < goal && !all->failed)
			loop_advance_ms(all->node.loop, STEP_MS);
	}
}

static void hold(struct dialogs *all, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++) {
		dial(all, &all->up[i], true);
		if (i % ABREAST == 0)
			loop_advance_ms(all->node.loop, STEP_MS);
	}
	loop_advance_ms(all->node.loop, SETTLE_MS);
}

/* ---- life ---- */

static int open_ua(struct dialogs *all, struct ua **out, uint16_t port)
{
	static const struct ua_events events = { .on_invite = on_invite };
	struct ua_options ua = {
		.transport = { .loop = all->node.loop,
			       .tls = all->node.tls,
			       .public_address = "",
			       .user_agent = "Parley-bench" },
		.domain = "localhost",
		.max_sessions = 4 * MAX_UP,
	};

	addr_parse(&ua.transport.listen.bind, SLICE("127.0.0.1"), port);
	return ua_open(out, &ua, &events, all);
}

static int open_dialogs(struct dialogs *all)
{
	uint8_t key[SRTP_KEY_BYTES] = { 1 };
	int err;

	buffer_init(&all->sdp, CHILD_TEXT_MAX);
	far_side_write(&all->sdp, 9, 0, key);
	err = open_ua(all, &all->far, FAR_PORT);
	return err ? err : open_ua(all, &all->near, FAR_PORT + 1);
}

static void report(const struct dialogs *all, unsigned level, size_t empty)
{
	struct ua_stats stats;

	ua_stats(all->far, &stats);
	printf("{\"up\": %u, \"dialogs\": %u, \"transactions\": %u, "
	       "\"bytes_per_end\": %.0f}\n",
	       level, stats.dialogs,
	       stats.client_transactions + stats.server_transactions,
	       (double)(mem_in_use() - empty) / level / 2);
}

static void measure(struct dialogs *all, char **argv)
{
	uint64_t windows = bench_number(argv, "--windows", 5);
	unsigned calls = (unsigned)bench_number(argv, "--calls", 800);
	unsigned up = 0;
	size_t empty;

	pass_through(all, calls);
	loop_advance_ms(all->node.loop, SETTLE_MS);
	empty = mem_in_use();
	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
		hold(all, up, levels[i]);
		up = levels[i];
		report(all, up, empty);
		for (uint64_t n = 0; n < windows && !all->failed; n++) {
			uint64_t begin = meter_cpu_ns();

			pass_through(all, calls);
			printf("{\"up\": %u, \"us\": %.2f}\n", up,
			       (double)(meter_cpu_ns() - begin) / 1000 / calls);
			loop_advance_ms(all->node.loop, SETTLE_MS);
		}
	}
}

static void close_dialogs(struct dialogs *all)
{
	for (unsigned i = 0; i < MAX_UP; i++)
		session_close(&all->up[i].session);
	loop_advance_ms(all->node.loop, SETTLE_MS);
	ua_close(&all->near);
	ua_close(&all->far);
	buffer_reset(&all->sdp);
}

int bench_sip_dialogs(int argc, char **argv)
{
	struct dialogs *all = mem_new(sizeof(*all));
	int err = node_open_sim(&all->node, argv);
	bool has_failed;

	(void)argc;
	if (!err)
		err = open_dialogs(all);
	if (err) {
		fprintf(stderr, "sip-dialogs: %s\n", strerror(-err));
		return EXIT_FAILURE;
	}
	measure(all, argv);
	has_failed = all->failed > 0;
	close_dialogs(all);
	loop_advance_ms(all->node.loop, 0);
	node_close(&all->node);
	mem_free(all);
	return has_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
