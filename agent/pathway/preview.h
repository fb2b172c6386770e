/* SPDX-License-Identifier: MIT */
/* agent/pathway/preview.h - the beginning of a long value, for events. */
#pragma once
#include <jansson.h>
#include <stddef.h>

/* At most max bytes of text, cut between characters, and "…" when cut. The
 * caller owns it. */
json_t *preview_text(const char *text, size_t max);
