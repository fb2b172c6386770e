/* SPDX-License-Identifier: MIT */
/* agent/engine/speech_sphinx.h - speech in by pocketsphinx in the pool. */
#pragma once
#include "agent/engine/speech.h"

/* Speech in alone: speech_say() is not to be called on it. recognisers 0:
 * cores + 1. */
void speech_open_sphinx(struct speech **out, struct loop *loop,
			struct work *work, unsigned recognisers);
