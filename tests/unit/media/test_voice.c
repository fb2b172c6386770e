/* SPDX-License-Identifier: MIT */
/* Voice activity: 60 ms to start, 200 ms to stop, over noise of any level, deaf
 * to hiss, hum that stays, and silence. */
#include "tests/unit/media/fixture.h"
#include <math.h>
#include "media/voice.h"

static struct voice voice;
static unsigned seed;

static int setup(void **state)
{
	voice_init(&voice);
	seed = 1;
	return 0;
}

static int noise(int peak)
{
	seed = seed * 1103515245u + 12345u;
	return peak ? (int)(seed >> 16) % (2 * peak) - peak : 0;
}

/* n frames of a vowel-like sound with the given peak over noise; returns how
 * many of them are voice. */
static unsigned add(unsigned n, int peak, int noise_peak)
{
	int16_t frame[160];
	unsigned voiced = 0;

	for (unsigned i = 0; i < n * 160; i++) {
		double x = sin(2 * M_PI * 140 * i / 8000) +
			   0.5 * sin(2 * M_PI * 700 * i / 8000);

		frame[i % 160] = (int16_t)(peak * x / 1.5 + noise(noise_peak));
		if (i % 160 == 159)
			voiced += voice_add(&voice, frame, 160);
	}
	return voiced;
}

static void test_hysteresis(void **state)
{
	add(100, 0, 30);
	assert_false(voice.is_voice);
	add(2, 5000, 30);
	assert_false(voice.is_voice);
	add(1, 5000, 30);
	assert_true(voice.is_voice);
	add(20, 5000, 30);
	add(9, 0, 30);
	assert_true(voice.is_voice);
	add(1, 0, 30);
	assert_false(voice.is_voice);
}

static void test_clicks_are_not_voice(void **state)
{
	add(100, 0, 30);
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(add(2, 8000, 30), 0);
		assert_int_equal(add(5, 0, 30), 0);
	}
}

static void test_over_noise_of_any_level(void **state)
{
	static const int levels[] = { 0, 5, 30, 100, 300, 600 };

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		setup(state);
		add(250, 0, levels[i]);
		assert_int_equal(add(50, 0, levels[i]), 0);
		assert_in_range(add(50, 8 * levels[i] + 2000, levels[i]), 46,
				48);
		assert_true(add(50, 0, levels[i]) <= 13);
	}
}

static void test_silence_is_never_voice(void **state)
{
	assert_int_equal(add(500, 0, 0), 0);
	assert_int_equal(add(500, 0, 20), 0);
}

static void test_speech_from_the_first_frame(void **state)
{
	assert_true(add(50, 6000, 20) >= 47);
}

static void test_speech_with_pauses_stays_heard(void **state)
{
	unsigned voiced = 0;

	for (unsigned i = 0; i < 60; i++) {
		voiced += add(20, 4000, 50);
		add(15, 0, 50);
	}
	assert_true(voiced >= 60 * 18);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_hysteresis, setup),
		cmocka_unit_test_setup(test_clicks_are_not_voice, setup),
		cmocka_unit_test_setup(test_over_noise_of_any_level, setup),
		cmocka_unit_test_setup(test_silence_is_never_voice, setup),
		cmocka_unit_test_setup(test_speech_from_the_first_frame, setup),
		cmocka_unit_test_setup(test_speech_with_pauses_stays_heard,
				       setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
