/* SPDX-License-Identifier: MIT */
/* tools/benches/media_sip.c - the far ends of many calls by SIP: dials them
 * one after another, keeps them up with silent audio, and measures the CPU time
 * and memory of the service that answered. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/ua.h"
#include "tools/benches/bench.h"
#include "tools/benches/meter.h"
#include "tools/benches/node.h"
#include "tools/benches/peers.h"

struct far_end {
	struct node node;
	struct ua *ua; /* owned */
	struct timer *timer; /* owned */
	struct peers *peers; /* owned */
	struct meter meter;
	struct session_trunk trunk;
	const char *number;
	struct session **sessions; /* owned, and each of them */
	size_t n_calls, n_up;
	uint64_t at_us, turns, base_kb;
	struct {
		uint64_t warm_turns, window_turns, end_turns;
	} plan;
	int status;
};

static void dial(struct far_end *far);

static void give_up(struct far_end *far, const char *why)
{
	fprintf(stderr, "media-sip: call %zu: %s\n", far->n_up, why);
	far->status = EXIT_FAILURE;
	loop_stop(far->node.loop);
}

/* ---- audio ---- */

static void on_turn(void *arg)
{
	struct far_end *far = arg;
	uint64_t past = far->turns - far->plan.warm_turns;

	peers_turn(far->peers);
	if (far->turns == far->plan.warm_turns)
		meter_begin(&far->meter, peers_count(far->peers).packets);
	else if (far->turns > far->plan.warm_turns &&
		 past % far->plan.window_turns == 0)
		meter_end(&far->meter, peers_count(far->peers).packets);
	if (far->turns++ == far->plan.end_turns) {
		loop_stop(far->node.loop);
		return;
	}
	far->at_us += SLOT_NS / 1000;
	timer_start_at(far->timer, far->at_us, on_turn, far);
}

/* ---- set-up ---- */

static void on_progress(void *owner, int status, struct slice sdp)
{
	(void)owner;
	(void)status;
	(void)sdp;
}

static void on_answer(void *owner, struct slice sdp)
{
	struct far_end *far = owner;

	if (peers_answered(far->peers, far->n_up, sdp)) {
		give_up(far, "answered without audio that we can do");
		return;
	}
	if (++far->n_up < far->n_calls) {
		dial(far);
		return;
	}
	far->at_us = loop_now_us(far->node.loop);
	on_turn(far);
}

static void on_offer(void *owner, struct slice sdp)
{
	(void)owner;
	(void)sdp;
}

static void on_end(void *owner, const struct session_end *end)
{
	give_up(owner, end->reason ? end->reason : "ended");
}

static void dial(struct far_end *far)
{
	static const struct session_events events = {
		.on_progress = on_progress,
		.on_answer = on_answer,
		.on_offer = on_offer,
		.on_end = on_end,
	};
	struct session_call call = {
		.trunk = &far->trunk,
		.to_number = far->number,
		.from_number = "+14155550199",
	};
	struct buffer offer;
	int err;

	buffer_init(&offer, CHILD_TEXT_MAX);
	err = peers_offer(far->peers, far->n_up, &offer);
	call.offer = buffer_slice(&offer);
	if (!err)
		err = session_invite(&far->sessions[far->n_up], far->ua, &call,
				     &events, far);
	if (err)
		give_up(far, strerror(-err));
	buffer_reset(&offer);
}

/* ---- life ---- */

static int open_far_end(struct far_end *far, char **argv)
{
	static const struct ua_events events = { .on_invite = NULL };
	struct ua_options ua = {
		.transport = { .loop = far->node.loop,
			       .tls = far->node.tls,
			       .public_address = "",
			       .user_agent = "Parley-bench" },
		.domain = "localhost",
		.max_sessions = 10000,
	};
	uint64_t windows = bench_number(argv, "--windows", 5);
	int err;

	far->n_calls = bench_number(argv, "--calls", 100);
	far->number = bench_text(argv, "--number", "+14155550123");
	far->sessions = mem_new_array(far->n_calls, sizeof(*far->sessions));
	far->plan.window_turns =
		bench_number(argv, "--seconds", 3) * PEERS_TURNS_PER_S;
	far->plan.warm_turns =
		bench_number(argv, "--warm-up", 3) * PEERS_TURNS_PER_S;
	far->plan.end_turns =
		far->plan.warm_turns + windows * far->plan.window_turns;
	far->trunk.port = (uint16_t)bench_number(argv, "--port", 5061);
	memcpy(far->trunk.host, "localhost", sizeof("localhost"));
	far->timer = timer_new(far->node.loop);
	addr_parse(&ua.transport.listen.bind, SLICE("127.0.0.1"), 0);
	err = meter_open(&far->meter, (pid_t)bench_number(argv, "--pid", 0));
	far->base_kb = meter_rss_kb(&far->meter);
	if (!err)
		err = peers_open(&far->peers, far->n_calls, true);
	return err ? err : ua_open(&far->ua, &ua, &events, far);
}

static void report(const struct far_end *far)
{
	struct peers_count count = peers_count(far->peers);

	printf("{\"calls\": %zu, \"rss_kb_per_call\": %.1f, "
	       "\"received\": %llu, \"rejected\": %llu, \"rtcp_in\": %llu}\n",
	       far->n_calls,
	       (double)(meter_rss_kb(&far->meter) - far->base_kb) /
		       (double)far->n_calls,
	       (unsigned long long)count.packets,
	       (unsigned long long)count.rejected,
	       (unsigned long long)count.rtcp_in);
}

static void close_far_end(struct far_end *far)
{
	for (size_t i = 0; i < far->n_calls; i++)
		session_close(&far->sessions[i]);
	ua_close(&far->ua);
	timer_close(&far->timer);
	peers_close(&far->peers);
	node_close(&far->node);
	mem_free(far->sessions);
	mem_free(far);
}

int bench_media_sip(int argc, char **argv)
{
	struct far_end *far = mem_new(sizeof(*far));
	int err = node_open(&far->node, argv);
	int status;

	(void)argc;
	if (!err)
		err = open_far_end(far, argv);
	if (err) {
		fprintf(stderr, "media-sip: %s\n", strerror(-err));
		return EXIT_FAILURE;
	}
	dial(far);
	loop_run(far->node.loop);
	report(far);
	status = far->status;
	close_far_end(far);
	return status;
}
