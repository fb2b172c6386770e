/* SPDX-License-Identifier: MIT */
#include "media/g711.h"
#include <stdlib.h>

static int16_t ulaw_value(uint8_t code)
{
	unsigned bits = (uint8_t)~code;
	int value = (int)((((bits & 0x0f) << 3) + 0x84) << (bits >> 4 & 7));

	value -= 0x84;
	return (int16_t)(bits & 0x80 ? -value : value);
}

static int16_t alaw_value(uint8_t code)
{
	unsigned bits = code ^ 0x55u;
	unsigned segment = bits >> 4 & 7;
	int value = (int)((bits & 0x0f) << 4) + 8;

	if (segment)
		value = (value + 0x100) << (segment - 1);
	return (int16_t)(bits & 0x80 ? value : -value);
}

/* Codes of one sign grow in magnitude with step, so the nearest one to each
 * sample is found by walking both upwards together. */
static void fill_nearest(uint8_t *table, unsigned shift, const int16_t *pcm,
			 const uint8_t codes[128], int sign)
{
	int width = 1 << shift;
	size_t mask = (size_t)65535 >> shift;
	int at = 0;

	for (int low = 0; low < 32768; low += width) {
		int x = low + width / 2;

		while (at < 127 && abs(abs(pcm[codes[at + 1]]) - x) <
					   abs(abs(pcm[codes[at]]) - x))
			at++;
		if (sign > 0)
			table[(size_t)low >> shift] = codes[at];
		else
			table[mask - ((size_t)low >> shift)] = codes[at];
	}
}

void g711_init(struct g711 *tables)
{
	uint8_t codes[128];

	for (unsigned code = 0; code < 256; code++) {
		tables->ulaw_pcm[code] = ulaw_value((uint8_t)code);
		tables->alaw_pcm[code] = alaw_value((uint8_t)code);
	}
	for (unsigned i = 0; i < 128; i++)
		codes[i] = (uint8_t)(0xff - i);
	fill_nearest(tables->ulaw, 2, tables->ulaw_pcm, codes, 1);
	for (unsigned i = 0; i < 128; i++)
		codes[i] = (uint8_t)(0x7f - i);
	fill_nearest(tables->ulaw, 2, tables->ulaw_pcm, codes, -1);
	for (unsigned i = 0; i < 128; i++)
		codes[i] = (uint8_t)((0x80 | i) ^ 0x55);
	fill_nearest(tables->alaw, 3, tables->alaw_pcm, codes, 1);
	for (unsigned i = 0; i < 128; i++)
		codes[i] = (uint8_t)(i ^ 0x55);
	fill_nearest(tables->alaw, 3, tables->alaw_pcm, codes, -1);
}

void g711_ulaw_encode(const struct g711 *tables, uint8_t *out,
		      const int16_t *in, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = tables->ulaw[(uint16_t)in[i] >> 2];
}

void g711_ulaw_decode(const struct g711 *tables, int16_t *out,
		      const uint8_t *in, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = tables->ulaw_pcm[in[i]];
}

void g711_alaw_encode(const struct g711 *tables, uint8_t *out,
		      const int16_t *in, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = tables->alaw[(uint16_t)in[i] >> 3];
}

void g711_alaw_decode(const struct g711 *tables, int16_t *out,
		      const uint8_t *in, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = tables->alaw_pcm[in[i]];
}
