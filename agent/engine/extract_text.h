/* SPDX-License-Identifier: MIT */
/* agent/engine/extract_text.h - the texts callers give: names, e-mail
 * addresses spelt out, telephone numbers, answers. Each writes UTF-8 of less
 * than `size` bytes and returns false when there is none. */
#pragma once
#include "agent/engine/words.h"

enum { EXTRACT_TEXT_SIZE = 400 };

/* "my name is john smith", or a bare "john smith" unless it must be
 * introduced: "John Smith". */
bool extract_person(char *out, size_t size, const struct words *said,
		    bool is_introduced);
/* "john dot smith at example dot com" */
bool extract_email(char *out, size_t size, const struct words *said);
/* All digits in order, "+" kept; at least min_digits of them. */
bool extract_digits(char *out, size_t size, const struct words *said,
		    size_t min_digits);
/* The answer itself, without "um", "it's", "please" around it. */
bool extract_answer(char *out, size_t size, const struct words *said);
/* "at half past three pm": "15:30". */
bool extract_time(char *out, size_t size, const struct words *said);
