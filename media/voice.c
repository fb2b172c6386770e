/* SPDX-License-Identifier: MIT */
#include "media/voice.h"
#include <math.h>

enum {
	SPELL_FRAMES = 75, /* the floor is the least of 1.5 to 3 s */
	HISS_CROSSINGS = 60, /* per frame: white noise has 80 */
};

static const float silence_db = -96;
static const float floor_least_db = -66, floor_most_db = -34;
static const float floor_first_db = -55;
static const float speech_over_db = 9, hiss_over_db = 15;
static const float least_speech_db = -50;

void voice_init(struct voice *voice)
{
	*voice = (struct voice){ .smooth_db = floor_first_db,
				 .least_db = floor_first_db,
				 .least_before_db = floor_first_db };
}

static float energy_db(const int16_t *samples, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (uint64_t)(samples[i] * samples[i]);
	if (sum == 0)
		return silence_db;
	return 10 * log10f((float)sum / ((float)n * 32768.0f * 32768.0f));
}

static unsigned crossings(const int16_t *samples, size_t n)
{
	unsigned count = 0;

	for (size_t i = 1; i < n; i++)
		count += (samples[i] ^ samples[i - 1]) < 0;
	return count;
}

static float clampf(float x, float low, float high)
{
	return x < low ? low : x > high ? high : x;
}

/* Minimum statistics: speech pauses often enough that the least smoothed
 * energy of the last seconds is the noise. */
static float track_floor(struct voice *voice, float db)
{
	voice->smooth_db += 0.3f * (db - voice->smooth_db);
	if (++voice->spell_frames > SPELL_FRAMES) {
		voice->spell_frames = 0;
		voice->least_before_db = voice->least_db;
		voice->least_db = voice->smooth_db;
	}
	voice->least_db = fminf(voice->least_db, voice->smooth_db);
	return clampf(fminf(voice->least_db, voice->least_before_db),
		      floor_least_db, floor_most_db);
}

static bool is_loud(struct voice *voice, const int16_t *samples, size_t n)
{
	float db = energy_db(samples, n);
	float over = db - track_floor(voice, db);

	if (db < least_speech_db || over < speech_over_db)
		return false;
	return over >= hiss_over_db || crossings(samples, n) < HISS_CROSSINGS;
}

bool voice_add(struct voice *voice, const int16_t *samples, size_t n)
{
	unsigned needed =
		voice->is_voice ? VOICE_STOP_FRAMES : VOICE_START_FRAMES;

	voice->is_loud = is_loud(voice, samples, n);
	if (voice->is_loud == voice->is_voice)
		voice->run = 0;
	else if (++voice->run >= needed) {
		voice->is_voice = voice->is_loud;
		voice->run = 0;
	}
	return voice->is_voice;
}
