/* SPDX-License-Identifier: MIT */
/* agent/engine/dates.h - calendar dates as people say them. */
#pragma once
#include <stdint.h>
#include "agent/engine/words.h"

enum { DATE_TEXT_SIZE = 16 };

/* "march fifth", "the 3rd of may 2027", "next tuesday", "in two weeks",
 * "2026-03-05", "3/5/2026" (month first, unless that cannot be) as days since
 * 1970-01-01. today_days resolves what is relative; a date without a year is
 * the next one. */
bool date_find(int64_t *out_days, const struct words *words,
	       int64_t today_days);
/* "2026-03-05" */
const char *date_write(char out[DATE_TEXT_SIZE], int64_t days);
