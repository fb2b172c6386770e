/* SPDX-License-Identifier: MIT */
/* sip/lex.h - the small grammar that SIP's parsers share (RFC 3261, 25.1):
 * tokens, quoted strings, comma lists and parameter tails. All of it reads
 * within its slice and moves a cursor only on success. */
#pragma once
#include "core/slice.h"

bool lex_is_token(struct slice text); /* one or more token characters */
bool lex_is_space(char c); /* SP, HT, CR, LF: folded text too */
/* First byte of set outside quoted strings and <...>, or text.len; -EINVAL
 * when a quote or bracket does not close. */
int lex_find(struct slice text, const char *set, size_t *at);
/* Cuts the next element off a comma list, trimmed; false at the end. An
 * element may be empty. Call it on text that lex_find() accepts. */
bool lex_next_element(struct slice *rest, struct slice *element);
/* ";name=value;flag" one by one, quoted values without their quotes (escapes
 * stay). 1: one taken, 0: end, -EINVAL: not a parameter. */
int lex_next_param(struct slice *rest, struct slice *name, struct slice *value);
/* Host or [IPv6] (returned without brackets) and ":port" at the start of *rest
 * or not; spaces around the colon only when loose. 0 or -EINVAL. */
int lex_host_port(struct slice *rest, struct slice *host, uint16_t *port);
bool lex_is_host(struct slice host); /* name of labels, or an IP literal */
struct slice lex_skip(struct slice text, size_t n);
/* Without lex_is_space() bytes at both ends. */
struct slice lex_trim(struct slice text);
