/* SPDX-License-Identifier: MIT */
/* http/chunk.h - a strict reader of chunked bodies (RFC 9112, 7.1): CRLF after
 * each size and each chunk, extensions short, trailers skipped. */
#pragma once
#include <stdint.h>
#include "core/buffer.h"

struct chunk_reader {
	enum chunk_state {
		CHUNK_SIZE,
		CHUNK_DATA,
		CHUNK_DATA_END,
		CHUNK_TRAILER,
		CHUNK_DONE
	} state;
	uint64_t left; /* bytes of this chunk to come */
	unsigned trailers; /* bytes of trailer lines so far */
};

void chunk_init(struct chunk_reader *reader);
/* Consumes from *in into body. 0: more is needed or done (see state); -400
 * malformed; -413 when body's ceiling is reached. */
int chunk_read(struct chunk_reader *reader, struct slice *in,
	       struct buffer *body);
