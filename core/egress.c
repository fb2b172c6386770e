/* SPDX-License-Identifier: MIT */
#include "core/egress.h"
#include <errno.h>
#include <stddef.h>

enum verdict { NEVER, PRIVATE, LOOPBACK };

/* IANA's special-purpose registries (RFC 6890 and its updates). The first
 * match decides. */
static const struct {
	struct slice network;
	enum verdict verdict;
} ranges[] = {
	{ SLICE("127.0.0.0/8"), LOOPBACK },
	{ SLICE("::1/128"), LOOPBACK },
	/* cloud metadata services */
	{ SLICE("169.254.169.254/32"), NEVER },
	{ SLICE("169.254.170.2/32"), NEVER },
	{ SLICE("100.100.100.200/32"), NEVER },
	{ SLICE("fd00:ec2::254/128"), NEVER },
	{ SLICE("10.0.0.0/8"), PRIVATE },
	{ SLICE("172.16.0.0/12"), PRIVATE },
	{ SLICE("192.168.0.0/16"), PRIVATE },
	{ SLICE("100.64.0.0/10"), PRIVATE },
	{ SLICE("169.254.0.0/16"), PRIVATE },
	{ SLICE("fc00::/7"), PRIVATE },
	{ SLICE("fe80::/10"), PRIVATE },
	{ SLICE("0.0.0.0/8"), NEVER },
	{ SLICE("192.0.0.0/24"), NEVER },
	{ SLICE("192.88.99.0/24"), NEVER },
	{ SLICE("198.18.0.0/15"), NEVER },
	{ SLICE("224.0.0.0/3"), NEVER }, /* multicast, reserved, broadcast */
	{ SLICE("::/96"), NEVER }, /* unspecified, IPv4-compatible */
	{ SLICE("::ffff:0:0/96"), NEVER }, /* mapped */
	{ SLICE("::ffff:0:0:0/96"), NEVER }, /* translated, RFC 2765 */
	{ SLICE("64:ff9b::/96"), NEVER }, /* NAT64 */
	{ SLICE("64:ff9b:1::/48"), NEVER },
	{ SLICE("100::/64"), NEVER },
	{ SLICE("2001::/23"), NEVER }, /* Teredo, ORCHID */
	{ SLICE("2002::/16"), NEVER }, /* 6to4 */
	{ SLICE("fec0::/10"), NEVER },
	{ SLICE("ff00::/8"), NEVER },
};

static int judge(const struct egress *policy, enum verdict verdict)
{
	switch (verdict) {
	case NEVER:
		return -EACCES;
	case PRIVATE:
		return policy->allow_private ? 0 : -EACCES;
	case LOOPBACK:
		return policy->allow_loopback ? 0 : -EACCES;
	}
	return -EACCES;
}

static bool is_mapped(const struct addr *addr)
{
	return addr->sa.sa_family == AF_INET6 &&
	       IN6_IS_ADDR_V4MAPPED(&addr->in6.sin6_addr);
}

int egress_check(const struct egress *policy, const struct addr *addr)
{
	size_t i;

	if (addr->sa.sa_family != AF_INET && addr->sa.sa_family != AF_INET6)
		return -EACCES;
	/* addr_in_network() looks through the mapping; we refuse it. */
	if (is_mapped(addr))
		return -EACCES;
	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (addr_in_network(addr, ranges[i].network) == 1)
			return judge(policy, ranges[i].verdict);
	return 0;
}
