/* SPDX-License-Identifier: MIT */
#include "core/addr.h"
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdio.h>

int addr_parse(struct addr *out, struct slice ip, uint16_t port)
{
	char text[INET6_ADDRSTRLEN];
	struct addr addr;
	bool is_bracketed =
		ip.len > 2 && ip.ptr[0] == '[' && ip.ptr[ip.len - 1] == ']';

	memset(&addr, 0, sizeof(addr));
	if (is_bracketed)
		ip = slice_make(ip.ptr + 1, ip.len - 2);
	if (!ip.len || ip.len >= sizeof(text) || slice_find(ip, '\0') >= 0)
		return -EINVAL;
	memcpy(text, ip.ptr, ip.len);
	text[ip.len] = '\0';
	if (!is_bracketed && inet_pton(AF_INET, text, &addr.in.sin_addr) == 1)
		addr.in.sin_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &addr.in6.sin6_addr) == 1)
		addr.in6.sin6_family = AF_INET6;
	else
		return -EINVAL;
	addr_set_port(&addr, port);
	*out = addr;
	return 0;
}

uint16_t addr_port(const struct addr *addr)
{
	return ntohs(addr->sa.sa_family == AF_INET6 ? addr->in6.sin6_port
						    : addr->in.sin_port);
}

void addr_set_port(struct addr *addr, uint16_t port)
{
	if (addr->sa.sa_family == AF_INET6)
		addr->in6.sin6_port = htons(port);
	else
		addr->in.sin_port = htons(port);
}

socklen_t addr_size(const struct addr *addr)
{
	return addr->sa.sa_family == AF_INET6 ? sizeof(addr->in6)
					      : sizeof(addr->in);
}

/* The address's bytes in network order. */
static struct slice host_bytes(const struct addr *addr)
{
	if (addr->sa.sa_family == AF_INET6)
		return slice_make(&addr->in6.sin6_addr, 16);
	if (addr->sa.sa_family == AF_INET)
		return slice_make(&addr->in.sin_addr, 4);
	return slice_make(NULL, 0);
}

bool addr_is_same(const struct addr *a, const struct addr *b)
{
	return addr_is_same_host(a, b) && addr_port(a) == addr_port(b);
}

bool addr_is_same_host(const struct addr *a, const struct addr *b)
{
	return a->sa.sa_family == b->sa.sa_family &&
	       slice_eq(host_bytes(a), host_bytes(b)) &&
	       (a->sa.sa_family != AF_INET6 ||
		a->in6.sin6_scope_id == b->in6.sin6_scope_id);
}

bool addr_is_any(const struct addr *addr)
{
	static const char zeros[16];
	struct slice host = host_bytes(addr);

	return host.len && memcmp(host.ptr, zeros, host.len) == 0;
}

bool addr_is_loopback(const struct addr *addr)
{
	if (addr->sa.sa_family == AF_INET)
		return ntohl(addr->in.sin_addr.s_addr) >> 24 == 127;
	return addr->sa.sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LOOPBACK(&addr->in6.sin6_addr);
}

struct addr addr_unmapped(const struct addr *addr)
{
	struct addr out = { .in.sin_family = AF_INET };

	if (addr->sa.sa_family != AF_INET6 ||
	    !IN6_IS_ADDR_V4MAPPED(&addr->in6.sin6_addr))
		return *addr;
	out.in.sin_port = addr->in6.sin6_port;
	memcpy(&out.in.sin_addr, &addr->in6.sin6_addr.s6_addr[12], 4);
	return out;
}

const char *addr_ip(const struct addr *addr, char out[ADDR_TEXT_SIZE])
{
	struct slice host = host_bytes(addr);

	if (!host.len ||
	    !inet_ntop(addr->sa.sa_family, host.ptr, out, ADDR_TEXT_SIZE))
		snprintf(out, ADDR_TEXT_SIZE, "unknown");
	return out;
}

const char *addr_text(const struct addr *addr, char out[ADDR_TEXT_SIZE])
{
	char ip[ADDR_TEXT_SIZE];

	addr_ip(addr, ip);
	snprintf(out, ADDR_TEXT_SIZE,
		 addr->sa.sa_family == AF_INET6 ? "[%.45s]:%u" : "%.45s:%u", ip,
		 addr_port(addr));
	return out;
}

int addr_in_network(const struct addr *addr, struct slice cidr)
{
	struct slice ip = slice_cut(&cidr, '/');
	struct slice have = host_bytes(addr), want;
	struct addr network;
	uint64_t bits;
	unsigned left;
	int err;

	err = addr_parse(&network, ip, 0);
	if (err)
		return err;
	want = host_bytes(&network);
	bits = want.len * 8;
	if (cidr.ptr && slice_to_u64(&bits, cidr, bits))
		return -EINVAL;
	/* A peer on a dual-stack socket shows as ::ffff:192.0.2.1. */
	if (want.len == 4 && have.len == 16 &&
	    IN6_IS_ADDR_V4MAPPED(&addr->in6.sin6_addr))
		have = slice_make(have.ptr + 12, 4);
	if (want.len != have.len)
		return 0;
	if (bits / 8 && memcmp(have.ptr, want.ptr, bits / 8) != 0)
		return 0;
	left = bits % 8;
	return !left ||
	       (unsigned char)(have.ptr[bits / 8] ^ want.ptr[bits / 8]) >>
			       (8 - left) ==
		       0;
}
