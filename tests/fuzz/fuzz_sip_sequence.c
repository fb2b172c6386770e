/* SPDX-License-Identifier: MIT */
/* What a peer and owners may do to running user agents, step by step
 * (tests/unit/sip/fixture_chaos.h): the bytes choose the steps. TLS is left
 * out, for speed: the functions of core/tls.h below take its place, on the same
 * simulated network. Nothing may crash, leak or stay behind after an input.
 *
 * SEQUENCE_STEPS=N fuzz_sip_sequence: N random steps instead, without
 * libFuzzer, and how fast they went; SEQUENCE_SEED=N chooses others. Seeds:
 * corpus/sip_sequence. */
#include "tests/unit/sip/fixture_chaos.h"
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "core/mem.h"
#include "core/tcp.h"
#include "core/tls.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS_A_ROUND = 400, ROUNDS_A_WORLD = 500 };

/* ---- core/tls.h without TLS ---- */

struct tls {
	struct loop *loop;
};

int tls_open(struct tls **out, const struct tls_options *options,
	     struct buffer *why)
{
	*out = mem_new(sizeof(**out));
	(*out)->loop = options->loop;
	return 0;
}

void tls_close(struct tls **tls)
{
	mem_free(*tls);
	*tls = NULL;
}

int tls_reload(struct tls *tls, struct buffer *why)
{
	return 0;
}

unsigned tls_generation(const struct tls *tls)
{
	return 1;
}

int tls_connect(struct link **out, struct tls *tls,
		const struct tls_target *target,
		const struct link_events *events, void *owner)
{
	return tcp_connect(out, tls->loop, &target->addr, events, owner);
}

int tls_listen(struct listener **out, struct tls *tls,
	       const struct listen_options *options,
	       listener_accept_fn *on_accept, void *owner)
{
	return tcp_listen(out, tls->loop, options, on_accept, owner);
}

int tls_identity_open(struct tls_identity **out, struct slice certificate,
		      struct slice key, struct buffer *why)
{
	return -1;
}

struct tls_identity *tls_identity_hold(struct tls_identity *identity)
{
	return identity;
}

void tls_identity_close(struct tls_identity **identity)
{
	*identity = NULL;
}

/* ---- the same numbers for the same input ---- */

static uint64_t random_state;

static const char *random_name(void)
{
	return "sequence";
}

static uint32_t random_next(void) /* splitmix64 */
{
	uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)(z >> 32);
}

static void random_bytes(void *const out, const size_t size)
{
	for (size_t i = 0; i < size; i++)
		((uint8_t *)out)[i] = (uint8_t)random_next();
}

static struct randombytes_implementation numbers = {
	.implementation_name = random_name,
	.random = random_next,
	.buf = random_bytes,
};

/* ---- worlds: one serves many inputs ---- */

static struct world *world;
static unsigned rounds;

static void round_open(struct chaos *chaos, struct slice bytes, uint32_t seed)
{
	void *state = world;

	if (world && rounds++ % ROUNDS_A_WORLD == 0) {
		world_teardown(&state);
		world = NULL;
	}
	if (!world) {
		world_setup(&state);
		world = state;
	}
	random_state = seed;
	chaos_open(chaos, world, bytes, seed);
}

static void close_world(void)
{
	void *state = world;

	if (world)
		world_teardown(&state);
	world = NULL;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void run_steps(uint64_t n, uint32_t seed)
{
	double start_s = now_s();
	struct chaos chaos;
	uint64_t done = 0;

	while (done < n) {
		seed = seed * 1664525u + 1013904223u;
		round_open(&chaos, (struct slice){ 0 }, seed | 1);
		for (int i = 0; i < STEPS_A_ROUND; i++)
			chaos_step(&chaos);
		chaos_close(&chaos);
		done += STEPS_A_ROUND;
		if (done % (1000 * STEPS_A_ROUND) == 0)
			fprintf(stderr, "%llu steps, %.0f a second\n",
				(unsigned long long)done,
				(double)done / (now_s() - start_s));
	}
	fprintf(stderr, "%llu steps done, %.0f a second\n",
		(unsigned long long)done, (double)done / (now_s() - start_s));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *steps = getenv("SEQUENCE_STEPS");
	const char *seed = getenv("SEQUENCE_SEED");

	randombytes_set_implementation(&numbers);
	atexit(close_world);
	if (!steps)
		return 0;
	run_steps(strtoull(steps, NULL, 10),
		  seed ? (uint32_t)strtoul(seed, NULL, 10) : 1);
	exit(0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct chaos chaos;

	round_open(&chaos, slice_make(data, size), 1);
	while (chaos_has_more(&chaos))
		chaos_step(&chaos);
	chaos_close(&chaos);
	return 0;
}
