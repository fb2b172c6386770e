/* SPDX-License-Identifier: MIT */
/* agent/call/phone.h - phone numbers: E.164 inside, tolerant at the door. */
#pragma once
#include "core/slice.h"

enum { PHONE_SIZE = 17 }; /* '+', 15 digits, NUL */

/* "+14155550100"; also 10 digits (+1 before them), 11 digits that start with 1,
 * and separators "-. ()". 0 or -EINVAL. */
int phone_parse(char out[PHONE_SIZE], struct slice text);
/* ISO country of a +1 or other number as far as plans need it: "US", "CA", or
 * "" when unknown. */
const char *phone_country(const char *e164);
