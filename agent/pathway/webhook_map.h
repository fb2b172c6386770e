/* SPDX-License-Identifier: MIT */
/* agent/pathway/webhook_map.h - responseData: parts of a JSON answer become
 * variables. */
#pragma once
#include <jansson.h>
#include "agent/pathway/variables.h"

/* list: [{name, data: "$.path", context}]. failure NULL: there is an answer.
 * Sets each variable, to null where the path matched nothing or failed. The
 * mappings of event webhook.mapping; the caller owns them. */
json_t *webhook_map(const json_t *list, struct slice body, const char *failure,
		    struct variables *variables);
