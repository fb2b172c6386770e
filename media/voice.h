/* SPDX-License-Identifier: MIT */
/* media/voice.h - is somebody speaking? Energy over the noise floor of the last
 * seconds, zero crossings to tell hiss from speech, and a hysteresis: 60 ms of
 * voice to start, 200 ms without to stop. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VOICE_START_FRAMES = 3, VOICE_STOP_FRAMES = 10 };

struct voice {
	float smooth_db; /* energy, smoothed, dB over full scale */
	float least_db, least_before_db; /* of this and the last spell */
	unsigned spell_frames;
	unsigned run; /* frames in a row against the present state */
	bool is_voice; /* with hysteresis */
	bool is_loud; /* this frame alone */
};

void voice_init(struct voice *voice);
/* A frame of 20 ms at 8 kHz; returns is_voice. */
bool voice_add(struct voice *voice, const int16_t *samples, size_t n);
