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

static void send_halves(struct stream *stream)
{
	struct stream_out *out = &stream->out;

	emit_audio(stream, out->timestamp, slice_make(out->payload, HALF));
	emit_audio(stream, out->timestamp + HALF,
		   slice_make(out->payload + HALF, HALF));
	out->len = 0;
}

static bool is_loud(const int16_t frame[FRAME])
{
	int sum = 0;

	for (int i = 0; i < FRAME; i++)
		sum += abs(frame[i]);
	return sum >= LOUD * FRAME;
}

static void note_voice(struct stream *stream, uint64_t now_us)
{
	if (stream->in.voice_us && !stream->out.voice_us &&
	    is_loud(stream->out.frame))
		stream->out.voice_us = now_us;
}

static void send_audio(struct stream *stream, uint64_t now_us)
{
	const struct negotiated *agreed = &stream->session.agreed;
	const struct codec *codec = codec_get(agreed->codec);
	struct stream_out *out = &stream->out;
	uint8_t *at = out->payload + out->len;

	out->has_frame = playout_take(stream->playout, out->frame);
	if (out->has_frame) {
		codec->encode(&stream->media->g711, at, out->frame, FRAME);
		note_voice(stream, now_us);
	} else {
		memset(at, codec->silence, FRAME);
	}
	out->len += FRAME;
	if (agreed->packet_ms == 10)
		send_halves(stream);
	else if (out->len >= agreed->packet_ms * 8u)
		flush(stream, out->timestamp + FRAME);
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

void stream_send_turn(struct stream *stream, const struct pacer_turn *turn)
{
	struct stream_out *out = &stream->out;

	out->has_frame = false;
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
		send_audio(stream, turn->now_us);
	}
	out->timestamp += FRAME;
}
