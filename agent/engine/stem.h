/* SPDX-License-Identifier: MIT */
/* agent/engine/stem.h - one root for the forms of an English word and for the
 * words that mean the same on the telephone. */
#pragma once
#include "agent/engine/words.h"

/* text is lower-case. A number up to twenty becomes its digits. */
void word_root(char out[WORD_SIZE], const char *text);
