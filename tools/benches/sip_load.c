/* SPDX-License-Identifier: MIT */
/* tools/benches/sip_load.c - a caller on one TLS connection: INVITE, 200, ACK,
 * BYE, 200, over and over; either so many at once, or so many a second. Counts
 * calls that went all the way, and the time from INVITE to 200. */
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
#include "tools/benches/meter.h"
#include "tools/benches/node.h"

enum { TIMES_MAX = 400000, PACE_MS = 1 };

struct attempt {
	struct load *load; /* borrowed */
	struct session *session; /* owned; NULL: idle */
	uint64_t started_us;
	bool is_answered;
};

struct load {
	struct node node;
	struct ua *ua; /* owned */
	struct timer *timer, *pace; /* owned */
	struct meter meter;
	struct session_trunk trunk;
	struct buffer offer;
	const char *number;
	struct attempt *attempts; /* owned */
	size_t n_attempts;
	struct {
		uint64_t done, failed;
	} count;
	struct {
		uint64_t windows, window_ms, per_s, started_us, launched;
	} plan;
	bool is_over; /* nothing new */
	char why[120]; /* of the first failure */
	uint32_t *setup_us; /* owned */
	size_t n_setup;
};

static void launch(struct load *load, struct attempt *attempt);

/* ---- one call ---- */

static void on_progress(void *owner, int status, struct slice sdp)
{
	(void)owner;
	(void)status;
	(void)sdp;
}

static void on_answer(void *owner, struct slice sdp)
{
	struct attempt *attempt = owner;
	struct load *load = attempt->load;
	uint64_t us = loop_now_us(load->node.loop) - attempt->started_us;

	(void)sdp;
	attempt->is_answered = true;
	if (load->n_setup < TIMES_MAX)
		load->setup_us[load->n_setup++] = (uint32_t)us;
	session_hangup(attempt->session, NULL);
}

static void on_offer(void *owner, struct slice sdp)
{
	struct attempt *attempt = owner;

	(void)sdp;
	session_refuse(attempt->session, 488);
}

static void on_end(void *owner, const struct session_end *end)
{
	struct attempt *attempt = owner;
	struct load *load = attempt->load;

	if (attempt->is_answered && end->cause == SESSION_HANGUP)
		load->count.done++;
	else if (load->count.failed++ == 0)
		snprintf(load->why, sizeof(load->why), "%d %s", end->code,
			 end->reason ? end->reason : "");
	session_close(&attempt->session);
	if (!load->is_over && !load->plan.per_s)
		launch(load, attempt);
}

static void launch(struct load *load, struct attempt *attempt)
{
	static const struct session_events events = {
		.on_progress = on_progress,
		.on_answer = on_answer,
		.on_offer = on_offer,
		.on_end = on_end,
	};
	struct session_call call = {
		.trunk = &load->trunk,
		.to_number = load->number,
		.from_number = "+14155550199",
		.offer = buffer_slice(&load->offer),
	};

	attempt->load = load;
	attempt->is_answered = false;
	attempt->started_us = loop_now_us(load->node.loop);
	if (session_invite(&attempt->session, load->ua, &call, &events,
			   attempt))
		load->count.failed++;
}

/* ---- the pace ---- */

static struct attempt *find_idle(struct load *load)
{
	for (size_t i = 0; i < load->n_attempts; i++)
		if (!load->attempts[i].session)
			return &load->attempts[i];
	return NULL;
}

static void on_pace(void *arg)
{
	struct load *load = arg;
	uint64_t now = loop_now_us(load->node.loop);
	uint64_t due =
		(now - load->plan.started_us) * load->plan.per_s / 1000000;

	for (; load->plan.launched < due; load->plan.launched++) {
		struct attempt *attempt = find_idle(load);

		if (!attempt)
			break; /* late: the calls to come are, too */
		launch(load, attempt);
	}
	if (!load->is_over)
		timer_start(load->pace, PACE_MS, on_pace, load);
}

/* The first call alone, so that the others find the connection open. */
static void on_start(void *arg)
{
	struct load *load = arg;

	load->plan.started_us = loop_now_us(load->node.loop);
	if (load->plan.per_s)
		on_pace(load);
	else
		for (size_t i = 1; i < load->n_attempts; i++)
			launch(load, &load->attempts[i]);
}

