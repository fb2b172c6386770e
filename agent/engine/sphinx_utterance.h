/* SPDX-License-Identifier: MIT */
/* agent/engine/sphinx_utterance.h - one turn through its decoders: an open one
 * and one with the grammar of what is expected, side by side. run belongs to a
 * pool thread, one at a time; the rest to the loop in between. */
#pragma once
#include "agent/engine/sphinx_decoder.h"
#include "agent/engine/sphinx_grammar.h"
#include "agent/engine/sphinx_pool.h"
#include "agent/engine/telephone_band.h"

struct sphinx_utterance {
	struct sphinx_lease lease; /* borrowed decoders */
	struct sphinx_grammar grammar; /* owned */
	struct sphinx_mean mean; /* of the line, before and after */
	struct telephone_band band;
	bool is_begun, is_ended;
	int err; /* of the decoders: nothing is understood then */
	char *text; /* owned: partial until is_ended, then final */
	double confidence;
};

/* Takes over grammar and empties it. */
void sphinx_utterance_init(struct sphinx_utterance *utterance,
			   const struct sphinx_lease *lease,
			   const struct sphinx_mean *mean,
			   struct sphinx_grammar *grammar);
void sphinx_utterance_reset(struct sphinx_utterance *utterance);
/* n samples at 8 kHz; the last call has is_last set. */
void sphinx_utterance_run(struct sphinx_utterance *utterance,
			  const int16_t *samples, size_t n, bool is_last);
