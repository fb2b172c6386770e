/* SPDX-License-Identifier: MIT */
/* core/egress.h - which addresses a tenant's URL may reach. Judged on the
 * address that was resolved, when the socket is opened: private, link-local,
 * multicast, metadata, mapped and translated forms are refused. */
#pragma once
#include <stdbool.h>
#include "core/addr.h"

struct egress {
	bool allow_private; /* RFC 1918, 4193, link-local, CGNAT */
	bool allow_loopback;
};

/* 0, or -EACCES. AF_INET and AF_INET6 only. */
int egress_check(const struct egress *policy, const struct addr *addr);
