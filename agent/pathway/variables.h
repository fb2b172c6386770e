/* SPDX-License-Identifier: MIT */
/* agent/pathway/variables.h - what one conversation knows: its own variables,
 * by name without regard to case, and the built-in ones, worked out when they
 * are asked for: now, now_utc, today, timestamp, timezone, call_id, short_from,
 * short_to, lastUserMessage, prevNodePrompt. An own variable of such a name
 * comes first. */
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include "core/slice.h"

struct loop;
struct variables;

struct variables_options {
	struct loop *loop; /* borrowed: outlives us */
	const json_t *initial; /* object or NULL; copied */
	const char *call_id; /* may be NULL */
	const char *timezone; /* NULL or unknown: UTC */
};

struct variables *variables_open(const struct variables_options *options);
void variables_close(struct variables **variables);
/* Takes over value's reference. A name that differs only in case from one that
 * is there replaces it. */
void variables_set(struct variables *variables, const char *name,
		   json_t *value);
void variables_remember(struct variables *variables, const char *user_message);
void variables_leave_node(struct variables *variables, const char *prompt);
/* "order.items.0.price" or "order.items[0].price". The caller owns the
 * reference; NULL: unknown. */
json_t *variables_find(const struct variables *variables, struct slice path);
const json_t *variables_json(const struct variables *variables); /* own ones */
/* {modified {name: value}, added {name: value}, removed [names]} since the last
 * call or the opening; NULL when nothing changed. Caller owns it. */
json_t *variables_changes(struct variables *variables);
