/* SPDX-License-Identifier: MIT */
/* Receiving: only a packet that authenticated changes anything but counters. */
#include "media/stream_priv.h"
#include <errno.h>
#include "core/log.h"

enum { QUIET_US = 1000 * 1000, PROBE_PACKETS = 32 };

void stream_in_dissolve(struct stream *stream)
{
	if (stream->in.is_connected)
		udp_connect(stream->ports.rtp, NULL);
	stream->in.is_connected = false;
}

/* The peer may stand behind a NAT: it is where its newest packet came from, and
 * from then on the kernel lets nobody else in. */
static void adopt(struct stream *stream, const struct addr *from)
{
	char text[ADDR_TEXT_SIZE];

	if (!addr_is_same(from, &stream->out.to))
		log_debug("stream", NULL, "peer is at %s",
			  addr_text(from, text));
	stream->out.to = *from;
	stream->in.is_connected = udp_connect(stream->ports.rtp, from) == 0;
}

static int unseal(struct stream_in *in, void *packet, size_t *len, bool *is_old)
{
	int err = srtp_unseal(in->key, packet, len);

	*is_old = false;
	if (err == -EBADMSG && in->old_key) {
		*is_old = true;
		err = srtp_unseal(in->old_key, packet, len);
	}
	return err;
}

static void count_refused(struct stream *stream, int err)
{
	struct media_stats *stats = &stream->media->stats;

	if (err == -EALREADY) {
		stream->in.replays++;
		stats->replays++;
	} else {
		stream->in.auth_failures++;
		stats->auth_failures++;
	}
}

static void take_digit(struct stream *stream, const struct rtp_header *header,
		       struct slice payload)
{
	struct stream_pending *pending = &stream->pending;
	char digit = dtmf_receive(&stream->in.dtmf, header->timestamp, payload);

	if (!digit || pending->n_digits == STREAM_PENDING_DIGITS)
		return;
	pending->digits[pending->n_digits++] = digit;
	stream_post(stream);
}

static void take_audio(struct stream *stream, enum media_codec codec,
		       const struct rtp_header *header, struct slice payload)
{
	int16_t samples[JITTER_PACKET_MAX];
	struct jitter_packet packet = {
		.timestamp = header->timestamp,
		.starts_spurt = header->marker,
		.samples = samples,
		.n = payload.len,
		.arrived_us = stream->in.last_us,
		.is_held_up = stream->in.is_held_up,
	};

	if (packet.n > JITTER_PACKET_MAX)
		return;
	codec_get(codec)->decode(&stream->media->g711, samples,
				 (const uint8_t *)payload.ptr, packet.n);
	jitter_put(&stream->in.jitter, &packet);
}

/* On hold the peer may play music: nobody here is to hear it. */
static void take_payload(struct stream *stream, const struct rtp_header *header,
			 struct slice payload)
{
	const struct negotiated *agreed = &stream->session.agreed;

	if (!agreed->may_send)
		return;
	if (header->pt == agreed->dtmf_pt) {
		take_digit(stream, header, payload);
		return;
	}
	for (unsigned codec = 0; codec < MEDIA_CODECS; codec++)
		if (header->pt == agreed->pts[codec])
			take_audio(stream, (enum media_codec)codec, header,
				   payload);
}

static void change_source(struct stream *stream, uint32_t ssrc)
{
	source_restart(&stream->in.source, ssrc);
	jitter_restart(&stream->in.jitter);
	stream->in.dtmf = (struct dtmf_receiver){ .has_last = false };
}

void stream_alive(struct stream *stream, uint64_t now_us)
{
	stream->in.last_us = now_us;
	stream->in.is_timed_out = false;
}

/* A straggler under the old key says nothing about who sends now. */
static void on_packet(struct stream *stream, size_t len,
		      const struct addr *from, uint64_t now_us)
{
	struct stream_in *in = &stream->in;
	void *packet = stream->media->packet;
	struct rtp_header header;
	struct slice payload;
	bool is_old, is_newest;
	int err = unseal(in, packet, &len, &is_old);

	if (err) {
		count_refused(stream, err);
		return;
	}
	if (rtp_parse(&header, &payload, slice_make(packet, len)))
		return;
	if (header.ssrc != in->source.ssrc || !in->source.is_started) {
		if (is_old && in->source.is_started)
			return;
		change_source(stream, header.ssrc);
	}
	in->packets++;
	stream->media->stats.packets_in++;
	stream->media->stats.bytes_in += len;
	stream_alive(stream, now_us);
	is_newest =
		source_add(&in->source, header.seq, header.timestamp, now_us);
	if (!in->is_connected && is_newest && !is_old)
		adopt(stream, from);
	take_payload(stream, &header, payload);
}

/* Looking into an empty socket costs a fifth of a packet, so it is done when a
 * packet may have come; and at times for one that is faster than all before. */
static bool is_expecting(const struct stream_in *in, uint64_t now_us)
{
	return in->packets % PROBE_PACKETS == 0 ||
	       jitter_is_due(&in->jitter, now_us);
}

void stream_receive(struct stream *stream, uint64_t now_us)
{
	struct stream_in *in = &stream->in;
	struct addr from;

	for (unsigned i = 0;
	     i < STREAM_PACKETS_AT_ONCE && is_expecting(in, now_us); i++) {
		ssize_t n = udp_recv(stream->ports.rtp, stream->media->packet,
				     MEDIA_PACKET_BYTES,
				     in->is_connected ? NULL : &from);

		if (n < 0)
			return;
		on_packet(stream, (size_t)n, &from, now_us);
	}
}

static bool is_overdue(const struct stream *stream, uint64_t now_us)
{
	const struct negotiated *agreed = &stream->session.agreed;
	uint64_t limit_us = stream->media->options.timeout_ms * 1000ULL;

	return limit_us && agreed->may_send && agreed->may_receive &&
	       now_us - stream->in.last_us >= limit_us;
}

void stream_in_watch(struct stream *stream, uint64_t now_us)
{
	struct stream_in *in = &stream->in;

	if (in->old_key && now_us >= in->old_until_us)
		srtp_context_close(&in->old_key);
	if (in->is_connected && now_us - in->last_us >= QUIET_US)
		stream_in_dissolve(stream);
	if (!in->is_timed_out && is_overdue(stream, now_us)) {
		in->is_timed_out = true;
		stream->pending.timeout = true;
		stream_post(stream);
	}
}
