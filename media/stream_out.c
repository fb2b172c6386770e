/* SPDX-License-Identifier: MIT */
/* Sending: a frame every 20 ms, speech or silence, from the answer to the end
 * but for hold. */
#include "media/stream_priv.h"
#include <stdlib.h>
#include <string.h>
#include "core/id.h"

enum {
	FRAME = STREAM_FRAME_SAMPLES,
	HALF = FRAME / 2,
	SEQ_FIRST_MAX = 32768, /* roll-over guessing near 65535 breaks peers */
	LOUD = 120, /* mean magnitude of a frame that somebody hears */
};

void stream_out_start(struct stream *stream)
{
	struct stream_out *out = &stream->out;

	srtp_context_close(&out->key);
	srtp_context_open(&out->key, stream->session.key, SRTP_SEND);
	id_bytes(&out->ssrc, sizeof(out->ssrc));
	id_bytes(&out->timestamp, sizeof(out->timestamp));
	out->seq = (uint16_t)id_random(SEQ_FIRST_MAX);
	out->is_first = true;
	out->len = 0;
}

static void emit(struct stream *stream, const struct rtp_header *header,
		 struct slice payload)
{
	struct stream_out *out = &stream->out;
	uint8_t *packet = (uint8_t *)stream->media->packet;
	size_t len = RTP_HEADER_BYTES + payload.len;

	rtp_write(packet, header);
	memcpy(packet + RTP_HEADER_BYTES, payload.ptr, payload.len);
	if (srtp_seal(out->key, packet, &len))
		return;
	udp_send(stream->ports.rtp, slice_make(packet, len),
		 stream->in.is_connected ? NULL : &out->to);
	out->packets++;
	out->bytes += payload.len;
	stream->media->stats.packets_out++;
	stream->media->stats.bytes_out += len;
}

static void emit_audio(struct stream *stream, uint32_t timestamp,
		       struct slice payload)
{
	const struct negotiated *agreed = &stream->session.agreed;
	struct stream_out *out = &stream->out;
	struct rtp_header header = { .pt = agreed->pts[agreed->codec],
				     .marker = out->is_first,
				     .seq = out->seq++,
				     .timestamp = timestamp,
				     .ssrc = out->ssrc };

	out->is_first = false;
	emit(stream, &header, payload);
}

/* What has been gathered, though the packet is not full. timestamp is that of
 * the first sample not gathered. */
static void flush(struct stream *stream, uint32_t timestamp)
{
	struct stream_out *out = &stream->out;

	if (out->len)
		emit_audio(stream, timestamp - (uint32_t)out->len,
			   slice_make(out->payload, out->len));
	out->len = 0;
}

/* A packet of 20 ms or two of 10, or a part of a longer one. */
static void send_codes(struct stream *stream, const uint8_t codes[FRAME])
{
	const struct negotiated *agreed = &stream->session.agreed;
	struct stream_out *out = &stream->out;

	if (agreed->packet_ms > 20) {
		memcpy(out->payload + out->len, codes, FRAME);
		out->len += FRAME;
		if (out->len >= agreed->packet_ms * 8u)
			flush(stream, out->timestamp + FRAME);
		return;
	}
	flush(stream, out->timestamp);
	if (agreed->packet_ms == 20) {
		emit_audio(stream, out->timestamp, slice_make(codes, FRAME));
		return;
	}
	emit_audio(stream, out->timestamp, slice_make(codes, HALF));
	emit_audio(stream, out->timestamp + HALF,
		   slice_make(codes + HALF, HALF));
}

static bool is_loud(const int16_t frame[FRAME])
{
	int sum = 0;

	for (int i = 0; i < FRAME; i++)
		sum += abs(frame[i]);
	return sum >= LOUD * FRAME;
}

static bool send_audio(struct stream *stream, uint64_t now_us,
		       int16_t frame[FRAME])
{
	const struct codec *codec = codec_get(stream->session.agreed.codec);
	bool says = playout_take(stream->playout, frame);
	uint8_t codes[FRAME];

	if (says)
		codec->encode(&stream->media->g711, codes, frame, FRAME);
	else
		memset(codes, codec->silence, FRAME);
	if (says && stream->in.voice_us && !stream->out.voice_us &&
	    is_loud(frame))
		stream->out.voice_us = now_us;
	send_codes(stream, codes);
	return says;
}

/* While keys are sent the speech waits: its place is kept. */
static void send_digit(struct stream *stream)
{
	struct stream_out *out = &stream->out;
	struct rtp_header header = { .pt = stream->session.agreed.dtmf_pt,
				     .ssrc = out->ssrc };
	struct dtmf_turn turn;
	uint8_t silence[FRAME];

	flush(stream, out->timestamp);
	dtmf_next(&out->dtmf, &turn, out->timestamp);
	if (!turn.is_event) {
		memset(silence,
		       codec_get(stream->session.agreed.codec)->silence, FRAME);
		emit_audio(stream, out->timestamp, slice_make(silence, FRAME));
		return;
	}
	header.marker = turn.is_first;
	header.seq = out->seq++;
	header.timestamp = turn.timestamp;
	emit(stream, &header, slice_make(turn.payload, sizeof(turn.payload)));
}

bool stream_send_turn(struct stream *stream, const struct pacer_turn *turn,
		      int16_t frame[FRAME])
{
	struct stream_out *out = &stream->out;
	bool says = false;

	if (turn->skipped)
		flush(stream, out->timestamp);
	out->timestamp += turn->skipped * FRAME;
	if (!stream->session.agreed.may_send) {
		out->is_first = true;
		out->len = 0;
	} else if (dtmf_is_busy(&out->dtmf) &&
		   stream->session.agreed.dtmf_pt != NEGOTIATE_NO_PT) {
		send_digit(stream);
	} else {
		says = send_audio(stream, turn->now_us, frame);
	}
	out->timestamp += FRAME;
	return says;
}
