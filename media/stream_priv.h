/* SPDX-License-Identifier: MIT */
/* media/stream_priv.h - the inside of a stream: stream.c opens, closes and
 * reports, stream_sdp.c agrees with the peer, stream_in.c receives,
 * stream_out.c sends, stream_rtcp.c reports to the peer. */
#pragma once
#include "media/dtmf.h"
#include "media/jitter.h"
#include "media/media_priv.h"
#include "media/negotiate.h"
#include "media/playout_priv.h"
#include "media/recorder.h"
#include "media/rtcp.h"
#include "media/rtp.h"
#include "media/source.h"
#include "media/srtp.h"
#include "media/stream.h"
#include "media/voice.h"

enum { STREAM_PENDING_DIGITS = 16, STREAM_PACKETS_AT_ONCE = 64 };

/* What has been said in SDP. */
struct stream_session {
	struct negotiated agreed; /* valid when started */
	bool is_started;
	uint8_t key[SRTP_KEY_BYTES]; /* ours */
	uint64_t id, version;
	struct buffer last; /* owned: our last description, as it was sent */
};

struct stream_in {
	struct srtp_context *key, *old_key; /* owned; old for 2 s */
	uint64_t old_until_us;
	bool is_connected; /* the socket takes from one address alone */
	uint64_t last_us; /* of the last authenticated packet, or the start */
	bool is_timed_out;
	bool is_held_up; /* our loop stood still: arrival times are wrong */
	uint64_t packets, auth_failures, replays;
	uint64_t voice_us; /* arrival of the last voiced frame */
	struct source source;
	struct voice voice;
	struct dtmf_receiver dtmf;
	uint8_t old_bytes[SRTP_KEY_BYTES];
	struct jitter jitter;
};

struct stream_out {
	struct srtp_context *key; /* owned */
	struct addr to, rtcp_to;
	uint32_t ssrc, timestamp;
	uint16_t seq;
	bool is_first; /* of a talk spurt: the marker bit */
	uint64_t packets, bytes;
	uint64_t voice_us; /* first voiced frame since in.voice_us, or 0 */
	struct dtmf_sender dtmf;
	size_t len; /* of payload */
	uint8_t payload[JITTER_PACKET_MAX]; /* of a packet over 20 ms */
};

struct stream_rtcp {
	uint64_t next_us;
	char cname[RTCP_CNAME_SIZE];
	uint32_t lsr; /* middle of their last SR's time */
	uint64_t lsr_us; /* when it came */
	double rtt_ms; /* < 0: not measured */
};

/* Told one at a time from a timer of 0 ms: the owner may close us in each. */
struct stream_pending {
	char digits[STREAM_PENDING_DIGITS];
	unsigned n_digits;
	bool timeout;
	bool recording_failed;
	char why[64];
};

/* Calls are many and the caches small: what every turn touches is close
 * together, at the start of each part. */
struct stream {
	struct media *media; /* borrowed: outlives us */
	const struct stream_events *events; /* borrowed */
	void *owner;
	struct port_pair ports; /* lent by media */
	struct pacer_entry entry;
	struct timer *timer; /* owned, posts what is pending */
	struct playout *playout; /* owned */
	struct recorder *recorder; /* owned; NULL: none */
	struct stream_rtcp rtcp;
	struct stream_session session;
	struct stream_out out;
	struct stream_in in;
	struct stream_pending pending;
};

/* Runs pending events soon. */
void stream_post(struct stream *stream);
void stream_on_turn(void *owner, const struct pacer_turn *turn);

/* Frees our last description, which holds our key. */
void stream_forget_sdp(struct stream *stream);

/* What may wait in the socket. */
void stream_receive(struct stream *stream, uint64_t now_us);
/* An authenticated packet came: the peer lives. */
void stream_alive(struct stream *stream, uint64_t now_us);
/* What is due with time: old keys, silent peers. */
void stream_in_watch(struct stream *stream, uint64_t now_us);
/* Takes from any address again. */
void stream_in_dissolve(struct stream *stream);

/* False: silence is sent; else frame holds what is. */
bool stream_send_turn(struct stream *stream, const struct pacer_turn *turn,
		      int16_t frame[STREAM_FRAME_SAMPLES]);
/* New key: new SSRC and sequence, as if another had begun to speak. */
void stream_out_start(struct stream *stream);

/* Starts listening and reporting. */
void stream_rtcp_start(struct stream *stream);
void stream_rtcp_watch(struct stream *stream, uint64_t now_us);
void stream_rtcp_bye(struct stream *stream);
