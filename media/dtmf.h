/* SPDX-License-Identifier: MIT */
/* media/dtmf.h - key presses as telephone events (RFC 4733). Received: one
 * press per event timestamp, whichever of its packets are lost, doubled or
 * late. Sent: 100 ms of tone, the end three times, 60 ms of gap. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/slice.h"

enum { DTMF_EVENT_BYTES = 4, DTMF_QUEUE = 64 };

struct dtmf_receiver {
	bool has_last;
	uint32_t timestamp; /* of the last event seen */
	uint8_t event;
	uint16_t duration;
};

/* The key of a new press, or 0. Zeroed memory is a fresh receiver. */
char dtmf_receive(struct dtmf_receiver *receiver, uint32_t timestamp,
		  struct slice payload);

struct dtmf_sender {
	char queue[DTMF_QUEUE]; /* keys, and 'w' for 500 ms */
	unsigned first, n;
	unsigned step; /* turns of 20 ms into the first of the queue */
	uint32_t timestamp; /* of the event under way */
};

/* What one turn of 20 ms sends. */
struct dtmf_turn {
	bool is_event; /* else silence: a gap or a pause */
	bool is_first; /* the marker bit */
	uint32_t timestamp;
	uint8_t payload[DTMF_EVENT_BYTES];
};

/* -EINVAL: a character that is no key; -ENOBUFS: too many wait. */
int dtmf_queue(struct dtmf_sender *sender, const char *keys);
bool dtmf_is_busy(const struct dtmf_sender *sender);
/* now is the stream's timestamp at this turn; the sender must be busy. */
void dtmf_next(struct dtmf_sender *sender, struct dtmf_turn *out, uint32_t now);
