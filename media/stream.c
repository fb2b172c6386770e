/* SPDX-License-Identifier: MIT */
#include "media/stream_priv.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "core/id.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "media/prefetch.h"

static void on_timer(void *arg);

void stream_post(struct stream *stream)
{
	if (!timer_is_armed(stream->timer))
		timer_start(stream->timer, 0, on_timer, stream);
}

static void tell_digit(struct stream *stream)
{
	struct stream_pending *pending = &stream->pending;
	char digit = pending->digits[0];

	pending->n_digits--;
	memmove(pending->digits, pending->digits + 1, pending->n_digits);
	if (stream->events->on_digit)
		stream->events->on_digit(stream->owner, digit);
}

static bool has_pending(const struct stream_pending *pending)
{
	return pending->n_digits || pending->timeout ||
	       pending->recording_failed;
}

/* One event; the timer is armed first, for the owner may close us. */
static void on_timer(void *arg)
{
	struct stream *stream = arg;
	struct stream_pending *pending = &stream->pending;
	const struct stream_events *events = stream->events;

	if (!has_pending(pending))
		return;
	stream_post(stream);
	if (pending->n_digits) {
		tell_digit(stream);
	} else if (pending->recording_failed) {
		pending->recording_failed = false;
		if (events->on_recording_failed)
			events->on_recording_failed(stream->owner,
						    pending->why);
	} else {
		pending->timeout = false;
		if (events->on_timeout)
			events->on_timeout(stream->owner);
	}
}

static void hear(struct stream *stream, const struct pacer_turn *turn,
		 int16_t frame[STREAM_FRAME_SAMPLES])
{
	struct stream_in *in = &stream->in;
	uint64_t arrived_us;

	jitter_skip(&in->jitter, turn->skipped);
	jitter_get(&in->jitter, frame, &arrived_us, turn->now_us);
	voice_add(&in->voice, frame, STREAM_FRAME_SAMPLES);
	if (in->voice.is_voice && in->voice.is_loud && arrived_us) {
		in->voice_us = arrived_us;
		stream->out.voice_us = 0;
	}
}

/* Everything at once, while the caches hold this stream. on_frame is last: the
 * owner may close the stream in it. */
static void full_turn(struct stream *stream, const struct pacer_turn *turn)
{
	bool hears = stream->session.agreed.may_send;
	int16_t heard[STREAM_FRAME_SAMPLES], said[STREAM_FRAME_SAMPLES];
	bool says = stream_send_turn(stream, turn, said);

	stream_rtcp_watch(stream, turn->now_us);
	stream_in_watch(stream, turn->now_us);
	if (hears)
		hear(stream, turn, heard);
	if (stream->recorder)
		recorder_add(stream->recorder, turn->due_us,
			     hears ? heard : NULL, says ? said : NULL);
	if (hears && stream->events->on_frame)
		stream->events->on_frame(stream->owner, heard,
					 stream->in.voice.is_voice);
}

static void prefetch_far(const struct stream *stream, bool is_between)
{
	prefetch_bytes(stream, offsetof(struct stream, rtcp));
	prefetch_bytes(&stream->in, offsetof(struct stream_in, jitter.last));
	if (is_between)
		return;
	prefetch_bytes(&stream->session.agreed, PREFETCH_LINE_BYTES);
	prefetch_bytes(&stream->out, offsetof(struct stream_out, payload));
}

static void prefetch_near(const struct stream *stream,
			  const struct pacer_turn *turn)
{
	const struct stream_in *in = &stream->in;

	if (jitter_is_due(&in->jitter, turn->now_us)) {
		prefetch_bytes(stream->ports.rtp, 2 * PREFETCH_LINE_BYTES);
		prefetch_bytes(in->key, 1);
		jitter_prefetch_put(&in->jitter);
	}
	if (turn->is_between)
		return;
	prefetch_bytes(stream->ports.rtp, 2 * PREFETCH_LINE_BYTES);
	prefetch_bytes(stream->out.key, 1);
	playout_prefetch(stream->playout);
	jitter_prefetch_get(&in->jitter);
}

/* The streams whose turns come next, each step nearer: what one asks for, the
 * next can read. */
static void prefetch(const struct pacer_turn *turn)
{
	if (turn->ahead[2])
		prefetch_far(turn->ahead[2], turn->is_between);
	if (turn->ahead[1])
		prefetch_near(turn->ahead[1], turn);
	if (turn->ahead[0] && !turn->is_between)
		playout_prefetch_frame(stream_playout(turn->ahead[0]));
}

