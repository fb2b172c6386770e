/* SPDX-License-Identifier: MIT */
/* sip/avoided.h - addresses that others are tried before, for a while: they
 * answered 503 with Retry-After, or nobody was there (RFC 3261, 21.5.4; RFC
 * 3263, 4.3). Where there is no other they are still used, because what one
 * customer of a carrier was refused says little about the next. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "core/addr.h"

enum { AVOIDED_MAX = 64, AVOIDED_MAX_S = 3600 };

struct avoided {
	struct {
		struct addr addr;
		uint64_t until_us; /* 0: free */
	} rows[AVOIDED_MAX];
};

/* The one that would be free first makes room; seconds are cut at
 * AVOIDED_MAX_S. Never shortens what was noted. */
void avoided_add(struct avoided *avoided, const struct addr *addr,
		 uint32_t seconds, uint64_t now_us);
bool avoided_has(const struct avoided *avoided, const struct addr *addr,
		 uint64_t now_us);
