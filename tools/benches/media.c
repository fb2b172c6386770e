/* SPDX-License-Identifier: MIT */
/* tools/benches/media.c - starts media-host or media-floor, agrees on each call
 * by SDP, is the far end of all, and measures the CPU time of the child. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/mem.h"
#include "tools/benches/bench.h"
#include "tools/benches/meter.h"
#include "tools/benches/peers.h"

struct generator {
	const char *role;
	char **argv;
	struct meter child;
	int channel; /* to the child */
	struct peers *peers; /* owned */
	size_t n_calls;
	uint64_t at_ns;
	uint64_t late_ns_max; /* of ourselves */
};

static int start_child(struct generator *gen)
{
	char calls[24];
	const char *record = bench_text(gen->argv, "--record", NULL);
	int pair[2];
	pid_t pid;

	snprintf(calls, sizeof(calls), "%zu", gen->n_calls);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		close(pair[0]);
		if (pair[1] != CHILD_FD)
			dup2(pair[1], CHILD_FD);
		execl("/proc/self/exe", "bench_parts", gen->role, "--calls",
		      calls, record ? "--record" : NULL, record, NULL);
		_exit(EXIT_FAILURE);
	}
	close(pair[1]);
	gen->channel = pair[0];
	return meter_open(&gen->child, pid);
}

static int open_call(struct generator *gen, size_t i)
{
	struct buffer text;
	int err;

	buffer_init(&text, CHILD_TEXT_MAX);
	err = peers_offer(gen->peers, i, &text);
	if (!err)
		err = child_send(gen->channel, buffer_slice(&text));
	if (!err)
		err = child_receive(gen->channel, &text);
	if (!err)
		err = peers_answered(gen->peers, i, buffer_slice(&text));
	buffer_reset(&text);
	return err;
}

static void run_seconds(struct generator *gen, uint64_t seconds)
{
	for (uint64_t i = 0; i < seconds * PEERS_TURNS_PER_S; i++) {
		uint64_t late;

		gen->at_ns += SLOT_NS;
		child_sleep_until(gen->at_ns);
		late = meter_now_ns() - gen->at_ns;
		if (late > gen->late_ns_max)
			gen->late_ns_max = late;
		peers_turn(gen->peers);
	}
}

static int finish(struct generator *gen, uint64_t rss_kb)
{
	struct peers_count count = peers_count(gen->peers);
	struct buffer text;
	int err, status;

	buffer_init(&text, CHILD_TEXT_MAX);
	kill(gen->child.pid, SIGTERM);
	err = child_receive(gen->channel, &text);
	waitpid(gen->child.pid, &status, 0);
	printf("{\"role\": \"%s\", \"calls\": %zu, "
	       "\"rss_kb_per_call\": %.1f, \"received\": %llu, "
	       "\"rejected\": %llu, \"rtcp_in\": %llu, \"rtcp_out\": %llu, "
	       "\"generator_late_us_max\": %llu%s%s}\n",
	       gen->role, gen->n_calls, (double)rss_kb / (double)gen->n_calls,
	       (unsigned long long)count.packets,
	       (unsigned long long)count.rejected,
	       (unsigned long long)count.rtcp_in,
	       (unsigned long long)count.rtcp_out,
	       (unsigned long long)gen->late_ns_max / 1000, err ? "" : ", ",
	       err ? "" : buffer_str(&text));
	buffer_reset(&text);
	return err;
}

static int run(struct generator *gen)
{
	uint64_t windows = bench_number(gen->argv, "--windows", 5);
	uint64_t seconds = bench_number(gen->argv, "--seconds", 3);
	uint64_t base_kb;
	struct buffer ready;
	int err = start_child(gen);

	buffer_init(&ready, CHILD_TEXT_MAX);
	if (!err)
		err = child_receive(gen->channel, &ready);
	buffer_reset(&ready);
	base_kb = meter_rss_kb(&gen->child);
	for (size_t i = 0; !err && i < gen->n_calls; i++)
		err = open_call(gen, i);
	if (err)
		return err;
	gen->at_ns = meter_now_ns();
	run_seconds(gen, bench_number(gen->argv, "--warm-up", 3));
	meter_begin(&gen->child, peers_count(gen->peers).packets);
	while (windows--) {
		run_seconds(gen, seconds);
		meter_end(&gen->child, peers_count(gen->peers).packets);
	}
	return finish(gen, meter_rss_kb(&gen->child) - base_kb);
}

int bench_media(int argc, char **argv)
{
	struct generator *gen = mem_new(sizeof(*gen));
	int err;

	(void)argc;
	gen->argv = argv;
	gen->role = bench_text(argv, "--role", "media-host");
	gen->n_calls = bench_number(argv, "--calls", 100);
	err = peers_open(&gen->peers, gen->n_calls, false);
	if (!err)
		err = run(gen);
	if (err)
		fprintf(stderr, "media: %s\n", strerror(-err));
	peers_close(&gen->peers);
	mem_free(gen);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
