/* SPDX-License-Identifier: MIT */
/* tools/benches/sip_host.c - what is measured: answers every call with ports
 * and keys of its own (180 and 200), and lets the caller hang up; no
 * conversation, nothing stored. */
#include <stdio.h>
#include <stdlib.h>
#include "core/loop.h"
#include "core/mem.h"
#include "tools/benches/bench.h"
#include "tools/benches/bench_sip.h"
#include "tools/benches/host.h"

struct answering {
	struct node node;
	struct host host;
	uint64_t refused;
};

struct taken {
	struct leg *leg; /* owned; the taken frees itself at its end */
};

static void on_up(void *owner)
{
	(void)owner;
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
	struct taken *taken = owner;

	(void)end;
	leg_close(&taken->leg);
	mem_free(taken);
}

static int on_invite(void *owner, struct session *session,
		     const struct ua_invite *invite)
{
	static const struct leg_events events = {
		.on_up = on_up,
		.on_frame = on_frame,
		.on_digit = on_digit,
		.on_end = on_end,
	};
	struct answering *all = owner;
	struct taken *taken = mem_new(sizeof(*taken));
	struct leg_env env = { .ua = all->host.ua, .media = all->host.media };
	struct leg_incoming incoming = { .session = session,
					 .offer = invite->offer };
	int status = leg_take(&taken->leg, &env, &incoming, &events, taken);

	if (!status)
		return 0;
	all->refused++;
	mem_free(taken);
	return status;
}

/* Runs until it is told to end; calls still up then end with the process. */
int bench_sip_host(int argc, char **argv)
{
	static const struct ua_events events = { .on_invite = on_invite };
	struct answering *all = mem_new(sizeof(*all));
	int err = node_open(&all->node, argv);

	(void)argc;
	if (!err)
		err = host_open(&all->host, &all->node, &events, all);
	if (err) {
		fputs("sip-host: cannot start\n", stderr);
		return EXIT_FAILURE;
	}
	printf("ready: port %u\n", ua_port(all->host.ua));
	fflush(stdout);
	node_run(&all->node);
	printf("refused: %llu\n", (unsigned long long)all->refused);
	return EXIT_SUCCESS;
}
