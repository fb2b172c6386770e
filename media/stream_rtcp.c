/* SPDX-License-Identifier: MIT */
/* Reports to and from the peer (RFC 3550, 6), always as SRTCP. */
#include "media/stream_priv.h"
#include "core/id.h"
#include "core/loop.h"

enum { LEAST_US = 2500 * 1000, SPREAD_US = 5000 * 1000 };

static uint64_t ntp_at(const struct stream *stream, uint64_t now_us)
{
	return rtcp_ntp((int64_t)now_us + stream->media->wall_minus_now_us);
}

static struct rtcp_block about_them(struct stream *stream, uint64_t now_us)
{
	struct source *source = &stream->in.source;
	const struct stream_rtcp *rtcp = &stream->rtcp;
	uint64_t since_us = now_us - rtcp->lsr_us;

	return (struct rtcp_block){
		.ssrc = source->ssrc,
		.fraction = source_fraction(source),
		.lost = (int32_t)source_lost(source),
		.highest = source->highest - 0x10000u,
		.jitter = (uint32_t)source->jitter,
		.lsr = rtcp->lsr,
		.dlsr = rtcp->lsr ? (uint32_t)(since_us * 65536 / 1000000) : 0,
	};
}

static void send_report(struct stream *stream, uint64_t now_us, bool is_bye)
{
	const struct stream_out *out = &stream->out;
	struct rtcp_report report = { .ssrc = out->ssrc,
				      .is_sender = out->packets > 0,
				      .ntp = ntp_at(stream, now_us),
				      .timestamp = out->timestamp,
				      .packets = (uint32_t)out->packets,
				      .bytes = (uint32_t)out->bytes,
				      .is_bye = is_bye };
	uint8_t *packet = (uint8_t *)stream->media->packet;
	size_t len;

	if (stream->in.source.is_started) {
		report.has_block = true;
		report.block = about_them(stream, now_us);
	}
	len = rtcp_write(packet, &report, stream->rtcp.cname);
	if (srtp_seal_rtcp(stream->out.key, packet, &len) == 0)
		udp_send(stream->ports.rtcp, slice_make(packet, len),
			 &out->rtcp_to);
}

static void take_report(struct stream *stream, const struct rtcp_report *report,
			uint64_t now_us)
{
	struct stream_rtcp *rtcp = &stream->rtcp;
	double rtt_ms;

	if (report->is_sender) {
		rtcp->lsr = (uint32_t)(report->ntp >> 16);
		rtcp->lsr_us = now_us;
	}
	if (!report->has_block)
		return;
	rtt_ms = rtcp_rtt_ms(&report->block, ntp_at(stream, now_us));
	if (rtt_ms >= 0)
		rtcp->rtt_ms = rtt_ms;
}

static void on_packet(struct stream *stream, size_t len,
		      const struct addr *from)
{
	uint64_t now_us = loop_now_us(stream->media->options.loop);
	void *packet = stream->media->packet;
	struct rtcp_report report;
	int err = srtp_unseal_rtcp(stream->in.key, packet, &len);

	if (err) {
		if (!stream->in.old_key ||
		    srtp_unseal_rtcp(stream->in.old_key, packet, &len))
			stream->in.auth_failures++;
		return;
	}
	if (rtcp_parse(&report, slice_make(packet, len), stream->out.ssrc))
		return;
	stream->out.rtcp_to = *from;
	stream_alive(stream, now_us);
	take_report(stream, &report, now_us);
}

static void on_ready(void *owner)
{
	struct stream *stream = owner;
	struct addr from;

	for (unsigned i = 0; i < STREAM_PACKETS_AT_ONCE; i++) {
		ssize_t n = udp_recv(stream->ports.rtcp, stream->media->packet,
				     MEDIA_PACKET_BYTES, &from);

		if (n < 0)
			return;
		on_packet(stream, (size_t)n, &from);
	}
}

static void plan(struct stream *stream, uint64_t now_us)
{
	stream->rtcp.next_us = now_us + LEAST_US + id_random(SPREAD_US);
}

void stream_rtcp_start(struct stream *stream)
{
	plan(stream, loop_now_us(stream->media->options.loop));
	udp_watch(stream->ports.rtcp, on_ready, stream);
}

void stream_rtcp_watch(struct stream *stream, uint64_t now_us)
{
	if (now_us < stream->rtcp.next_us)
		return;
	plan(stream, now_us);
	send_report(stream, now_us, false);
}

void stream_rtcp_bye(struct stream *stream)
{
	send_report(stream, loop_now_us(stream->media->options.loop), true);
}
