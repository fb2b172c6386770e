/* SPDX-License-Identifier: MIT */
/* tools/benches/peers.h - the far ends of many SRTP calls: each sends 50
 * protected PCMU packets a second and a report every 5 s, and opens every
 * packet that comes back. One clock of 5 ms slots, a quarter of the calls in
 * each. */
#pragma once
#include <stdbool.h>
#include "tools/benches/media_child.h"

enum { PEERS_TURNS_PER_S = 200 };

struct peer;
struct peers;

/* is_silent: the line's noise alone; else they talk. */
int peers_open(struct peers **out, size_t n, bool is_silent);
void peers_close(struct peers **peers);
/* What call i offers, and what was answered. 0 or negative errno. */
int peers_offer(struct peers *peers, size_t i, struct buffer *sdp);
int peers_answered(struct peers *peers, size_t i, struct slice sdp);
/* One slot, whenever it is called. */
void peers_turn(struct peers *peers);

struct peers_count {
	uint64_t packets; /* authenticated */
	uint64_t rejected;
	uint64_t rtcp_in, rtcp_out;
};
struct peers_count peers_count(const struct peers *peers);