void stream_on_turn(void *owner, const struct pacer_turn *turn)
{
	struct stream *stream = owner;

	prefetch(turn);
	stream->in.is_held_up = turn->skipped > 0;
	stream_receive(stream, turn->now_us);
	if (!turn->is_between)
		full_turn(stream, turn);
}

int stream_open(struct stream **out, struct media *media,
		const struct stream_events *events, void *owner)
{
	struct stream *stream = mem_new(sizeof(*stream));
	int err = ports_take(media->ports, &stream->ports, media->options.loop,
			     &media->options.bind);

	*out = NULL;
	if (err) {
		mem_free(stream);
		return err;
	}
	stream->media = media;
	stream->events = events;
	stream->owner = owner;
	stream->timer = timer_new(media->options.loop);
	playout_open(&stream->playout, media->options.loop);
	buffer_init(&stream->session.last, SDP_BYTES_MAX);
	stream->session.id = (uint64_t)loop_wall_ms(media->options.loop);
	stream->session.version = 1;
	id_bytes(stream->session.key, sizeof(stream->session.key));
	jitter_init(&stream->in.jitter);
	voice_init(&stream->in.voice);
	id_word(stream->rtcp.cname, RTCP_CNAME_SIZE - 1);
	stream->rtcp.rtt_ms = -1;
	media->stats.streams++;
	*out = stream;
	return 0;
}

void stream_close(struct stream **stream)
{
	struct stream *old = *stream;

	if (!old)
		return;
	*stream = NULL;
	if (old->session.is_started)
		stream_rtcp_bye(old);
	pacer_remove(old->media->pacer, &old->entry);
	ports_give(old->media->ports, &old->ports);
	recorder_close(&old->recorder, loop_now_us(old->media->options.loop));
	playout_close(&old->playout);
	timer_close(&old->timer);
	srtp_context_close(&old->in.key);
	srtp_context_close(&old->in.old_key);
	srtp_context_close(&old->out.key);
	stream_forget_sdp(old);
	old->media->stats.streams--;
	explicit_bzero(old, sizeof(*old)); /* keys */
	mem_free(old);
}

struct playout *stream_playout(struct stream *stream)
{
	return stream->playout;
}

int stream_send_digits(struct stream *stream, const char *digits)
{
	if (!stream->session.is_started)
		return -ENOTCONN;
	if (stream->session.agreed.dtmf_pt == NEGOTIATE_NO_PT)
		return -ENOTSUP;
	return dtmf_queue(&stream->out.dtmf, digits);
}

static void on_recorder_failed(void *owner, const char *why)
{
	struct stream *stream = owner;

	snprintf(stream->pending.why, sizeof(stream->pending.why), "%s", why);
	stream->pending.recording_failed = true;
	stream_post(stream);
}

int stream_record(struct stream *stream, const char *file)
{
	struct recorder_options options = {
		.work = stream->media->options.work,
		.file = file,
		.now_us = loop_now_us(stream->media->options.loop),
		.on_failed = on_recorder_failed,
		.owner = stream,
	};

	if (stream->recorder)
		return -EALREADY;
	recorder_open(&stream->recorder, &options);
	return 0;
}

static double find_mos(const struct stream *stream,
		       const struct stream_report *report)
{
	uint64_t missing = report->lost + report->late;
	uint64_t all = stream->in.packets + report->lost;
	double delay_ms = report->buffer_ms + 20;

	if (all == 0)
		return 0;
	if (report->rtt_ms > 0)
		delay_ms += report->rtt_ms / 2;
	return rtcp_mos((double)missing / (double)all, delay_ms);
}

void stream_report(const struct stream *stream, struct stream_report *out)
{
	const struct stream_in *in = &stream->in;
	const struct stream_session *session = &stream->session;

	*out = (struct stream_report){
		.packets_in = in->packets,
		.packets_out = stream->out.packets,
		.lost = source_lost(&in->source),
		.late = in->jitter.stats.late,
		.duplicate = in->jitter.stats.duplicate,
		.reordered = in->source.reordered,
		.concealed = (in->jitter.stats.concealed + JITTER_FRAME - 1) /
			     JITTER_FRAME,
		.auth_failures = in->auth_failures,
		.replays = in->replays,
		.jitter_ms = source_jitter_ms(&in->source),
		.rtt_ms = stream->rtcp.rtt_ms,
		.buffer_ms = jitter_delay_ms(&in->jitter),
		.recorded_ms =
			stream->recorder ? recorder_ms(stream->recorder) : -1,
		.last_voice_in_us = in->voice_us,
		.last_voice_out_us = stream->out.voice_us,
	};
	if (session->is_started) {
		out->codec = codec_get(session->agreed.codec)->name;
		out->on_hold = !session->agreed.may_send;
	}
	out->mos = find_mos(stream, out);
}
