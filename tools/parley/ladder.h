/* SPDX-License-Identifier: MIT */
/* tools/parley/ladder.h - draws the SIP messages of a call, Parley on the left
 * and the peer of each leg on the right. */
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct ladder_style {
	unsigned width; /* of a line, in characters */
	bool has_color;
	bool has_text; /* each message is printed whole, too */
};

/* As wide as the terminal, or 80; colours on a terminal alone. */
struct ladder_style ladder_style_of(FILE *to);
/* data is what GET /v1/calls/{call_id}/sip gives. */
void ladder_print(FILE *to, const json_t *data,
		  const struct ladder_style *style);
