/* SPDX-License-Identifier: MIT */
/* sip/locate.h - from a host to the addresses to try, in order (RFC 3263, 4, as
 * far as a TLS-only agent needs it): literals and localhost at once; with a
 * port A and AAAA; without one NAPTR SIPS+D2T, then its SRV or _sips._tcp, else
 * A and AAAA with 5061. The whole takes at most 4 s. */
#pragma once
#include "core/addr.h"

struct locate;
struct locate_query;
struct loop;

/* A name answered without DNS; a simulated loop knows no others. Of several
 * with one name each is an address, in this order. */
struct locate_host {
	const char *name;
	const char *ip;
	uint16_t port; /* where no port is asked for; 0: 5061 */
};

struct locate_options {
	struct loop *loop; /* borrowed: outlives us */
	const struct locate_host *hosts; /* copied */
	size_t n_hosts;
	const char *dns_servers; /* "127.0.0.1:5353"; NULL: the system's */
};

enum { LOCATE_MAX_ADDRESSES = 8, LOCATE_DEFAULT_PORT = 5061 };

struct locate_result {
	int err; /* 0, -ENOENT, -ETIMEDOUT, -ECONNREFUSED, -EINVAL */
	const char *why; /* of err, for people */
	const struct addr *addresses; /* with ports; valid in the callback */
	size_t n_addresses;
};

typedef void locate_done_fn(void *owner, const struct locate_result *result);

int locate_open(struct locate **out, const struct locate_options *options);
void locate_close(struct locate **locate); /* queries: cancel them first */
/* port 0: none was given. on_done runs once, never inside this call; the query
 * is gone then. */
struct locate_query *locate_start(struct locate *locate, const char *host,
				  uint16_t port, locate_done_fn *on_done,
				  void *owner);
void locate_cancel(struct locate_query **query); /* NULL is fine */
