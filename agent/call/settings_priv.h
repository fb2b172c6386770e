/* SPDX-License-Identifier: MIT */
/* agent/call/settings_priv.h - the table of a call's settings, between its
 * readers and the checks that hold between fields. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "agent/call/settings.h"

enum setting_where { IN_CALL = 1, IN_NUMBER = 2, IN_BOTH = 3 };

struct setting_rule;

struct setting_check {
	const struct setting_rule *rule;
	struct settings_problem *problem;
};

/* A new reference to the normalised value, or NULL with *problem filled. */
typedef json_t *setting_read_fn(const struct setting_check *check,
				const json_t *value);

struct setting_rule {
	const char *name;
	setting_read_fn *read;
	unsigned where; /* of enum setting_where */
	const char *preset; /* JSON for a call without it; NULL: none */
	const char *wrong; /* NULL: "<name> must be a ..." */
	double min, max; /* of numbers; both 0: any */
	bool is_whole; /* a number without fraction */
};

const struct setting_rule *setting_rules(size_t *n);
