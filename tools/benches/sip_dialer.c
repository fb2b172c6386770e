/* SPDX-License-Identifier: MIT */
/* tools/benches/sip_dialer.c - what is measured: dials a far end that answers,
 * so many at once, with ports and keys of its own, and hangs up; no
 * conversation, nothing stored. Measures itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "tools/benches/bench.h"
#include "tools/benches/bench_sip.h"
#include "tools/benches/host.h"
#include "tools/benches/meter.h"

struct dialer {
	struct node node;
	struct host host;
	struct timer *timer; /* owned */
	struct meter meter;
	struct session_trunk trunk;
	const char *number;
	struct dialed *dialed; /* owned */
	size_t n_dialed;
	uint64_t done, failed, windows, window_ms;
	bool is_over;
};

struct dialed {
	struct dialer *dialer; /* borrowed */
	struct leg *leg; /* owned; NULL: idle */
};

static void dial(struct dialed *dialed);

static void on_up(void *owner)
{
	struct dialed *dialed = owner;

	leg_hangup(dialed->leg, 0, NULL);
}

static void on_frame(void *owner, const int16_t *samples, bool is_voice)
{
	(void)owner;
	(void)samples;
	(void)is_voice;
}

static void on_digit(void *owner, char digit)
{
	(void)owner;
	(void)digit;
}

static void on_end(void *owner, const struct leg_end *end)
{
	struct dialed *dialed = owner;
	struct dialer *dialer = dialed->dialer;

	if (end->was_up)
		dialer->done++;
	else
		dialer->failed++;
	leg_close(&dialed->leg);
	if (!dialer->is_over)
		dial(dialed);
}

static void dial(struct dialed *dialed)
{
	static const struct leg_events events = {
		.on_up = on_up,
		.on_frame = on_frame,
		.on_digit = on_digit,
		.on_end = on_end,
	};
	struct dialer *dialer = dialed->dialer;
	struct leg_env env = { .ua = dialer->host.ua,
			       .media = dialer->host.media };
	struct session_call call = { .trunk = &dialer->trunk,
				     .to_number = dialer->number,
				     .from_number = "+14155550100" };

	if (leg_dial(&dialed->leg, &env, &call, &events, dialed))
		dialer->failed++;
}

static void on_over(void *arg)
{
	struct dialer *dialer = arg;

	loop_stop(dialer->node.loop);
}

static void on_window(void *arg)
{
	struct dialer *dialer = arg;

	meter_end(&dialer->meter, dialer->done);
	if (--dialer->windows) {
		timer_start(dialer->timer, dialer->window_ms, on_window,
			    dialer);
		return;
	}
	dialer->is_over = true;
	timer_start(dialer->timer, 500, on_over, dialer);
}

static void on_warm(void *arg)
{
	struct dialer *dialer = arg;

	meter_begin(&dialer->meter, dialer->done);
	timer_start(dialer->timer, dialer->window_ms, on_window, dialer);
}

/* The first call alone, so that the others find the connection open. */
static void on_start(void *arg)
{
	struct dialer *dialer = arg;

	for (size_t i = 1; i < dialer->n_dialed; i++)
		dial(&dialer->dialed[i]);
	timer_start(dialer->timer, 2000, on_warm, dialer);
}

static int open_dialer(struct dialer *dialer, char **argv)
{
	static const struct ua_events events = { .on_invite = NULL };

	dialer->number = bench_text(argv, "--number", "+14155550124");
	dialer->windows = bench_number(argv, "--windows", 5);
	dialer->window_ms = bench_number(argv, "--seconds", 3) * 1000;
	dialer->n_dialed = bench_number(argv, "--outstanding", 16);
	dialer->dialed =
		mem_new_array(dialer->n_dialed, sizeof(*dialer->dialed));
	for (size_t i = 0; i < dialer->n_dialed; i++)
		dialer->dialed[i].dialer = dialer;
	dialer->trunk.port = (uint16_t)bench_number(argv, "--port", 5061);
	memcpy(dialer->trunk.host, "localhost", sizeof("localhost"));
	dialer->timer = timer_new(dialer->node.loop);
	meter_open(&dialer->meter, getpid());
	return host_open(&dialer->host, &dialer->node, &events, dialer);
}

/* Calls still up end with the process. */
int bench_sip_dialer(int argc, char **argv)
{
	struct dialer *dialer = mem_new(sizeof(*dialer));
	int err = node_open(&dialer->node, argv);

	(void)argc;
	if (!err)
		err = open_dialer(dialer, argv);
	if (err) {
		fprintf(stderr, "sip-dialer: %s\n", strerror(-err));
		return EXIT_FAILURE;
	}
	dial(&dialer->dialed[0]);
	timer_start(dialer->timer, 300, on_start, dialer);
	loop_run(dialer->node.loop);
	printf("{\"calls\": %llu, \"failed\": %llu}\n",
	       (unsigned long long)dialer->done,
	       (unsigned long long)dialer->failed);
	return dialer->failed > dialer->done / 100 ? EXIT_FAILURE
						   : EXIT_SUCCESS;
}
