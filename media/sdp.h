/* SPDX-License-Identifier: MIT */
/* media/sdp.h - session descriptions (RFC 8866), the one reader and the one
 * writer: bounded tables of what a call needs, the rest is skipped. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/addr.h"
#include "core/buffer.h"
#include "core/slice.h"

enum {
	SDP_BYTES_MAX = 32 * 1024,
	SDP_MEDIA_MAX = 12, /* more: -EINVAL, for an answer must mirror all */
	SDP_FORMATS_MAX = 32, /* more are not seen */
	SDP_CRYPTO_MAX = 8, /* more are not seen */
};

enum sdp_direction { SDP_SENDRECV, SDP_SENDONLY, SDP_RECVONLY, SDP_INACTIVE };

struct sdp_format {
	uint8_t pt;
	struct slice name; /* of a=rtpmap; empty: static type */
	uint32_t rate_hz;
	struct slice fmtp; /* empty: none */
};

/* a=crypto (RFC 4568, 9.1), not judged yet: see media/sdes.h. */
struct sdp_crypto {
	uint32_t tag;
	struct slice suite;
	struct slice params; /* "inline:..." */
	struct slice session; /* session parameters, blank separated */
};

struct sdp_media {
	struct slice type; /* "audio" */
	struct slice proto; /* "RTP/SAVP" */
	struct slice fmts; /* the m-line's formats as they stand */
	uint16_t port; /* 0: rejected or disabled */
	bool has_addr; /* c= is an address we can read, own or the session's */
	struct addr addr; /* with port */
	bool has_rtcp; /* a=rtcp (RFC 3605); its default address is addr's */
	struct addr rtcp;
	enum sdp_direction direction;
	uint8_t ptime_ms, maxptime_ms; /* 0: not said */
	size_t n_formats;
	struct sdp_format formats[SDP_FORMATS_MAX];
	size_t n_crypto;
	struct sdp_crypto crypto[SDP_CRYPTO_MAX];
};

struct sdp {
	struct slice user; /* of o= */
	uint64_t id, version;
	struct addr origin; /* written; not read, it may be a name */
	size_t n_media;
	struct sdp_media media[SDP_MEDIA_MAX];
};

/* All slices borrow from text. -EINVAL: not SDP, or over a bound; then *out is
 * not to be used. */
int sdp_parse(struct sdp *out, struct slice text);
/* media with port 0 is written as a rejected line with its fmts. */
void sdp_write(struct buffer *out, const struct sdp *sdp);
