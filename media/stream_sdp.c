/* SPDX-License-Identifier: MIT */
#include "media/stream_priv.h"
#include <assert.h>
#include <errno.h>
#include <string.h>
#include "core/id.h"
#include "core/log.h"
#include "core/loop.h"

enum {
	OLD_KEY_US = 2 * 1000 * 1000,
	/* What we write repeats the lines we reject, and we read it again. */
	PEER_BYTES_MAX = SDP_BYTES_MAX / 2,
};

static void fill_local(const struct stream *stream, struct negotiate_local *out,
		       const uint8_t *key)
{
	struct addr bound;

	udp_local(stream->ports.rtp, &bound);
	*out = (struct negotiate_local){
		.rtp = stream->media->announced,
		.id = stream->session.id,
		.version = stream->session.version,
		.codecs = stream->media->options.codecs,
		.n_codecs = stream->media->options.n_codecs,
	};
	addr_set_port(&out->rtp, addr_port(&bound));
	sdes_write(out->key, key);
}

void stream_forget_sdp(struct stream *stream)
{
	struct buffer *last = &stream->session.last;

	if (last->ptr)
		explicit_bzero(last->ptr, last->size); /* our key is in it */
	buffer_reset(last);
}

/* The version counts up when anything else did (RFC 3264, 8). */
static void write_ours(struct stream *stream, struct sdp *sdp,
		       struct buffer *out)
{
	struct stream_session *session = &stream->session;
	struct buffer text;

	buffer_init(&text, SDP_BYTES_MAX);
	sdp_write(&text, sdp);
	if (session->last.len &&
	    !slice_eq(buffer_slice(&text), buffer_slice(&session->last))) {
		sdp->version = ++session->version;
		buffer_clear(&text);
		sdp_write(&text, sdp);
	}
	buffer_add(out, buffer_slice(&text));
	stream_forget_sdp(stream);
	session->last = text;
}

/* Again what stands, but never on hold by ourselves: that the peer holds us is
 * no reason to ask for it (RFC 6337, 5.3). */
void stream_offer(struct stream *stream, struct buffer *out)
{
	struct negotiate_local local;
	struct sdp sdp;
	int err;

	fill_local(stream, &local, stream->session.key);
	if (stream->session.last.len) {
		err = sdp_parse(&sdp, buffer_slice(&stream->session.last));
		assert(!err);
		sdp.origin = local.rtp;
		sdp.media[negotiate_line(&sdp)].direction = SDP_SENDRECV;
	} else {
		negotiate_offer(&sdp, &local);
	}
	write_ours(stream, &sdp, out);
}

static bool is_same_key(const uint8_t *a, const uint8_t *b)
{
	return memcmp(a, b, SRTP_KEY_BYTES) == 0;
}

/* The old key receives for a while yet: packets under it are on their way. One
 * that comes back meanwhile keeps its replay list. */
static void change_in_key(struct stream *stream, const uint8_t *old,
			  const uint8_t *key)
{
	struct stream_in *in = &stream->in;
	struct srtp_context *back = NULL;

	if (in->old_key && is_same_key(in->old_bytes, key)) {
		back = in->old_key;
		in->old_key = NULL;
	}
	srtp_context_close(&in->old_key);
	in->old_key = in->key;
	memcpy(in->old_bytes, old, SRTP_KEY_BYTES);
	in->old_until_us =
		loop_now_us(stream->media->options.loop) + OLD_KEY_US;
	in->key = back;
	if (!back)
		srtp_context_open(&in->key, key, SRTP_RECEIVE);
}

static void change_addr(struct stream *stream, const struct negotiated *agreed)
{
	char text[ADDR_TEXT_SIZE];

	stream_in_dissolve(stream);
	stream->out.to = agreed->rtp;
	stream->out.rtcp_to = agreed->rtcp;
	log_debug("stream", NULL, "sends to %s", addr_text(&agreed->rtp, text));
}

static void start(struct stream *stream, const struct negotiated *agreed)
{
	srtp_context_open(&stream->in.key, agreed->key, SRTP_RECEIVE);
	stream_out_start(stream);
	change_addr(stream, agreed);
	stream->session.agreed = *agreed;
	stream->session.is_started = true;
	stream->in.last_us = loop_now_us(stream->media->options.loop);
	pacer_add(stream->media->pacer, &stream->entry, stream_on_turn, stream);
	stream_rtcp_start(stream);
}

static void change(struct stream *stream, const struct negotiated *agreed)
{
	struct negotiated *now = &stream->session.agreed;
	bool is_new_key = !is_same_key(now->key, agreed->key);
	bool is_held = !agreed->may_send;

	if (is_new_key)
		change_in_key(stream, now->key, agreed->key);
	if (!addr_is_any(&agreed->rtp) &&
	    (is_new_key || !addr_is_same(&now->rtp, &agreed->rtp) ||
	     !addr_is_same(&now->rtcp, &agreed->rtcp)))
		change_addr(stream, agreed);
	if (now->may_send == is_held) {
		log_debug("stream", NULL, is_held ? "held" : "resumed");
		jitter_restart(&stream->in.jitter);
	}
	if (now->codec != agreed->codec || now->packet_ms != agreed->packet_ms)
		stream->out.len = 0;
	*now = *agreed;
	stream->in.last_us = loop_now_us(stream->media->options.loop);
}

static void apply(struct stream *stream, const struct negotiated *agreed)
{
	if (stream->session.is_started)
		change(stream, agreed);
	else
		start(stream, agreed);
}

static int parse_theirs(struct sdp *out, struct slice text)
{
	return text.len > PEER_BYTES_MAX ? -EINVAL : sdp_parse(out, text);
}

int stream_take_answer(struct stream *stream, struct slice text)
{
	struct negotiated agreed;
	struct sdp ours, theirs;
	int err;

	assert(stream->session.last.len); /* an answer to what? */
	err = parse_theirs(&theirs, text);
	if (err)
		return err;
	err = sdp_parse(&ours, buffer_slice(&stream->session.last));
	assert(!err);
	err = negotiate_accept(&agreed, &theirs, &ours);
	if (err)
		return err;
	apply(stream, &agreed);
	return 0;
}

/* A new key of theirs may mean another party, which knows nothing of our
 * roll-overs: it gets a new key of ours, too, and a new SSRC with it. */
int stream_take_offer(struct stream *stream, struct slice text,
		      struct buffer *out)
{
	struct stream_session *session = &stream->session;
	struct negotiate_local local;
	struct negotiated agreed;
	struct sdp theirs, answer;
	int err;

	err = parse_theirs(&theirs, text);
	if (err)
		return err;
	fill_local(stream, &local, session->key);
	err = negotiate_answer(&agreed, &answer, &theirs, &local);
	if (err)
		return err;
	if (session->is_started &&
	    !is_same_key(session->agreed.key, agreed.key)) {
		id_bytes(session->key, sizeof(session->key));
		sdes_write(local.key, session->key);
		stream_out_start(stream);
	}
	write_ours(stream, &answer, out);
	apply(stream, &agreed);
	return 0;
}
