/* SPDX-License-Identifier: MIT */
/* agent/call/waiters.h - who wants to know of a call's end. Caller's memory,
 * zeroed. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "store/store.h"

enum { WAITERS_MAX = 8 };

struct waiters {
	struct store_reply reply[WAITERS_MAX];
	size_t n;
};

/* False: too many wait already. */
bool waiters_add(struct waiters *waiters, struct store_reply reply);
void waiters_tell(const struct waiters *waiters, int err);
