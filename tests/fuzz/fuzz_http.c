/* SPDX-License-Identifier: MIT */
/* Requests from the network, over heap memory of exactly their size: the head
 * at every length that ends one, its target and headers through percent and
 * range, the body behind it as chunks at two splits. Seeds: corpus/http. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "core/arena.h"
#include "core/buffer.h"
#include "http/chunk.h"
#include "http/head.h"
#include "http/percent.h"
#include "http/range.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BODY_MAX_BYTES = 1000 };

static struct slice exact(struct slice value)
{
	char *copy = malloc(value.len ? value.len : 1);

	if (value.len)
		memcpy(copy, value.ptr, value.len);
	return slice_make(copy, value.len);
}

static void read_percent(struct slice value)
{
	struct slice text = exact(value);
	struct arena *arena = arena_open();
	const char *decoded = percent_decode(arena, text, true);

	assert(!decoded || strlen(decoded) <= text.len);
	assert(!decoded || slice_is_utf8(slice_of(decoded)));
	decoded = percent_decode(arena, text, false);
	assert(!decoded || strlen(decoded) <= text.len);
	arena_close(&arena);
	free((char *)text.ptr);
}

static void read_range(struct slice value)
{
	static const uint64_t sizes[] = { 0, 1, 1000, UINT64_MAX };
	struct slice text = exact(value);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct range range;
		int part = range_parse(&range, text, sizes[i]);

		assert(range.first <= sizes[i]);
		assert(range.n <= sizes[i] - range.first);
		assert(part != 1 || range.n);
	}
	free((char *)text.ptr);
}

static void read_value(struct slice value)
{
	for (size_t i = 0; i < value.len; i++) {
		assert(value.ptr[i] != '\r' && value.ptr[i] != '\n');
		assert(value.ptr[i] != '\0');
	}
	read_percent(value);
	read_range(value);
}

/* One that is taken holds nothing that another reader could see otherwise. */
static void check_head(const struct head *head, struct slice text)
{
	size_t lines = 0;

	for (size_t i = 0; i < text.len; i++)
		lines += text.ptr[i] == '\n';
	assert(lines == head->n_headers + 2);
	assert(head->path.len && head->path.ptr[0] == '/');
	assert(head->method.len);
	assert(!head->is_chunked || !head->content_length);
	assert(head->is_old || head_value(head, "Host").ptr);
	for (size_t i = 0; i < head->n_headers; i++) {
		assert(head->headers[i].name.len && head->headers[i].value.ptr);
		assert(slice_find(head->headers[i].name, ' ') < 0);
		read_value(head->headers[i].value);
	}
	read_value(head->path);
	read_value(head->query);
}

/* is_one: as head_end() measured it; else whatever came. */
static void read_head(struct slice value, bool is_one)
{
	struct slice text = exact(value);
	struct head head;
	const char *why = NULL;
	int err = head_parse(&head, text, &why);

	assert(err <= 0 && (!err || why));
	if (!err && is_one)
		check_head(&head, text);
	free((char *)text.ptr);
}

struct outcome {
	int err;
	size_t left;
	struct chunk_reader reader;
	struct buffer body;
};

/* Each part in memory of its own, with what was not taken before. */
static void read_chunks(struct outcome *out, struct slice text, size_t split)
{
	size_t taken = 0, end = split;

	*out = (struct outcome){ 0 };
	chunk_init(&out->reader);
	buffer_init(&out->body, BODY_MAX_BYTES);
	for (int part = 0; part < 2 && !out->err; part++) {
		struct slice now =
			exact(slice_make(text.ptr + taken, end - taken));
		struct slice in = now;

		out->err = chunk_read(&out->reader, &in, &out->body);
		assert(in.len <= now.len);
		taken = end - in.len;
		end = text.len;
		free((char *)now.ptr);
	}
	out->left = text.len - taken;
}

/* The same however the bytes come. */
static void read_body(struct slice text, size_t split)
{
	struct outcome whole, parts;

	read_chunks(&whole, text, text.len);
	read_chunks(&parts, text, split);
	assert(whole.err == parts.err);
	assert(whole.err || whole.reader.state == parts.reader.state);
	assert(whole.err || whole.left == parts.left);
	assert(whole.err ||
	       slice_eq(buffer_slice(&whole.body), buffer_slice(&parts.body)));
	buffer_reset(&whole.body);
	buffer_reset(&parts.body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = exact(slice_make(data, size));
	long end = head_end(text);

	assert(end <= (long)size);
	read_head(text, false);
	if (end > 0) {
		struct slice body =
			slice_make(text.ptr + end, text.len - (size_t)end);

		read_head(slice_make(text.ptr, (size_t)end), true);
		read_body(body, body.len / 2);
		read_body(body, body.len ? data[0] % body.len : 0);
	} else {
		read_body(text, text.len / 2);
		read_percent(text);
		read_range(text);
	}
	free((char *)text.ptr);
	return 0;
}
