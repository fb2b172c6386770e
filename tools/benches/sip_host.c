/* SPDX-License-Identifier: MIT */
/* tools/benches/sip_host.c - what is measured: answers every call with ports
 * and keys of its own (180 and 200), and lets the caller hang up; no
 * conversation, nothing stored. */
#include <stdio.h>
#include <stdlib.h>
#include "agent/call/leg.h"
#include "core/loop.h"
#include "core/mem.h"
#include "media/media.h"
#include "sip/ua.h"
#include "tools/benches/bench.h"
#include "tools/benches/bench_sip.h"
#include "tools/benches/node.h"

struct host {
	struct node node;
	struct media *media; /* owned */
	struct ua *ua; /* owned */
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
	struct host *host = owner;
	struct taken *taken = mem_new(sizeof(*taken));
	struct leg_env env = { .ua = host->ua, .media = host->media };
	struct leg_incoming incoming = { .session = session,
					 .offer = invite->offer };
	int status = leg_take(&taken->leg, &env, &incoming, &events, taken);

	if (!status)
		return 0;
	host->refused++;
	mem_free(taken);
	return status;
}

static int open_host(struct host *host)
{
	static const struct ua_events events = { .on_invite = on_invite };
	struct media_options media = {
		.loop = host->node.loop,
		.work = host->node.work,
		.port_min = 16384,
		.port_max = 32767,
		.codecs = { MEDIA_PCMU, MEDIA_PCMA },
		.n_codecs = 2,
		.timeout_ms = 30000,
	};
	struct ua_options ua = {
		.transport = { .loop = host->node.loop,
			       .tls = host->node.tls,
			       .public_address = "",
			       .user_agent = "Parley-bench" },
		.domain = "localhost",
		.max_sessions = 10000,
	};
	int err;

	addr_parse(&media.bind, SLICE("127.0.0.1"), 0);
	addr_parse(&ua.transport.listen.bind, SLICE("127.0.0.1"), 0);
	err = media_open(&host->media, &media);
	return err ? err : ua_open(&host->ua, &ua, &events, host);
}

/* Runs until it is told to end; calls still up then end with the process. */
int bench_sip_host(int argc, char **argv)
{
	struct host *host = mem_new(sizeof(*host));
	int err = node_open(&host->node, argv);

	(void)argc;
	if (!err)
		err = open_host(host);
	if (err) {
		fputs("sip-host: cannot start\n", stderr);
		return EXIT_FAILURE;
	}
	printf("ready: port %u\n", ua_port(host->ua));
	fflush(stdout);
	node_run(&host->node);
	printf("refused: %llu\n", (unsigned long long)host->refused);
	return EXIT_SUCCESS;
}
