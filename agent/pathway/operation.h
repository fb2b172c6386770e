/* SPDX-License-Identifier: MIT */
/* agent/pathway/operation.h - one thing the pathway does beside talking: an
 * event PREFIX.invoke, whose sequence the later ones carry. Prefixes: webhook,
 * tool, var_extraction, loop_condition. All payloads are taken over. */
#pragma once
#include <stdint.h>
#include "agent/pathway/timeline.h"

struct operation {
	struct timeline *timeline; /* borrowed: outlives us */
	const char *prefix; /* static text; NULL: none under way */
	int64_t id; /* sequence of the invoke event */
	uint64_t started_us;
};

/* now_us: loop_now_us(), for operation_ms(). */
void operation_invoke(struct operation *operation, const char *prefix,
		      uint64_t now_us, json_t *payload);
void operation_result(struct operation *operation, json_t *payload);
/* context: more members than message, or NULL. */
void operation_error(struct operation *operation, const char *message,
		     json_t *context);
void operation_warning(struct operation *operation, const char *message,
		       json_t *context);
/* Another part of it: "mapping". */
void operation_part(struct operation *operation, const char *part,
		    json_t *payload);
int64_t operation_ms(const struct operation *operation, uint64_t now_us);
