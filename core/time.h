/* SPDX-License-Identifier: MIT */
/* core/time.h - wall-clock times as text. */
#pragma once
#include <stdint.h>
#include "core/slice.h"

enum { TIME_TEXT_SIZE = 32 };

/* "2026-01-02T03:04:05.678Z" */
const char *time_write(char out[TIME_TEXT_SIZE], int64_t wall_ms);
/* ISO 8601 with Z or offset, or "YYYY-MM-DD HH:MM:SS [-HH:MM]" (no offset:
 * UTC). 0 or -EINVAL. */
int time_parse(int64_t *wall_ms, struct slice text);
