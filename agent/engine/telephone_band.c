/* SPDX-License-Identifier: MIT */
#include "agent/engine/telephone_band.h"
#include <math.h>
#include <string.h>

/* Share of the mirror image kept between 4 and 8 kHz. */
static const float image = 0.3f;

/* Half-band interpolator, windowed sinc: the samples themselves stay, these
 * weigh the 16 around the midpoint (symmetric, so half of them). */
static const float taps[TELEPHONE_BAND_TAPS / 2] = {
	0.63026f, -0.19425f, 0.09899f, -0.05432f,
	0.02846f, -0.01286f, 0.00412f, -0.00041f,
};

void telephone_band_init(struct telephone_band *band)
{
	memset(band, 0, sizeof(*band));
}

static int16_t clip(float value)
{
	return (int16_t)lrintf(fminf(fmaxf(value, -32768), 32767));
}

/* With low the band itself and stuffed the input with zeros between (both at
 * unit gain): low + image * (stuffed - low). At an input sample low is x and
 * stuffed 2 x; between two of them stuffed is 0. */
void telephone_band_widen(struct telephone_band *band, int16_t *out,
			  const int16_t *in, size_t n)
{
	enum { HALF = TELEPHONE_BAND_TAPS / 2 };
	float *past = band->past;

	for (size_t i = 0; i < n; i++) {
		float between = 0;

		memmove(past, past + 1,
			(TELEPHONE_BAND_TAPS - 1) * sizeof(*past));
		past[TELEPHONE_BAND_TAPS - 1] = in[i];
		for (int k = 0; k < HALF; k++)
			between +=
				taps[k] * (past[HALF - 1 - k] + past[HALF + k]);
		out[2 * i] = clip(past[HALF - 1] * (1 + image));
		out[2 * i + 1] = clip(between * (1 - image));
	}
}
