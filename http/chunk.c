/* SPDX-License-Identifier: MIT */
#include "http/chunk.h"

#include "core/hex.h"

enum { LINE_MAX_BYTES = 256, TRAILERS_MAX_BYTES = 4096 };

void chunk_init(struct chunk_reader *reader)
{
	*reader = (struct chunk_reader){ .state = CHUNK_SIZE };
}

/* Takes one line with its CRLF. 1, 0: not complete, or -400. */
static int take_line(struct slice *in, struct slice *line)
{
	ptrdiff_t at = slice_find(*in, '\n');

	if (at < 0)
		return in->len > LINE_MAX_BYTES ? -400 : 0;
	*line = slice_make(in->ptr, (size_t)at);
	if (!line->len || line->len > LINE_MAX_BYTES ||
	    line->ptr[line->len - 1] != '\r')
		return -400;
	line->len--;
	if (slice_find(*line, '\r') >= 0 || slice_find(*line, '\0') >= 0)
		return -400;
	in->len -= (size_t)at + 1;
	in->ptr += at + 1;
	return 1;
}

static int take_size(struct chunk_reader *reader, struct slice *in)
{
	struct slice line, digits;
	uint64_t size = 0;
	int got = take_line(in, &line);

	if (got <= 0)
		return got;
	digits = slice_cut(&line, ';');
	if (!digits.len || digits.len > 8)
		return -400;
	for (size_t i = 0; i < digits.len; i++) {
		int value = hex_value(digits.ptr[i]);

		if (value < 0)
			return -400;
		size = size << 4 | (uint64_t)value;
	}
	reader->left = size;
	reader->state = size ? CHUNK_DATA : CHUNK_TRAILER;
	return 1;
}

static int take_data(struct chunk_reader *reader, struct slice *in,
		     struct buffer *body)
{
	size_t n = in->len < reader->left ? in->len : (size_t)reader->left;

	buffer_add(body, slice_make(in->ptr, n));
	if (buffer_error(body))
		return -413;
	in->ptr += n;
	in->len -= n;
	reader->left -= n;
	if (reader->left)
		return 0;
	reader->state = CHUNK_DATA_END;
	return 1;
}

static int take_data_end(struct chunk_reader *reader, struct slice *in)
{
	if (in->len < 2)
		return in->len && in->ptr[0] != '\r' ? -400 : 0;
	if (in->ptr[0] != '\r' || in->ptr[1] != '\n')
		return -400;
	in->ptr += 2;
	in->len -= 2;
	reader->state = CHUNK_SIZE;
	return 1;
}

static int take_trailer(struct chunk_reader *reader, struct slice *in)
{
	struct slice line;
	int got = take_line(in, &line);

	if (got <= 0)
		return got;
	if (!line.len) {
		reader->state = CHUNK_DONE;
		return 1;
	}
	reader->trailers += (unsigned)line.len;
	if (reader->trailers > TRAILERS_MAX_BYTES)
		return -400;
	/* "name: value": no folded line, no second request. */
	if (slice_find(line, ':') <= 0 || line.ptr[0] == ' ' ||
	    line.ptr[0] == '\t')
		return -400;
	return 1;
}

int chunk_read(struct chunk_reader *reader, struct slice *in,
	       struct buffer *body)
{
	int more = 1;

	while (more > 0) {
		switch (reader->state) {
		case CHUNK_SIZE:
			more = take_size(reader, in);
			break;
		case CHUNK_DATA:
			more = take_data(reader, in, body);
			break;
		case CHUNK_DATA_END:
			more = take_data_end(reader, in);
			break;
		case CHUNK_TRAILER:
			more = take_trailer(reader, in);
			break;
		case CHUNK_DONE:
			return 0;
		}
	}
	return more;
}
