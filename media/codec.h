/* SPDX-License-Identifier: MIT */
/* media/codec.h - the codecs in one table: how SDP names them (RFC 3551) and
 * how their frames are made. */
#pragma once
#include "core/slice.h"
#include "media/g711.h"
#include "media/media.h"

struct codec {
	const char *name; /* as in a=rtpmap, compared without case */
	uint8_t pt; /* static payload type */
	uint8_t silence; /* one sample of silence, encoded */
	uint32_t rate_hz; /* of the RTP clock */
	void (*encode)(const struct g711 *tables, uint8_t *out,
		       const int16_t *in, size_t n);
	void (*decode)(const struct g711 *tables, int16_t *out,
		       const uint8_t *in, size_t n);
};

const struct codec *codec_get(enum media_codec codec);
/* By rtpmap, or by static payload type when name is empty. MEDIA_CODECS: one
 * we do not know. */
enum media_codec codec_find(struct slice name, uint32_t rate_hz, uint8_t pt);
