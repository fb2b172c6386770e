/* SPDX-License-Identifier: MIT */
/* core/addr.h - an IPv4 or IPv6 address with a port. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <netinet/in.h>
#include "core/slice.h"

struct addr {
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	};
};

enum { ADDR_TEXT_SIZE = 64 };

/* ip is a literal, IPv6 with or without brackets. 0 or -EINVAL. */
int addr_parse(struct addr *out, struct slice ip, uint16_t port);
uint16_t addr_port(const struct addr *addr);
void addr_set_port(struct addr *addr, uint16_t port);
socklen_t addr_size(const struct addr *addr);
bool addr_is_same(const struct addr *a, const struct addr *b); /* ip, port */
bool addr_is_same_host(const struct addr *a, const struct addr *b);
bool addr_is_any(const struct addr *addr); /* 0.0.0.0 or :: */
bool addr_is_loopback(const struct addr *addr);
/* ::ffff:192.0.2.1, as a dual-stack socket has it, as 192.0.2.1. */
struct addr addr_unmapped(const struct addr *addr);
/* "192.0.2.1" or "2001:db8::1": no brackets, no port. */
const char *addr_ip(const struct addr *addr, char out[ADDR_TEXT_SIZE]);
/* "192.0.2.1:5061" or "[2001:db8::1]:5061". */
const char *addr_text(const struct addr *addr, char out[ADDR_TEXT_SIZE]);
/* CIDR "10.0.0.0/8" or a bare address. -EINVAL: not one; 1: inside; 0: not. */
int addr_in_network(const struct addr *addr, struct slice cidr);
