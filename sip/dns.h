/* SPDX-License-Identifier: MIT */
/* sip/dns.h - one conversation with the DNS by c-ares on the loop: one question
 * at a time, answers posted. It belongs to one locate_query, so that giving up
 * is closing it. Real loops only. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "core/addr.h"

struct dns;
struct loop;

struct dns_srv {
	char host[256];
	uint16_t port;
	uint16_t priority;
	uint16_t weight;
};

enum { DNS_MAX_RECORDS = 16 };

/* An answer; records are valid during the callback, which may close the dns.
 * err: -ENOENT no such name or record, -ETIMEDOUT, -ECONNREFUSED, -EIO. */
struct dns_events {
	/* srv_name: where to ask for SRV, of the best record for SIPS+D2T. */
	void (*on_naptr)(void *owner, int err, const char *srv_name);
	void (*on_srv)(void *owner, int err, struct dns_srv *records, size_t n);
	void (*on_addresses)(void *owner, int err, const struct addr *addresses,
			     size_t n);
};

/* servers "127.0.0.1:5353", or NULL: the system's. */
int dns_open(struct dns **out, struct loop *loop, const char *servers,
	     const struct dns_events *events, void *owner);
void dns_close(struct dns **dns); /* no callback after; NULL is fine */
/* RFC 3263, 4.1, for one who speaks TLS over TCP and nothing else: records of
 * other services are passed over. */
void dns_ask_naptr(struct dns *dns, const char *host);
void dns_ask_srv(struct dns *dns, const char *name);
void dns_ask_addresses(struct dns *dns, const char *host, uint16_t port);

/* In the order of RFC 2782: by priority, then drawn by weight. random gives
 * a number in [0, below). */
typedef uint32_t dns_random_fn(uint32_t below);
void dns_srv_order(struct dns_srv *records, size_t n, dns_random_fn *random);