static void on_over(void *arg)
{
	struct load *load = arg;

	loop_stop(load->node.loop);
}

static void on_window(void *arg)
{
	struct load *load = arg;

	meter_end(&load->meter, load->count.done);
	if (--load->plan.windows) {
		timer_start(load->timer, load->plan.window_ms, on_window, load);
		return;
	}
	load->is_over = true;
	timer_start(load->timer, 500, on_over, load);
}

static void on_warm(void *arg)
{
	struct load *load = arg;

	load->n_setup = 0;
	meter_begin(&load->meter, load->count.done);
	timer_start(load->timer, load->plan.window_ms, on_window, load);
}

/* ---- life ---- */

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static double quantile_ms(const struct load *load, double share)
{
	size_t at = (size_t)(share * (double)load->n_setup);

	return load->n_setup ? load->setup_us[at] / 1000.0 : 0;
}

static void report(struct load *load)
{
	qsort(load->setup_us, load->n_setup, sizeof(*load->setup_us), by_value);
	printf("{\"calls\": %llu, \"failed\": %llu, \"why\": \"%s\", "
	       "\"setup_p50_ms\": %.3f, \"setup_p99_ms\": %.3f}\n",
	       (unsigned long long)load->count.done,
	       (unsigned long long)load->count.failed, load->why,
	       quantile_ms(load, 0.5), quantile_ms(load, 0.99));
}

static int open_load(struct load *load, char **argv)
{
	static const struct ua_events events = { .on_invite = NULL };
	uint8_t key[SRTP_KEY_BYTES] = { 1 };
	struct ua_options ua = {
		.transport = { .loop = load->node.loop,
			       .tls = load->node.tls,
			       .public_address = "",
			       .user_agent = "Parley-bench" },
		.domain = "localhost",
		.max_sessions = 10000,
	};

	load->number = bench_text(argv, "--number", "+14155550123");
	load->plan.per_s = bench_number(argv, "--rate", 0);
	load->plan.windows = bench_number(argv, "--windows", 5);
	load->plan.window_ms = bench_number(argv, "--seconds", 3) * 1000;
	load->n_attempts = bench_number(argv, "--outstanding", 16);
	load->attempts =
		mem_new_array(load->n_attempts, sizeof(*load->attempts));
	load->setup_us = mem_new_array(TIMES_MAX, sizeof(*load->setup_us));
	load->trunk.port = (uint16_t)bench_number(argv, "--port", 5061);
	memcpy(load->trunk.host, "localhost", sizeof("localhost"));
	/* Nobody listens there: the calls are shorter than a packet. */
	buffer_init(&load->offer, CHILD_TEXT_MAX);
	far_side_write(&load->offer, 9, 0, key);
	load->timer = timer_new(load->node.loop);
	load->pace = timer_new(load->node.loop);
	addr_parse(&ua.transport.listen.bind, SLICE("127.0.0.1"), 0);
	return ua_open(&load->ua, &ua, &events, load);
}

static void close_load(struct load *load)
{
	for (size_t i = 0; i < load->n_attempts; i++)
		session_close(&load->attempts[i].session);
	ua_close(&load->ua);
	timer_close(&load->timer);
	timer_close(&load->pace);
	buffer_reset(&load->offer);
	mem_free(load->attempts);
	mem_free(load->setup_us);
	node_close(&load->node);
	mem_free(load);
}

int bench_sip_load(int argc, char **argv)
{
	struct load *load = mem_new(sizeof(*load));
	uint64_t warm_ms = bench_number(argv, "--warm-up", 2) * 1000;
	int err = node_open(&load->node, argv);

	(void)argc;
	if (!err)
		err = meter_open(&load->meter,
				 (pid_t)bench_number(argv, "--pid", 0));
	if (!err)
		err = open_load(load, argv);
	if (err) {
		fprintf(stderr, "sip-load: %s\n", strerror(-err));
		return EXIT_FAILURE;
	}
	launch(load, &load->attempts[0]);
	timer_start(load->pace, 300, on_start, load);
	timer_start(load->timer, 300 + warm_ms, on_warm, load);
	loop_run(load->node.loop);
	report(load);
	err = load->count.failed > load->count.done / 100;
	close_load(load);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
