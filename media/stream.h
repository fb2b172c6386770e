/* SPDX-License-Identifier: MIT */
/* media/stream.h - the media session of one leg: SDP in and out, SRTP only
 * (RFC 4568, 3711), decoded frames up, speech down, a recording beside. Audio
 * at this seam is 16-bit mono at 8 kHz in frames of 160 samples (20 ms). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/buffer.h"
#include "media/media.h"

struct playout;
struct stream;

enum { STREAM_RATE_HZ = 8000, STREAM_FRAME_SAMPLES = 160 };

struct stream_events {
	/* Every 20 ms while media flows: the far end's frame out of the jitter
	 * buffer, concealed where it was lost; is_voice by voice activity
	 * (hysteresis: 60 ms to start, 200 ms to stop). */
	void (*on_frame)(void *owner, const int16_t *samples, bool is_voice);
	/* One key press (RFC 4733): 0-9 * # A-D, however many packets. */
	void (*on_digit)(void *owner, char digit);
	/* No authenticated packet for timeout_ms while not on hold; once. */
	void (*on_timeout)(void *owner);
	/* The recording could not be written on: the audio goes on. */
	void (*on_recording_failed)(void *owner, const char *why);
};

/* Takes a port pair. -EAGAIN: none is free (answer 503). */
int stream_open(struct stream **out, struct media *media,
		const struct stream_events *events, void *owner);
void stream_close(struct stream **stream); /* RTCP BYE, port rests */

/* Our offer, or our unchanged or held session again (version counts up when
 * anything changed). */
void stream_offer(struct stream *stream, struct buffer *sdp);
/* The answer to stream_offer(): media starts. -EINVAL: not SDP;
 * -ENOTSUP: no secure audio we can do (SIP 488): nothing changes. */
int stream_take_answer(struct stream *stream, struct slice sdp);
/* The peer's offer, also in a re-INVITE: writes our answer and starts or
 * changes media. Same errors; then nothing has changed. */
int stream_take_offer(struct stream *stream, struct slice sdp,
		      struct buffer *answer);

/* The call of from goes on over to: what is still to be said, the recording
 * and the time of the last voice go along, so that what from's playout was is
 * to's; from is left with to's, which has none. */
void stream_take_over(struct stream *to, struct stream *from);

/* What we say goes through here; lives as long as the stream. */
struct playout *stream_playout(struct stream *stream);
/* Queues key presses, '0'-'9' '*' '#' 'A'-'D'; 'w' is a pause of 0.5 s. */
int stream_send_digits(struct stream *stream, const char *digits);
/* Stereo WAV, caller left, agent right, from now until close; a file that was
 * cut by a crash is readable up to its last second. */
int stream_record(struct stream *stream, const char *file);

struct stream_report {
	const char *codec; /* "PCMU"; NULL before the answer */
	uint64_t packets_in, packets_out;
	uint64_t lost, late, duplicate, reordered, concealed;
	uint64_t auth_failures, replays;
	double jitter_ms, rtt_ms, mos; /* rtt < 0: not measured */
	double buffer_ms; /* delay of the jitter buffer */
	int64_t recorded_ms; /* -1: no recording */
	bool on_hold;
	uint64_t last_voice_in_us; /* arrival of the last voiced frame */
	uint64_t last_voice_out_us; /* first voiced frame sent since */
};
void stream_report(const struct stream *stream, struct stream_report *out);
