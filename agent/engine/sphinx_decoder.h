/* SPDX-License-Identifier: MIT */
/* agent/engine/sphinx_decoder.h - one pocketsphinx decoder: either open, with
 * the general language model (95 MB, not shared), or for a grammar (26 MB).
 * All but new and free belong to a pool thread, one at a time. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sphinx_decoder;
struct sphinx_grammar;

enum sphinx_kind { SPHINX_OPEN, SPHINX_GRAMMAR };
enum { SPHINX_MEAN = 13 };

/* Mean cepstrum of the line, taken over from one utterance to the next. */
struct sphinx_mean {
	float at[SPHINX_MEAN];
};

struct sphinx_result {
	char *text; /* owned; "" for none */
	double cost; /* summed acoustic score, positive; smaller is nearer */
	unsigned words;
};

/* Nothing is loaded yet. */
struct sphinx_decoder *sphinx_decoder_new(enum sphinx_kind kind);
void sphinx_decoder_free(struct sphinx_decoder **decoder); /* NULL is fine */
/* Loads at first (240 ms), then starts an utterance. grammar NULL for an open
 * one. -ENOENT: no model; -EINVAL: the grammar does not compile. */
int sphinx_decoder_begin(struct sphinx_decoder *decoder,
			 const struct sphinx_mean *mean,
			 const struct sphinx_grammar *grammar);
/* Samples at 16 kHz. */
void sphinx_decoder_feed(struct sphinx_decoder *decoder, const int16_t *samples,
			 size_t n);
/* Words so far; valid until the next call. */
const char *sphinx_decoder_partial(struct sphinx_decoder *decoder);
/* Ends the utterance; out->text is mem_free()d by the caller. mean takes over
 * what was learnt. */
void sphinx_decoder_end(struct sphinx_decoder *decoder,
			struct sphinx_result *out, struct sphinx_mean *mean);
/* A telephone line before anything was heard. */
void sphinx_mean_init(struct sphinx_mean *mean);
