/* SPDX-License-Identifier: MIT */
/* core/config_priv.h - judging single values; config_check.c. */
#pragma once
#include "core/config.h"
#include "core/slice.h"

/* 0, or -EINVAL and what says the key, the value and what would do. */
int config_check(const struct config_key *key, struct slice value,
		 struct buffer *what);
int config_to_number(int64_t *out, struct slice value);
/* on, off, true, false, yes, no */
int config_to_bool(bool *out, struct slice value);
/* The known name with the fewest letters to change. */
const char *config_nearest(const struct config_key *keys, size_t n,
			   struct slice name);
