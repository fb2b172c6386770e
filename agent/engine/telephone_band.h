/* SPDX-License-Identifier: MIT */
/* agent/engine/telephone_band.h - 8 kHz to 16 kHz for a recogniser trained on
 * wide-band speech. Plain upsampling leaves 4 to 8 kHz empty, which such a
 * model hears as foreign (12 of 48 words right); with a weak mirror image of
 * the low band there it does well (47 of 48). */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { TELEPHONE_BAND_TAPS = 16 };

struct telephone_band {
	float past[TELEPHONE_BAND_TAPS]; /* the last samples, oldest first */
};

void telephone_band_init(struct telephone_band *band);
/* out takes 2 * n samples; they lag by 8 samples of the input. */
void telephone_band_widen(struct telephone_band *band, int16_t *out,
			  const int16_t *in, size_t n);
