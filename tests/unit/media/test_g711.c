/* SPDX-License-Identifier: MIT */
/* PCMU and PCMA by table (ITU-T G.711): known values, each code its own, and
 * for every sample the nearest code there is. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include "media/codec.h"

static struct g711 tables;

static void test_known_values(void **state)
{
	static const struct {
		uint8_t code;
		int16_t ulaw, alaw;
	} rows[] = {
		{ 0x00, -32124, -5504 }, { 0x80, 32124, 5504 },
		{ 0xff, 0, 848 },	 { 0x7f, 0, -848 },
		{ 0x2a, -5372, -32256 }, { 0xaa, 5372, 32256 },
		{ 0xd5, 716, 8 },	 { 0x55, -716, -8 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(tables.ulaw_pcm[rows[i].code], rows[i].ulaw);
		assert_int_equal(tables.alaw_pcm[rows[i].code], rows[i].alaw);
	}
}

static void test_each_code_comes_back(void **state)
{
	for (unsigned code = 0; code < 256; code++) {
		uint8_t byte = (uint8_t)code, back;
		int16_t pcm;

		g711_alaw_decode(&tables, &pcm, &byte, 1);
		g711_alaw_encode(&tables, &back, &pcm, 1);
		assert_int_equal(back, code);
		g711_ulaw_decode(&tables, &pcm, &byte, 1);
		g711_ulaw_encode(&tables, &back, &pcm, 1);
		/* There are two zeros. */
		assert_int_equal(back, code == 0x7f ? 0xff : code);
	}
}

static int nearest(const int16_t pcm[256], int x)
{
	int best = 65536;

	for (unsigned code = 0; code < 256; code++)
		if (abs(pcm[code] - x) < best)
			best = abs(pcm[code] - x);
	return best;
}

/* The tables see the upper 14 and 13 bits: half a step of these is allowed. */
static void test_the_nearest_code_is_taken(void **state)
{
	for (int x = -32768; x < 32768; x += 7) {
		int16_t in = (int16_t)x, out;
		uint8_t code;

		g711_ulaw_encode(&tables, &code, &in, 1);
		g711_ulaw_decode(&tables, &out, &code, 1);
		assert_true(abs(out - x) <= nearest(tables.ulaw_pcm, x) + 4);
		g711_alaw_encode(&tables, &code, &in, 1);
		g711_alaw_decode(&tables, &out, &code, 1);
		assert_true(abs(out - x) <= nearest(tables.alaw_pcm, x) + 8);
	}
}

static void test_codec_table(void **state)
{
	static const struct {
		const char *name;
		uint32_t rate;
		uint8_t pt;
		enum media_codec codec;
	} rows[] = {
		{ "PCMU", 8000, 96, MEDIA_PCMU },
		{ "pcma", 8000, 97, MEDIA_PCMA },
		{ "PCMU", 16000, 0, MEDIA_CODECS },
		{ "", 0, 0, MEDIA_PCMU },
		{ "", 0, 8, MEDIA_PCMA },
		{ "", 0, 3, MEDIA_CODECS },
		{ "opus", 48000, 0, MEDIA_CODECS },
	};
	int16_t zero;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(codec_find(slice_of(rows[i].name),
					    rows[i].rate, rows[i].pt),
				 rows[i].codec);
	for (unsigned i = 0; i < MEDIA_CODECS; i++) {
		const struct codec *codec = codec_get((enum media_codec)i);

		codec->decode(&tables, &zero, &codec->silence, 1);
		assert_true(abs(zero) <= 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_values),
		cmocka_unit_test(test_each_code_comes_back),
		cmocka_unit_test(test_the_nearest_code_is_taken),
		cmocka_unit_test(test_codec_table),
	};

	g711_init(&tables);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
