/* SPDX-License-Identifier: MIT */
/* media/ports.h - pairs of UDP ports, RTP even and RTCP the odd one above. A
 * pair that was given back goes to the end of the queue and so rests as long
 * as the load allows; the order at the start is random. */
#pragma once
#include <stdint.h>
#include "core/udp.h"

struct loop;
struct ports;

struct port_pair {
	struct udp *rtp, *rtcp; /* owned */
};

enum {
	PORTS_RESERVE = 64, /* free pairs below which none is lent, */
	PORTS_LARGE = 256, /* unless the whole range is smaller than this */
};

/* -EINVAL: outside 16384 to 32768, or no pair fits. */
int ports_open(struct ports **out, uint16_t min, uint16_t max);
void ports_close(struct ports **ports); /* all pairs must be back */
/* Binds the longest rested pair of bind's address; one that something else
 * holds is put back and the next is tried. -EAGAIN: none; another error is
 * for no port of ours to mend (-EMFILE, -EADDRNOTAVAIL). */
int ports_take(struct ports *ports, struct port_pair *out, struct loop *loop,
	       const struct addr *bind);
void ports_give(struct ports *ports, struct port_pair *pair); /* closes */
unsigned ports_free(const struct ports *ports);
unsigned ports_used(const struct ports *ports);
