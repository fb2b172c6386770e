/* SPDX-License-Identifier: MIT */
/* Two streams of one simulated loop, each with an end that notes what it is
 * told, and a relay between them that can lose, repeat, delay and forge. */
#pragma once
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "core/buffer.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/sim.h"
#include "core/udp.h"
#include "core/work.h"
#include "media/playout.h"
#include "media/stream.h"

enum { FIXTURE_HEARD_MAX = 8000 * 60 };

struct end {
	struct stream *stream;
	char digits[64];
	size_t n_digits;
	unsigned frames, voiced, timeouts, failures;
	unsigned started, drained;
	char why[64];
	size_t n_heard;
	bool closes_in_frame, closes_in_digit;
	struct loop *loop; /* borrowed */
	unsigned stall_ms; /* the loop stands still once, in on_frame */
	int16_t heard[FIXTURE_HEARD_MAX];
};

struct fixture {
	struct loop *loop;
	struct work *work;
	struct media *media;
	struct end *a, *b; /* a offers */
};

struct relay;

/* What becomes of a datagram: sent on as many times as returned; it may be
 * changed in place. */
typedef unsigned relay_fn(void *arg, bool to_b, uint8_t *packet, size_t *len);

int fixture_setup(void **state);
int fixture_teardown(void **state);
struct media_options fixture_options(const struct fixture *fixture);
void end_open(struct fixture *fixture, struct end *end);
/* to takes the other's offer, with edit replaced by with if it is given. */
int fixture_agree(struct end *from, struct end *to, const char *edit,
		  const char *with);
/* Opens both and lets them agree. */
void fixture_join(struct fixture *fixture);
/* As fixture_join(), but RTP goes through a relay. */
struct relay *fixture_join_by_relay(struct fixture *fixture, relay_fn *fn,
				    void *arg);
void relay_close(struct relay **relay);
/* A tone at the given frequency, as long as a second; peak 8000. */
void fixture_tone(int16_t *out, size_t n, double hz);
/* Best normalized correlation of sent with any place in heard; 1: the same. */
double fixture_correlation(const int16_t *heard, size_t n_heard,
			   const int16_t *sent, size_t n_sent);
/* Speech-like: noise shaped by a random walk of pitch and level. */
void fixture_speech(int16_t *out, size_t n, unsigned seed);
struct stream_report fixture_report(const struct end *end);
