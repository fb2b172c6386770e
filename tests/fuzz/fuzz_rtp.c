/* SPDX-License-Identifier: MIT */
/* A decrypted datagram from the network: as RTP with its payload as audio and
 * as a telephone event, and as RTCP. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "media/dtmf.h"
#include "media/jitter.h"
#include "media/rtcp.h"
#include "media/rtp.h"
#include "media/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void play(const struct rtp_header *header, struct slice payload)
{
	static struct jitter jitter;
	static struct source source;
	static uint64_t now_us;
	int16_t samples[JITTER_PACKET_MAX] = { 0 }, out[JITTER_FRAME];
	struct jitter_packet packet = { .timestamp = header->timestamp,
					.starts_spurt = header->marker,
					.samples = samples,
					.n = payload.len,
					.arrived_us = now_us };
	uint64_t arrived_us;

	if (now_us == 0)
		jitter_init(&jitter);
	now_us += 1000 + header->seq;
	source_add(&source, header->seq, header->timestamp, now_us);
	source_lost(&source);
	source_fraction(&source);
	if (packet.n <= JITTER_PACKET_MAX)
		jitter_put(&jitter, &packet);
	jitter_get(&jitter, out, &arrived_us, now_us);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct dtmf_receiver receiver;
	struct rtp_header header;
	struct rtcp_report report;
	struct slice payload;
	uint8_t *copy = malloc(size + !size);

	memcpy(copy, data, size);
	if (rtp_parse(&header, &payload, slice_make(copy, size)) == 0) {
		assert((const uint8_t *)payload.ptr + payload.len <=
		       copy + size);
		dtmf_receive(&receiver, header.timestamp, payload);
		play(&header, payload);
	}
	rtcp_parse(&report, slice_make(copy, size), 0x55667788);
	free(copy);
	return 0;
}
