/* SPDX-License-Identifier: MIT */
/* agent/engine/flite_piece.h - one piece of an utterance, text to samples and
 * marks; pure work for a pool thread. */
#pragma once
#include <flite/flite.h>
#include "agent/engine/speech.h"

struct flite_piece {
	const char *text; /* borrowed: plain ASCII, NUL-terminated */
	const size_t *end; /* borrowed: source offset behind each byte */
	/* Results, owned by the caller; marks count from the piece's start. */
	int16_t *samples;
	size_t n_samples;
	struct speech_mark *marks;
	size_t n_marks;
};

/* 0, or -EIO when flite gives nothing. */
int flite_piece_speak(struct flite_piece *piece, cst_voice *voice);
void flite_piece_reset(struct flite_piece *piece);
