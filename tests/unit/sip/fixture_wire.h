/* SPDX-License-Identifier: MIT */
/* A wire that keeps what transactions send, on a simulated loop. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "core/buffer.h"
#include "sip/message.h"
#include "sip/transactions.h"

struct wire {
	struct loop *loop;
	struct transactions layer;
	struct buffer sent; /* all of it, one after the other */
	int send_error; /* what the next sends return */
	struct buffer log; /* what the owner was told */
	char link_memory[2]; /* two links: their addresses count only */
};

int wire_setup(void **state); /* *state is the wire */
int wire_teardown(void **state); /* asserts that no transaction is left */
struct sip_link *wire_link(struct wire *wire, int n);
/* Parses text; the caller unrefs. */
struct sip_message *wire_parse(const char *text);
/* What was sent since the last time begins with start; forgets it. "" means
 * nothing was sent. */
#define wire_expect(wire, start) wire_check(wire, start, __FILE__, __LINE__)
void wire_check(struct wire *wire, const char *start, const char *file,
		int line);
#define wire_expect_log(wire, text)                                            \
	do {                                                                   \
		assert_string_equal(buffer_str(&(wire)->log), text);           \
		buffer_clear(&(wire)->log);                                    \
	} while (0)
