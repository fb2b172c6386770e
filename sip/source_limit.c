/* SPDX-License-Identifier: MIT */
#include "sip/source_limit.h"
#include <sys/queue.h>
#include "core/mem.h"
#include "sip/table.h"

enum { MAX_SOURCES = 4096, US_PER_S = 1000000 };

struct source {
	struct table_entry entry; /* key: its address */
	TAILQ_ENTRY(source) in_heard;
	uint64_t tokens_us; /* of time: one call costs US_PER_S / per_s */
	uint64_t at_us;
};

struct source_limit {
	struct source_limit_options options;
	struct table sources;
	TAILQ_HEAD(, source) heard; /* the longest ago first */
};

struct source_limit *source_limit_open(
	const struct source_limit_options *options)
{
	struct source_limit *limit = mem_new(sizeof(*limit));
	struct source_limit_options *mine = &limit->options;

	*mine = *options;
	mine->burst = mine->burst ? mine->burst : 2 * mine->per_s;
	mine->max_sources = mine->max_sources ? mine->max_sources : MAX_SOURCES;
	table_init(&limit->sources);
	TAILQ_INIT(&limit->heard);
	return limit;
}

static void forget(struct source_limit *limit, struct source *source)
{
	TAILQ_REMOVE(&limit->heard, source, in_heard);
	table_remove(&limit->sources, &source->entry);
	mem_free(source);
}

void source_limit_close(struct source_limit **limit)
{
	struct source_limit *old = *limit;
	struct source *source;

	if (!old)
		return;
	*limit = NULL;
	while ((source = TAILQ_FIRST(&old->heard)))
		forget(old, source);
	table_reset(&old->sources);
	mem_free(old);
}

/* One host is given a whole /64: its other addresses are the same source. */
static struct slice key_of(char out[ADDR_TEXT_SIZE], const struct addr *from)
{
	struct addr net = *from;

	/* A dual-stack socket shows IPv4 as ::ffff:192.0.2.1: one /64 in all. */
	if (net.sa.sa_family == AF_INET6 &&
	    !IN6_IS_ADDR_V4MAPPED(&net.in6.sin6_addr))
		memset(&net.in6.sin6_addr.s6_addr[8], 0, 8);
	return slice_of(addr_ip(&net, out));
}

static uint64_t full_us(const struct source_limit *limit)
{
	return (uint64_t)limit->options.burst * US_PER_S / limit->options.per_s;
}

static struct source *find(struct source_limit *limit, const struct addr *from,
			   uint64_t now_us)
{
	char text[ADDR_TEXT_SIZE];
	struct slice key = key_of(text, from);
	struct source *source = table_find(&limit->sources, key);

	if (source) {
		TAILQ_REMOVE(&limit->heard, source, in_heard);
	} else {
		if (limit->sources.n >= limit->options.max_sources)
			forget(limit, TAILQ_FIRST(&limit->heard));
		source = mem_new(sizeof(*source));
		source->tokens_us = full_us(limit);
		source->at_us = now_us;
		table_add(&limit->sources, &source->entry, key, source);
	}
	TAILQ_INSERT_TAIL(&limit->heard, source, in_heard);
	return source;
}

uint32_t source_limit_take(struct source_limit *limit, const struct addr *from,
			   uint64_t now_us)
{
	uint64_t cost_us, wait_us;
	struct source *source;

	if (!limit->options.per_s)
		return 0;
	cost_us = US_PER_S / limit->options.per_s;
	source = find(limit, from, now_us);
	source->tokens_us += now_us - source->at_us;
	source->at_us = now_us;
	if (source->tokens_us > full_us(limit))
		source->tokens_us = full_us(limit);
	if (source->tokens_us >= cost_us) {
		source->tokens_us -= cost_us;
		return 0;
	}
	wait_us = cost_us - source->tokens_us;
	return (uint32_t)((wait_us + US_PER_S - 1) / US_PER_S);
}
