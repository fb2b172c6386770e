/* SPDX-License-Identifier: MIT */
/* media/rtp.h - RTP headers (RFC 3550, 5.1) with every length checked. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/slice.h"

enum { RTP_HEADER_BYTES = 12 };

struct rtp_header {
	uint8_t pt;
	bool marker;
	uint16_t seq;
	uint32_t timestamp;
	uint32_t ssrc;
};

/* payload is what remains without CSRCs, extension and padding, and borrows
 * from packet. -EBADMSG: not RTP, or a length inside points outside. */
int rtp_parse(struct rtp_header *out, struct slice *payload,
	      struct slice packet);
void rtp_write(uint8_t out[RTP_HEADER_BYTES], const struct rtp_header *header);
