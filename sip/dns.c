/* SPDX-License-Identifier: MIT */
#include "sip/dns.h"
#include <ares.h>
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <sys/queue.h>
#include "core/mem.h"
#include "core/timer.h"
#include "core/watch.h"

enum {
	QUERY_TIMEOUT_MS = 1000,
	QUERY_TRIES = 2,
	CLASS_IN = 1,
	TYPE_SRV = 33,
	TYPE_NAPTR = 35,
	NAME_SIZE = 256
};

struct dns_socket {
	struct watch *watch; /* owned */
	ares_socket_t fd; /* borrowed: c-ares' own */
	LIST_ENTRY(dns_socket) in_sockets;
};

enum question {
	QUESTION_NONE,
	QUESTION_NAPTR,
	QUESTION_SRV,
	QUESTION_ADDRESSES
};

struct dns {
	struct loop *loop; /* borrowed: outlives us */
	ares_channel channel; /* owned */
	LIST_HEAD(, dns_socket) sockets;
	struct timer *timer; /* owned: c-ares' retries */
	struct timer *post; /* owned: delivers the answer */
	struct dns_events events;
	void *owner;
	enum question question;
	uint16_t port;
	struct {
		int err;
		char srv_name[NAME_SIZE];
		struct dns_srv srv[DNS_MAX_RECORDS];
		struct addr addresses[DNS_MAX_RECORDS];
		size_t n;
	} answer;
};

static void on_timer(void *arg);

static int to_errno(int status)
{
	switch (status) {
	case ARES_SUCCESS:
		return 0;
	case ARES_ENOTFOUND:
	case ARES_ENODATA:
	case ARES_ENONAME:
		return -ENOENT;
	case ARES_ETIMEOUT:
		return -ETIMEDOUT;
	case ARES_ECONNREFUSED:
		return -ECONNREFUSED;
	default:
		return -EIO;
	}
}

/* c-ares is not to be entered from its own callbacks: they note, this tells. */
static void on_post(void *arg)
{
	struct dns *dns = arg;
	enum question question = dns->question;

	dns->question = QUESTION_NONE;
	switch (question) {
	case QUESTION_NAPTR:
		dns->events.on_naptr(dns->owner, dns->answer.err,
				     dns->answer.srv_name);
		return;
	case QUESTION_SRV:
		dns->events.on_srv(dns->owner, dns->answer.err, dns->answer.srv,
				   dns->answer.n);
		return;
	case QUESTION_ADDRESSES:
		dns->events.on_addresses(dns->owner, dns->answer.err,
					 dns->answer.addresses, dns->answer.n);
		return;
	case QUESTION_NONE:
		return;
	}
}

static void arm(struct dns *dns)
{
	struct timeval tv;

	if (!ares_timeout(dns->channel, NULL, &tv)) {
		timer_stop(dns->timer);
		return;
	}
	timer_start(dns->timer,
		    (uint64_t)tv.tv_sec * 1000 + (uint64_t)tv.tv_usec / 1000 +
			    1,
		    on_timer, dns);
}

