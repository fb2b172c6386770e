/* SPDX-License-Identifier: MIT */
/* media/media.h - what all streams of the process share: the pacer with its
 * 5 ms slots on the loop's monotonic clock, the port pool, SRTP, and the disk
 * thread for recordings. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/addr.h"

struct loop;
struct media;
struct work;

enum media_codec { MEDIA_PCMU, MEDIA_PCMA, MEDIA_CODECS };

struct media_options {
	struct loop *loop; /* borrowed: outlives us */
	struct work *work; /* borrowed: outlives us */
	struct addr bind; /* port ignored */
	const char *public_address; /* announced; NULL: that of bind */
	uint16_t port_min, port_max; /* RTP even, RTCP the odd one above */
	enum media_codec codecs[MEDIA_CODECS]; /* in order of preference */
	size_t n_codecs;
	uint32_t timeout_ms; /* without an authenticated packet */
};

/* -EINVAL: ports outside 16384 to 32768 or an empty codec list. */
int media_open(struct media **out, const struct media_options *options);
void media_close(struct media **media); /* streams must have been closed */

struct media_stats {
	unsigned streams;
	unsigned ports_free, ports_used;
	uint64_t packets_in, packets_out, bytes_in, bytes_out;
	uint64_t auth_failures, replays; /* dropped, nothing moved */
	uint64_t late_slots; /* frames skipped after a stall */
	uint64_t slot_late_us_max;
};
void media_stats(const struct media *media, struct media_stats *out);
