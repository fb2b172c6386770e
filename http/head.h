/* SPDX-License-Identifier: MIT */
/* http/head.h - the head of a request: a strict scan for what request smuggling
 * lives on, then llhttp (RFC 9112). */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/slice.h"

enum { HEAD_MAX_BYTES = 16 * 1024, HEAD_HEADERS_MAX = 100 };

struct head_header {
	struct slice name;
	struct slice value; /* trimmed */
};

/* Slices borrow from the text. */
struct head {
	struct slice method;
	struct slice path; /* up to '?', without "http://host" */
	struct slice query; /* after it */
	struct head_header headers[HEAD_HEADERS_MAX];
	size_t n_headers;
	uint64_t content_length; /* 0 without one; never above 2^30 */
	bool is_chunked;
	bool is_old; /* HTTP/1.0 */
	bool keeps_alive;
	bool expects_continue;
};

/* Length of the head with its blank line, 0: not complete yet, or a negative
 * HTTP status: -431 too long, -400 a line that never ends in CR LF. */
long head_end(struct slice text);
/* text is one head as head_end() measured it. 0 or a negative HTTP status:
 * -400, -414, -501, -505. why is for people. */
int head_parse(struct head *out, struct slice text, const char **why);
/* First header of that name; ptr NULL when absent. */
struct slice head_value(const struct head *head, const char *name);