static void on_timer(void *arg)
{
	struct dns *dns = arg;

	ares_process_fd(dns->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	arm(dns);
}

static void on_ready(void *owner, int fd, int events)
{
	struct dns *dns = owner;

	ares_process_fd(dns->channel,
			events & WATCH_READ ? fd : ARES_SOCKET_BAD,
			events & WATCH_WRITE ? fd : ARES_SOCKET_BAD);
	arm(dns);
}

static struct dns_socket *socket_of(struct dns *dns, ares_socket_t fd)
{
	struct dns_socket *each;

	LIST_FOREACH(each, &dns->sockets, in_sockets)
		if (each->fd == fd)
			return each;
	return NULL;
}

static void on_socket_state(void *arg, ares_socket_t fd, int readable,
			    int writable)
{
	struct dns *dns = arg;
	struct dns_socket *each = socket_of(dns, fd);

	if (!each && (readable || writable)) {
		each = mem_new(sizeof(*each));
		each->fd = fd;
		LIST_INSERT_HEAD(&dns->sockets, each, in_sockets);
		/* Not watchable: c-ares' timeout will tell. */
		watch_open(&each->watch, dns->loop, fd, on_ready, dns);
	}
	if (!each)
		return;
	if (readable || writable) {
		if (each->watch)
			watch_set(each->watch,
				  (readable ? WATCH_READ : 0) |
					  (writable ? WATCH_WRITE : 0));
		return;
	}
	LIST_REMOVE(each, in_sockets);
	watch_close(&each->watch);
	mem_free(each);
}

int dns_open(struct dns **out, struct loop *loop, const char *servers,
	     const struct dns_events *events, void *owner)
{
	struct dns *dns = mem_new(sizeof(*dns));
	struct ares_options options = { .timeout = QUERY_TIMEOUT_MS,
					.tries = QUERY_TRIES,
					.sock_state_cb = on_socket_state,
					.sock_state_cb_data = dns };
	int status;

	dns->loop = loop;
	dns->events = *events;
	dns->owner = owner;
	dns->timer = timer_new(loop);
	dns->post = timer_new(loop);
	status = ares_init_options(&dns->channel, &options,
				   ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
					   ARES_OPT_SOCK_STATE_CB);
	if (status != ARES_SUCCESS)
		dns->channel = NULL;
	else if (servers)
		status = ares_set_servers_ports_csv(dns->channel, servers);
	if (status != ARES_SUCCESS)
		dns_close(&dns);
	*out = dns;
	return status == ARES_SUCCESS ? 0 : -EIO;
}

void dns_close(struct dns **dns)
{
	struct dns *old = *dns;

	if (!old)
		return;
	*dns = NULL;
	if (old->channel)
		ares_destroy(old->channel); /* its callbacks see EDESTRUCTION */
	timer_close(&old->timer);
	timer_close(&old->post);
	mem_free(old);
}

static void begin(struct dns *dns, enum question question)
{
	assert(dns->question == QUESTION_NONE);
	dns->question = question;
	dns->answer.n = 0;
}

static void answered(struct dns *dns, int err)
{
	dns->answer.err = err ? err : dns->answer.n ? 0 : -ENOENT;
	timer_start(dns->post, 0, on_post, dns);
}

static bool is_text(const unsigned char *text, const char *wanted)
{
	return text &&
	       slice_eq_nocase(slice_of((const char *)text), slice_of(wanted));
}

/* Flag "s": the replacement is a name for SRV; a regexp would rewrite the
 * number, which is not ours to do (RFC 3263, 4.1). */
static bool is_for_tls(const struct ares_naptr_reply *record)
{
	return is_text(record->service, "SIPS+D2T") &&
	       is_text(record->flags, "s") &&
	       (!record->regexp || !record->regexp[0]) && record->replacement &&
	       record->replacement[0] &&
	       strlen(record->replacement) < NAME_SIZE;
}

static bool is_before(const struct ares_naptr_reply *a,
		      const struct ares_naptr_reply *b)
{
	return a->order != b->order ? a->order < b->order
				    : a->preference < b->preference;
}

static void on_naptr(void *arg, int status, int timeouts, unsigned char *bytes,
		     int len)
{
	struct dns *dns = arg;
	struct ares_naptr_reply *all = NULL, *each, *best = NULL;

	if (status == ARES_EDESTRUCTION)
		return;
	if (status == ARES_SUCCESS)
		status = ares_parse_naptr_reply(bytes, len, &all);
	for (each = all; each; each = each->next)
		if (is_for_tls(each) && (!best || is_before(each, best)))
			best = each;
	if (best) {
		snprintf(dns->answer.srv_name, NAME_SIZE, "%s",
			 best->replacement);
		dns->answer.n = 1;
	}
	if (all)
		ares_free_data(all);
	answered(dns, to_errno(status));
}

void dns_ask_naptr(struct dns *dns, const char *host)
{
	begin(dns, QUESTION_NAPTR);
	ares_query(dns->channel, host, CLASS_IN, TYPE_NAPTR, on_naptr, dns);
	arm(dns);
}

static void on_srv(void *arg, int status, int timeouts, unsigned char *bytes,
		   int len)
{
	struct dns *dns = arg;
	struct ares_srv_reply *all = NULL, *each;

	if (status == ARES_EDESTRUCTION)
		return;
	if (status == ARES_SUCCESS)
		status = ares_parse_srv_reply(bytes, len, &all);
	for (each = all; each && dns->answer.n < DNS_MAX_RECORDS;
	     each = each->next) {
		struct dns_srv *srv = &dns->answer.srv[dns->answer.n];

		if (strlen(each->host) >= sizeof(srv->host))
			continue;
		*srv = (struct dns_srv){ .port = each->port,
					 .priority = each->priority,
					 .weight = each->weight };
		memcpy(srv->host, each->host, strlen(each->host) + 1);
		dns->answer.n++;
	}
	if (all)
		ares_free_data(all);
	answered(dns, to_errno(status));
}

void dns_ask_srv(struct dns *dns, const char *name)
{
	begin(dns, QUESTION_SRV);
	ares_query(dns->channel, name, CLASS_IN, TYPE_SRV, on_srv, dns);
	arm(dns);
}

static void on_addresses(void *arg, int status, int timeouts,
			 struct ares_addrinfo *info)
{
	struct dns *dns = arg;
	struct ares_addrinfo_node *each;

	if (status == ARES_EDESTRUCTION)
		return;
	for (each = info ? info->nodes : NULL;
	     each && dns->answer.n < DNS_MAX_RECORDS; each = each->ai_next) {
		struct addr *addr = &dns->answer.addresses[dns->answer.n];

		if ((each->ai_family != AF_INET &&
		     each->ai_family != AF_INET6) ||
		    each->ai_addrlen > sizeof(*addr))
			continue;
		*addr = (struct addr){ 0 };
		memcpy(addr, each->ai_addr, each->ai_addrlen);
		addr_set_port(addr, dns->port);
		dns->answer.n++;
	}
	if (info)
		ares_freeaddrinfo(info);
	answered(dns, to_errno(status));
}

void dns_ask_addresses(struct dns *dns, const char *host, uint16_t port)
{
	const struct ares_addrinfo_hints hints = { .ai_family = AF_UNSPEC,
						   .ai_socktype = SOCK_STREAM };

	begin(dns, QUESTION_ADDRESSES);
	dns->port = port;
	ares_getaddrinfo(dns->channel, host, NULL, &hints, on_addresses, dns);
	arm(dns);
}

static void move_to(struct dns_srv *records, size_t from, size_t to)
{
	struct dns_srv moved = records[from];

	memmove(&records[to + 1], &records[to], (from - to) * sizeof(*records));
	records[to] = moved;
}

/* Sorted: lower priority first, weight 0 before others (RFC 2782). */
static void sort(struct dns_srv *records, size_t n)
{
	size_t i, j;

	for (i = 1; i < n; i++) {
		for (j = i; j > 0; j--) {
			const struct dns_srv *a = &records[j - 1];
			const struct dns_srv *b = &records[i];

			if (a->priority < b->priority ||
			    (a->priority == b->priority &&
			     (a->weight == 0 || b->weight != 0)))
				break;
		}
		move_to(records, i, j);
	}
}

/* Of the records from i on with i's priority, the one drawn by weight. */
static size_t draw(const struct dns_srv *records, size_t n, size_t i,
		   dns_random_fn *random)
{
	uint32_t sum = 0, at;
	size_t end;

	for (end = i; end < n && records[end].priority == records[i].priority;
	     end++)
		sum += records[end].weight;
	at = random(sum + 1);
	for (sum = 0; i + 1 < end; i++) {
		sum += records[i].weight;
		if (sum >= at)
			break;
	}
	return i;
}

void dns_srv_order(struct dns_srv *records, size_t n, dns_random_fn *random)
{
	size_t i;

	sort(records, n);
	for (i = 0; i < n; i++)
		move_to(records, draw(records, n, i, random), i);
}
