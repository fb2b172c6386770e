/* SPDX-License-Identifier: MIT */
/* core/id.h - identifiers from libsodium's generator. A test that wants the
 * same ids each time installs its own randombytes implementation. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/slice.h"

enum { ID_UUID_SIZE = 37 };

/* Version 4, lower case (RFC 9562, 5.4). */
void id_uuid(char out[ID_UUID_SIZE]);
bool id_is_uuid(struct slice text); /* lower or upper case hex */
/* n characters of [A-Za-z0-9_-] and a NUL: out holds n + 1. */
void id_token(char *out, size_t n);
/* n characters of [a-z0-9] and a NUL, for SIP tags, branches and CNAMEs. */
void id_word(char *out, size_t n);
uint32_t id_random(uint32_t below); /* uniform in [0, below) */
void id_bytes(void *out, size_t n);
