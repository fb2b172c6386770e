/* SPDX-License-Identifier: MIT */
#include "sip/avoided.h"
#include <stddef.h>

void avoided_add(struct avoided *avoided, const struct addr *addr,
		 uint32_t seconds, uint64_t now_us)
{
	uint64_t until_us;
	size_t at = 0;

	if (seconds > AVOIDED_MAX_S)
		seconds = AVOIDED_MAX_S;
	until_us = now_us + seconds * UINT64_C(1000000);
	for (size_t i = 0; i < AVOIDED_MAX; i++) {
		if (avoided->rows[i].until_us &&
		    addr_is_same(&avoided->rows[i].addr, addr)) {
			at = i;
			break;
		}
		if (avoided->rows[i].until_us < avoided->rows[at].until_us)
			at = i;
	}
	if (avoided->rows[at].until_us &&
	    addr_is_same(&avoided->rows[at].addr, addr) &&
	    avoided->rows[at].until_us > until_us)
		return;
	avoided->rows[at].addr = *addr;
	avoided->rows[at].until_us = until_us;
}

bool avoided_has(const struct avoided *avoided, const struct addr *addr,
		 uint64_t now_us)
{
	for (size_t i = 0; i < AVOIDED_MAX; i++)
		if (avoided->rows[i].until_us > now_us &&
		    addr_is_same(&avoided->rows[i].addr, addr))
			return true;
	return false;
}
