/* SPDX-License-Identifier: MIT */
/* agent/pathway/zone.h - local time in a named zone, read from the system's
 * TZif files (RFC 8536). libc can only do this through the process-wide TZ
 * variable, which other threads read; this touches no global state. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/slice.h"

struct zone;

/* "America/New_York"; NULL or "" is UTC. -ENOENT: no such zone; -EINVAL: not a
 * TZif file of version 2 or later. */
int zone_open(struct zone **out, const char *name);
void zone_close(struct zone **zone);
/* Seconds east of UTC at that time. */
int32_t zone_offset(const struct zone *zone, int64_t unix_seconds);
/* What follows the last entry of a file: "EST5EDT,M3.2.0,M11.1.0". Only the
 * M form of the days is known, which is all that zone files of today use.
 * 0 or -EINVAL. */
int zone_rule_offset(int32_t *out, struct slice rule, int64_t unix_seconds);
