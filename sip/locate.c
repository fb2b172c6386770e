/* SPDX-License-Identifier: MIT */
#include "sip/locate.h"
#include <ares.h>
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <sys/queue.h>
#include "core/id.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/dns.h"
#include "sip/lex.h"

enum { LIMIT_MS = 4000, NAME_SIZE = 256, SRV_NAME_SIZE = NAME_SIZE + 16 };

struct locate {
	struct loop *loop; /* borrowed: outlives us */
	struct locate_host *hosts; /* owned, with their text */
	size_t n_hosts;
	char *dns_servers; /* owned; NULL: the system's */
	LIST_HEAD(, locate_query) queries;
};

struct locate_query {
	struct locate *locate; /* borrowed: outlives us */
	locate_done_fn *on_done;
	void *owner;
	struct timer *timer; /* owned: the limit, or 0 ms to deliver */
	struct dns *dns; /* owned; NULL: answered without */
	char host[NAME_SIZE];
	struct dns_srv srv[DNS_MAX_RECORDS];
	size_t n_srv, at_srv;
	struct addr addresses[LOCATE_MAX_ADDRESSES];
	size_t n;
	int err;
	LIST_ENTRY(locate_query) in_queries;
};

int locate_open(struct locate **out, const struct locate_options *options)
{
	struct locate *locate = mem_new(sizeof(*locate));
	size_t i;

	locate->loop = options->loop;
	locate->dns_servers = mem_dup_str(options->dns_servers);
	locate->n_hosts = options->n_hosts;
	locate->hosts =
		mem_new_array(options->n_hosts + 1, sizeof(*locate->hosts));
	for (i = 0; i < options->n_hosts; i++) {
		locate->hosts[i] = options->hosts[i];
		locate->hosts[i].name = mem_dup_str(options->hosts[i].name);
		locate->hosts[i].ip = mem_dup_str(options->hosts[i].ip);
	}
	LIST_INIT(&locate->queries);
	*out = locate;
	if (ares_library_init(ARES_LIB_INIT_ALL) == ARES_SUCCESS)
		return 0;
	locate_close(out);
	return -EIO;
}

void locate_close(struct locate **locate)
{
	struct locate *old = *locate;
	size_t i;

	if (!old)
		return;
	*locate = NULL;
	assert(LIST_EMPTY(&old->queries));
	for (i = 0; i < old->n_hosts; i++) {
		mem_free((char *)old->hosts[i].name);
		mem_free((char *)old->hosts[i].ip);
	}
	mem_free(old->hosts);
	mem_free(old->dns_servers);
	mem_free(old);
	ares_library_cleanup(); /* counted */
}

void locate_cancel(struct locate_query **query)
{
	struct locate_query *old = *query;

	if (!old)
		return;
	*query = NULL;
	LIST_REMOVE(old, in_queries);
	dns_close(&old->dns);
	timer_close(&old->timer);
	mem_free(old);
}

static const char *reason(int err)
{
	switch (err) {
	case 0:
		return "";
	case -EINVAL:
		return "not a host name or address";
	case -ENOENT:
		return "no such host in the DNS";
	case -ETIMEDOUT:
		return "the DNS did not answer in time";
	default:
		return "the DNS failed";
	}
}

static void deliver(void *arg)
{
	struct locate_query *query = arg;
	locate_done_fn *on_done = query->on_done;
	struct addr addresses[LOCATE_MAX_ADDRESSES];
	struct locate_result result = { .addresses = addresses,
					.n_addresses = query->n };
	void *owner = query->owner;

	result.err = query->n ? 0 : query->err;
	result.why = reason(result.err);
	memcpy(addresses, query->addresses, sizeof(addresses));
	log_debug("locate", NULL, "%s: %zu addresses %s", query->host, query->n,
		  result.why);
	locate_cancel(&query);
	on_done(owner, &result);
}

static void on_limit(void *arg)
{
	struct locate_query *query = arg;

	query->err = -ETIMEDOUT;
	deliver(query);
}

/* Of an answer that is known without the DNS. */
static void post(struct locate_query *query, int err)
{
	query->err = err;
	timer_start(query->timer, 0, deliver, query);
}

static void add(struct locate_query *query, const char *ip, uint16_t port)
{
	int err = addr_parse(&query->addresses[query->n], slice_of(ip), port);

	if (!err)
		query->n++;
}

