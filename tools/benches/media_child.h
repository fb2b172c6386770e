/* SPDX-License-Identifier: MIT */
/* tools/benches/media_child.h - what media host, media floor and the generator
 * share: SDP in frames over a socket pair (child: descriptor 3), and what one
 * side of a call needs to know of the other. */
#pragma once
#include <stdint.h>
#include "core/addr.h"
#include "core/buffer.h"
#include "media/srtp.h"

enum {
	CHILD_FD = 3,
	CHILD_TEXT_MAX = 4096,
	RTP_HEADER = 12,
	PAYLOAD = 160, /* 20 ms of PCMU */
	PACKET_MAX = 512,
	SLOTS = 4,
	SLOT_NS = 5 * 1000 * 1000
};

/* A length and the text. 0, or -EPIPE when the other side is gone. */
int child_send(int fd, struct slice text);
int child_receive(int fd, struct buffer *text);

struct far_side {
	struct addr rtp, rtcp;
	uint8_t key[SRTP_KEY_BYTES]; /* it sends with this */
};
/* 0 or -EINVAL. */
int far_side_parse(struct far_side *out, struct slice sdp);
/* One PCMU call on loopback; rtcp_port 0: the one above. */
void far_side_write(struct buffer *out, uint16_t port, uint16_t rtcp_port,
		    const uint8_t key[SRTP_KEY_BYTES]);

/* Sleeps until the slot that starts at at_ns. */
void child_sleep_until(uint64_t at_ns);
/* A UDP socket of 127.0.0.1 on any port. Negative errno. */
int child_socket(uint16_t *port);
/* n samples like a voice: harmonics in syllables, with pauses. */
void child_voice(int16_t *out, size_t n);
