/* SPDX-License-Identifier: MIT */
/* agent/engine/extract.h - variables out of one utterance, by type and by what
 * their name and description ask for. */
#pragma once
#include <jansson.h>
#include <stdint.h>
#include "agent/engine/words.h"

struct extract_question {
	const struct words *said;
	const json_t *wanted; /* [{name, type, description}] */
	const json_t *known; /* variables so far, or NULL */
	int64_t today_days;
};

/* A new object with what was found; the caller json_decref()s. */
json_t *extract_all(const struct extract_question *question);
/* True if the object holds key with something in it. */
bool extract_is_set(const json_t *object, const char *key);
/* user_name, userName: as words "user name". */
void extract_name_text(char *out, size_t size, const char *name);
