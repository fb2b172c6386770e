/* SPDX-License-Identifier: MIT */
/* agent/engine/phrase.h - what to say for a prompt without a language model:
 * the closest example's answer, else the sentence the prompt quotes, else the
 * prompt as it stands. */
#pragma once
#include <jansson.h>

struct buffer;

/* examples: strings, or objects with the caller's words ("user",
 * "Conversation History") and an answer ("assistant", "Dialogue Response"). */
void phrase_write(struct buffer *out, const char *prompt,
		  const json_t *examples, const char *user_text);