static void add_hosts(struct locate_query *query, uint16_t port)
{
	const struct locate *locate = query->locate;

	for (size_t i = 0; i < locate->n_hosts; i++) {
		const struct locate_host *host = &locate->hosts[i];

		if (query->n == LOCATE_MAX_ADDRESSES ||
		    !slice_eq_nocase(slice_of(host->name),
				     slice_of(query->host)))
			continue;
		add(query, host->ip,
		    port	 ? port
		    : host->port ? host->port
				 : LOCATE_DEFAULT_PORT);
	}
}

/* Asks for the next SRV target's addresses; false: there is none. */
static bool ask_next_target(struct locate_query *query)
{
	while (query->at_srv < query->n_srv &&
	       query->n < LOCATE_MAX_ADDRESSES) {
		const struct dns_srv *srv = &query->srv[query->at_srv++];

		/* "." says that there is no such service (RFC 2782). */
		if (!srv->port || !lex_is_host(slice_of(srv->host)))
			continue;
		dns_ask_addresses(query->dns, srv->host, srv->port);
		return true;
	}
	return false;
}

static void on_naptr(void *owner, int err, const char *srv_name)
{
	struct locate_query *query = owner;
	char usual[SRV_NAME_SIZE];

	if (err == -ETIMEDOUT) {
		query->err = err;
		deliver(query);
		return;
	}
	snprintf(usual, sizeof(usual), "_sips._tcp.%s", query->host);
	dns_ask_srv(query->dns, err ? usual : srv_name);
}

static void on_srv(void *owner, int err, struct dns_srv *records, size_t n)
{
	struct locate_query *query = owner;

	if (err == -ETIMEDOUT) {
		query->err = err;
		deliver(query);
		return;
	}
	if (err) {
		dns_ask_addresses(query->dns, query->host, LOCATE_DEFAULT_PORT);
		return;
	}
	dns_srv_order(records, n, id_random);
	memcpy(query->srv, records, n * sizeof(*records));
	query->n_srv = n;
	query->err = -ENOENT;
	if (!ask_next_target(query))
		deliver(query);
}

static void on_addresses(void *owner, int err, const struct addr *addresses,
			 size_t n)
{
	struct locate_query *query = owner;
	size_t i;

	query->err = err;
	for (i = 0; i < n && query->n < LOCATE_MAX_ADDRESSES; i++)
		query->addresses[query->n++] = addresses[i];
	if (!ask_next_target(query))
		deliver(query);
}

static void ask(struct locate_query *query, uint16_t port)
{
	static const struct dns_events events = {
		.on_naptr = on_naptr,
		.on_srv = on_srv,
		.on_addresses = on_addresses,
	};
	struct locate *locate = query->locate;
	int err = dns_open(&query->dns, locate->loop, locate->dns_servers,
			   &events, query);

	if (err) {
		post(query, err);
		return;
	}
	timer_start(query->timer, LIMIT_MS, on_limit, query);
	if (port)
		dns_ask_addresses(query->dns, query->host, port);
	else
		dns_ask_naptr(query->dns, query->host);
}

struct locate_query *locate_start(struct locate *locate, const char *host,
				  uint16_t port, locate_done_fn *on_done,
				  void *owner)
{
	struct locate_query *query = mem_new(sizeof(*query));
	uint16_t or_default = port ? port : LOCATE_DEFAULT_PORT;

	query->locate = locate;
	query->on_done = on_done;
	query->owner = owner;
	query->timer = timer_new(locate->loop);
	LIST_INSERT_HEAD(&locate->queries, query, in_queries);
	snprintf(query->host, sizeof(query->host), "%s", host);
	add_hosts(query, port);
	if (!query->n)
		add(query, host, or_default);
	if (!query->n && slice_eq_nocase(slice_of(host), SLICE("localhost"))) {
		add(query, "127.0.0.1", or_default);
		if (!loop_is_sim(locate->loop))
			add(query, "::1", or_default);
	}
	if (query->n)
		post(query, 0);
	else if (strlen(host) >= NAME_SIZE || !lex_is_host(slice_of(host)))
		post(query, -EINVAL);
	else if (loop_is_sim(locate->loop))
		post(query, -ENOENT);
	else
		ask(query, port);
	return query;
}
