/* SPDX-License-Identifier: MIT */
/* sip/source_limit.h - how many new calls one source may ask for: a bucket of
 * tokens per address (IPv6: per /64), filled at a steady rate. The table is
 * bounded; the source not heard of for longest makes room. */
#pragma once
#include <stdint.h>
#include "core/addr.h"

struct source_limit;

struct source_limit_options {
	uint32_t per_s; /* 0: no limit */
	uint32_t burst; /* tokens a bucket holds; 0: twice per_s */
	unsigned max_sources; /* 0: 4096 */
};

struct source_limit *source_limit_open(
	const struct source_limit_options *options);
void source_limit_close(struct source_limit **limit);
/* Takes a token: 0, or after how many seconds there will be one. */
uint32_t source_limit_take(struct source_limit *limit, const struct addr *from,
			   uint64_t now_us);
