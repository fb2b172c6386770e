/* SPDX-License-Identifier: MIT */
/* agent/engine/speech_flite.h - speech out by flite, piece by piece in the
 * pool. Voices "cmu_us_slt" (the default) and "kal". */
#pragma once
#include <stdbool.h>
#include "agent/engine/speech.h"

/* Speech out alone: hearing_open() is not to be called on it. */
void speech_open_flite(struct speech **out, struct loop *loop,
		       struct work *work);
/* CMU phones of a word, "HH AH L OW", by dictionary and letter rules; needs an
 * open engine. false: not a word of a-z and '. Safe from every thread. */
bool speech_pronounce(char *out, size_t size, const char *word);
