/* SPDX-License-Identifier: MIT */
/* agent/engine/sphinx_fsg.h - a grammar as pocketsphinx's graph of words. Built
 * directly: the library's JSGF parser leaks with every grammar. */
#pragma once
#include <pocketsphinx.h>
#include "agent/engine/sphinx_grammar.h"

/* Whether a word has a pronunciation. */
struct sphinx_words {
	bool (*knows)(void *owner, const char *word);
	void *owner;
};

/* Phrases with a word that has none are left out. NULL when nothing is left;
 * the caller fsg_model_free()s. */
fsg_model_t *sphinx_fsg_build(const struct sphinx_grammar *grammar,
			      ps_decoder_t *ps,
			      const struct sphinx_words *words);
