/* SPDX-License-Identifier: MIT */
/* media/media_priv.h - what the streams of one media object share. */
#pragma once
#include "media/codec.h"
#include "media/media.h"
#include "media/pacer.h"
#include "media/ports.h"

enum { MEDIA_PACKET_BYTES = 2048 };

struct media {
	struct media_options options; /* public_address is not kept */
	struct addr announced; /* port 0 */
	struct pacer *pacer; /* owned */
	struct ports *ports; /* owned */
	struct g711 g711;
	int64_t wall_minus_now_us; /* NTP times count on the loop's clock */
	struct media_stats stats; /* the counters alone */
	uint32_t packet[MEDIA_PACKET_BYTES / 4]; /* scratch, aligned for SRTP */
};
