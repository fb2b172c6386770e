/* SPDX-License-Identifier: MIT */
#include "media/negotiate.h"
#include <errno.h>
#include "media/codec.h"

static bool is_secure(struct slice proto)
{
	return slice_eq(proto, SLICE("RTP/SAVP")) ||
	       slice_eq(proto, SLICE("RTP/SAVPF"));
}

static bool is_dtmf(const struct sdp_format *format)
{
	return slice_eq_nocase(format->name, SLICE("telephone-event")) &&
	       format->rate_hz == 8000;
}

static const struct sdp_format *find_dtmf(const struct sdp_media *media)
{
	for (size_t i = 0; i < media->n_formats; i++)
		if (is_dtmf(&media->formats[i]))
			return &media->formats[i];
	return NULL;
}

static enum media_codec format_codec(const struct sdp_format *format)
{
	return codec_find(format->name, format->rate_hz, format->pt);
}

static bool has_codec(const enum media_codec *codecs, size_t n,
		      enum media_codec codec)
{
	for (size_t i = 0; i < n; i++)
		if (codecs[i] == codec)
			return true;
	return false;
}

/* The first of theirs that is in codecs: the offerer's order counts. */
static const struct sdp_format *find_codec(const struct sdp_media *media,
					   const enum media_codec *codecs,
					   size_t n)
{
	for (size_t i = 0; i < media->n_formats; i++) {
		const struct sdp_format *format = &media->formats[i];

		if (has_codec(codecs, n, format_codec(format)))
			return format;
	}
	return NULL;
}

/* The first line we can take, with its key, or NULL. */
static const struct sdp_crypto *find_crypto(uint8_t key[SRTP_KEY_BYTES],
					    const struct sdp_media *media)
{
	for (size_t i = 0; i < media->n_crypto; i++)
		if (sdes_parse(key, &media->crypto[i]) == 0)
			return &media->crypto[i];
	return NULL;
}

/* ptime is a wish, maxptime a limit (RFC 8866, 6.4). A frame is 20 ms; a packet
 * holds a half, one, two or three. */
static uint8_t packet_ms(const struct sdp_media *media)
{
	unsigned ms = media->ptime_ms ? media->ptime_ms : 20;

	if (media->maxptime_ms && ms > media->maxptime_ms)
		ms = media->maxptime_ms;
	if (ms < 20)
		return 10;
	if (ms < 40)
		return 20;
	return ms < 60 ? 40 : 60;
}

static bool is_sending(enum sdp_direction direction)
{
	return direction == SDP_SENDRECV || direction == SDP_SENDONLY;
}

static bool is_receiving(enum sdp_direction direction)
{
	return direction == SDP_SENDRECV || direction == SDP_RECVONLY;
}

static enum sdp_direction to_direction(bool may_send, bool may_receive)
{
	if (may_send)
		return may_receive ? SDP_SENDRECV : SDP_SENDONLY;
	return may_receive ? SDP_RECVONLY : SDP_INACTIVE;
}

/* An RTCP port after the last one there is: then the RTP port, as if muxed;
 * what arrives there is dropped as it would be anywhere. */
static void take_addrs(struct negotiated *out, const struct sdp_media *media)
{
	uint16_t port = addr_port(&media->addr);

	out->rtp = media->addr;
	if (media->has_rtcp) {
		out->rtcp = media->rtcp;
		return;
	}
	out->rtcp = media->addr;
	addr_set_port(&out->rtcp, port < 65535 ? port + 1 : port);
}

/* Audio goes to one host: not to a group, nor to all on a network. */
static bool is_unicast(const struct addr *addr)
{
	return addr_in_network(addr, SLICE("224.0.0.0/3")) != 1 &&
	       addr_in_network(addr, SLICE("ff00::/8")) != 1;
}

static bool is_reachable(const struct sdp_media *media, int family)
{
	return media->port && media->has_addr && is_unicast(&media->addr) &&
	       (!media->has_rtcp || is_unicast(&media->rtcp)) &&
	       media->addr.sa.sa_family == family &&
	       (!media->has_rtcp || media->rtcp.sa.sa_family == family);
}

/* All but the codecs, which an offer and an answer choose differently. The old
 * way to hold is an address of 0.0.0.0 (RFC 3264, 8.4). */
static int take_media(struct negotiated *out, const struct sdp_crypto **crypto,
		      const struct sdp_media *media, int family)
{
	const struct sdp_format *dtmf = find_dtmf(media);

	if (!slice_eq_nocase(media->type, SLICE("audio")) ||
	    !is_secure(media->proto) || !is_reachable(media, family))
		return -ENOTSUP;
	*crypto = find_crypto(out->key, media);
	if (!*crypto)
		return -ENOTSUP;
	take_addrs(out, media);
	out->dtmf_pt = dtmf ? dtmf->pt : NEGOTIATE_NO_PT;
	out->packet_ms = packet_ms(media);
	out->may_send =
		is_receiving(media->direction) && !addr_is_any(&media->addr);
	out->may_receive = is_sending(media->direction);
	return 0;
}

static void no_codecs(struct negotiated *out)
{
	for (unsigned i = 0; i < MEDIA_CODECS; i++)
		out->pts[i] = NEGOTIATE_NO_PT;
}

static void add_codec(struct sdp_media *media, enum media_codec codec,
		      uint8_t pt)
{
	const struct codec *info = codec_get(codec);

	media->formats[media->n_formats++] = (struct sdp_format){
		.pt = pt, .name = slice_of(info->name), .rate_hz = info->rate_hz
	};
}

