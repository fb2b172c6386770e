/* SPDX-License-Identifier: MIT */
#include "media/codec.h"
#include <assert.h>

static const struct codec codecs[MEDIA_CODECS] = {
	[MEDIA_PCMU] = { "PCMU", 0, 0xff, 8000, g711_ulaw_encode,
			 g711_ulaw_decode },
	[MEDIA_PCMA] = { "PCMA", 8, 0xd5, 8000, g711_alaw_encode,
			 g711_alaw_decode },
};

const struct codec *codec_get(enum media_codec codec)
{
	assert(codec < MEDIA_CODECS);
	return &codecs[codec];
}

static bool is_match(const struct codec *codec, struct slice name,
		     uint32_t rate_hz, uint8_t pt)
{
	if (name.len == 0)
		return codec->pt == pt;
	return slice_eq_nocase(name, slice_of(codec->name)) &&
	       codec->rate_hz == rate_hz;
}

enum media_codec codec_find(struct slice name, uint32_t rate_hz, uint8_t pt)
{
	unsigned at = 0;

	while (at < MEDIA_CODECS && !is_match(&codecs[at], name, rate_hz, pt))
		at++;
	return (enum media_codec)at;
}
