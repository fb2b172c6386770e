/* SPDX-License-Identifier: MIT */
/* Any bytes as a message to be kept, in heap memory of exactly their size: what
 * comes out is text that a terminal can show and no login has its credentials
 * in it; the glance at it lies within it. Seeds: corpus/sip_redact. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include "core/mem.h"
#include "sip/lex.h"
#include "sip/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OUT_MAX = 1 << 20 };

static void check_text(struct slice text)
{
	assert(slice_is_utf8(text));
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		assert(c >= ' ' || c == '\r' || c == '\n' || c == '\t');
		assert(c != 0x7f);
	}
}

static void check_line(struct slice line)
{
	struct slice value = line;
	struct slice name = lex_trim(slice_cut(&value, ':'));

	value = lex_trim(value);
	if (!slice_eq_nocase(name, SLICE("Authorization")) &&
	    !slice_eq_nocase(name, SLICE("Proxy-Authorization")))
		return;
	assert(!value.ptr || slice_eq(value, SLICE("...removed")) ||
	       slice_eq(value, SLICE("Digest ...removed")) ||
	       slice_eq(value, SLICE("Bearer ...removed")) ||
	       slice_eq(value, SLICE("Basic ...removed")));
}

static void check_head(struct slice text)
{
	struct slice line;

	do {
		line = lex_trim(slice_cut(&text, '\n'));
		check_line(line);
	} while (line.len && text.ptr);
}

static void check_within(struct slice part, struct slice text)
{
	assert(!part.len || (part.ptr >= text.ptr &&
			     part.ptr + part.len <= text.ptr + text.len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = mem_new(size ? size : 1);
	struct slice text = slice_make(copy, size);
	struct sip_glance glance;
	struct buffer out;

	if (size)
		memcpy(copy, data, size);
	buffer_init(&out, OUT_MAX);
	sip_redact(&out, text);
	if (!buffer_error(&out)) {
		check_text(buffer_slice(&out));
		check_head(buffer_slice(&out));
	}
	sip_glance(&glance, text);
	check_within(glance.start_line, text);
	check_within(glance.method, text);
	check_within(glance.call_id, text);
	check_within(glance.cseq, text);
	buffer_reset(&out);
	mem_free(copy);
	return 0;
}
