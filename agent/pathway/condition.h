/* SPDX-License-Identifier: MIT */
/* agent/pathway/condition.h - the comparisons of responsePathways: values are
 * compared as text unless both are numbers (or text that is one). */
#pragma once
#include <jansson.h>
#include <stdbool.h>

enum condition_op {
	CONDITION_EQ,
	CONDITION_NE,
	CONDITION_GT,
	CONDITION_LT,
	CONDITION_GE,
	CONDITION_LE,
	CONDITION_CONTAINS,
	CONDITION_IS_NULL,
	CONDITION_IS_NOT_NULL
};

/* "==", "is null", ...: any case, spaces at the ends ignored. 0 or -EINVAL. */
int condition_parse(enum condition_op *out, const char *text);
/* value NULL or null: only `is null` and `!=` hold. An array contains what one
 * of its elements equals, an object what one of its keys equals. */
bool condition_holds(const json_t *value, enum condition_op op,
		     const char *compared);
/* For messages: all operators, "==, !=, ...". */
const char *condition_list(void);
