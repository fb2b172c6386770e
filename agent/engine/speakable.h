/* SPDX-License-Identifier: MIT */
/* agent/engine/speakable.h - UTF-8 text made plain for an English voice: marks
 * to ASCII, accents dropped, signs to words, the rest to spaces; each byte
 * knows where in the source it ends. */
#pragma once
#include <stddef.h>

struct speakable {
	char *text; /* owned; NUL-terminated ASCII */
	size_t *end; /* owned: source offset behind each byte of text */
	size_t n;
	size_t source_bytes;
};

/* source may be any bytes. Released by speakable_reset(). */
void speakable_init(struct speakable *out, const char *source);
void speakable_reset(struct speakable *speakable);
/* Where the piece that begins at `from` ends: a sentence; a clause of 20 bytes
 * or more when it is the first; never over 300 bytes. */
size_t speakable_piece(const struct speakable *speakable, size_t from);