static void add_dtmf(struct sdp_media *media, uint8_t pt)
{
	media->formats[media->n_formats++] =
		(struct sdp_format){ .pt = pt,
				     .name = SLICE("telephone-event"),
				     .rate_hz = 8000,
				     .fmtp = SLICE("0-15") };
}

static void add_crypto(struct sdp_media *media, uint32_t tag, const char *key)
{
	media->crypto[media->n_crypto++] = (struct sdp_crypto){
		.tag = tag, .suite = sdes_suite(), .params = slice_of(key)
	};
}

static void start(struct sdp *out, const struct negotiate_local *local)
{
	out->user = SLICE("-");
	out->id = local->id;
	out->version = local->version;
	out->origin = local->rtp;
	out->n_media = 0;
}

void negotiate_offer(struct sdp *out, const struct negotiate_local *local)
{
	struct sdp_media *media = &out->media[0];

	start(out, local);
	out->n_media = 1;
	*media = (struct sdp_media){ .type = SLICE("audio"),
				     .proto = SLICE("RTP/SAVP"),
				     .port = addr_port(&local->rtp),
				     .ptime_ms = 20 };
	for (size_t i = 0; i < local->n_codecs; i++)
		add_codec(media, local->codecs[i],
			  codec_get(local->codecs[i])->pt);
	add_dtmf(media, NEGOTIATE_DTMF_PT);
	add_crypto(media, NEGOTIATE_TAG, local->key);
}

static int take_offered(struct negotiated *out,
			const struct sdp_crypto **crypto,
			const struct sdp_media *offered,
			const struct negotiate_local *local)
{
	const struct sdp_format *format =
		find_codec(offered, local->codecs, local->n_codecs);

	if (!format)
		return -ENOTSUP;
	no_codecs(out);
	out->codec = format_codec(format);
	out->pts[out->codec] = format->pt;
	return take_media(out, crypto, offered, local->rtp.sa.sa_family);
}

static void write_accepted(struct sdp_media *line,
			   const struct sdp_media *offered,
			   const struct negotiated *agreed,
			   const struct negotiate_local *local)
{
	*line = (struct sdp_media){
		.type = offered->type,
		.proto = offered->proto,
		.port = addr_port(&local->rtp),
		.ptime_ms = agreed->packet_ms,
		.direction = to_direction(agreed->may_send, agreed->may_receive)
	};
	add_codec(line, agreed->codec, agreed->pts[agreed->codec]);
	if (agreed->dtmf_pt != NEGOTIATE_NO_PT)
		add_dtmf(line, agreed->dtmf_pt);
}

static void write_rejected(struct sdp_media *line,
			   const struct sdp_media *offered)
{
	*line = (struct sdp_media){ .type = offered->type,
				    .proto = offered->proto,
				    .fmts = offered->fmts };
}

int negotiate_answer(struct negotiated *out, struct sdp *answer,
		     const struct sdp *offer,
		     const struct negotiate_local *local)
{
	const struct sdp_crypto *crypto;
	bool is_found = false;

	start(answer, local);
	for (size_t i = 0; i < offer->n_media; i++) {
		const struct sdp_media *offered = &offer->media[i];
		struct sdp_media *line = &answer->media[answer->n_media++];

		if (is_found || take_offered(out, &crypto, offered, local)) {
			write_rejected(line, offered);
			continue;
		}
		write_accepted(line, offered, out, local);
		add_crypto(line, crypto->tag, local->key);
		is_found = true;
	}
	return is_found ? 0 : -ENOTSUP;
}

size_t negotiate_line(const struct sdp *ours)
{
	size_t at = 0;

	while (at + 1 < ours->n_media && ours->media[at].port == 0)
		at++;
	return at;
}

/* What we offered may come in any of its types, whatever the answer chose: some
 * peers switch without a word. */
static void take_offered_pts(struct negotiated *out,
			     const struct sdp_media *ours)
{
	no_codecs(out);
	for (size_t i = 0; i < ours->n_formats; i++) {
		enum media_codec codec = format_codec(&ours->formats[i]);

		if (codec < MEDIA_CODECS)
			out->pts[codec] = ours->formats[i].pt;
	}
}

int negotiate_accept(struct negotiated *out, const struct sdp *answer,
		     const struct sdp *offer)
{
	size_t at = negotiate_line(offer);
	const struct sdp_media *ours = &offer->media[at];
	const struct sdp_media *theirs = &answer->media[at];
	const struct sdp_crypto *crypto;
	const struct sdp_format *format;
	enum media_codec codecs[MEDIA_CODECS];
	size_t n = 0;
	int err;

	if (answer->n_media != offer->n_media)
		return -ENOTSUP;
	take_offered_pts(out, ours);
	for (unsigned i = 0; i < MEDIA_CODECS; i++)
		if (out->pts[i] != NEGOTIATE_NO_PT)
			codecs[n++] = (enum media_codec)i;
	format = find_codec(theirs, codecs, n);
	if (!format)
		return -ENOTSUP;
	err = take_media(out, &crypto, theirs, ours->addr.sa.sa_family);
	if (err || crypto->tag != ours->crypto[0].tag)
		return -ENOTSUP;
	out->codec = format_codec(format);
	out->pts[out->codec] = format->pt;
	return 0;
}
