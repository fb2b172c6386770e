/* SPDX-License-Identifier: MIT */
#include "sip/link_life.h"
#include <errno.h>
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/transport_priv.h"

enum { PING_MS = 30 * 1000, PONG_MS = 10 * 1000, UNREAD_MAX_BYTES = 16384 };

#define MINUTES(n) (UINT64_C(n) * 60 * 1000000)

static const uint64_t idle_outgoing_us = MINUTES(5);
static const uint64_t idle_accepted_us = MINUTES(10);
/* A link of an old trust generation serves nobody new. */
static const uint64_t idle_retired_us = 30 * UINT64_C(1000000);
/* Who has just spoken does not make room for a newcomer. */
static const uint64_t busy_us = 10 * UINT64_C(1000000);

struct sip_link_life {
	struct timer *timer; /* owned: the next ping, or the pong's limit */
	uint64_t last_us; /* of the last message, either way */
	bool is_half; /* one CRLF came: a second makes a ping */
	bool is_due; /* we pinged: a pong may come */
	bool is_checked; /* the timer runs to the pong's limit */
	bool is_heard; /* something came since our ping */
	bool is_usual; /* this peer has answered one before */
};

static void on_timer(void *arg);

void sip_link_life_open(struct sip_link *link)
{
	struct loop *loop = link->transport->options.loop;

	link->life = mem_new(sizeof(*link->life));
	link->life->timer = timer_new(loop);
	link->life->last_us = loop_now_us(loop);
	timer_start(link->life->timer, PING_MS, on_timer, link);
}

void sip_link_life_close(struct sip_link *link)
{
	if (!link->life)
		return;
	timer_close(&link->life->timer);
	mem_free(link->life);
	link->life = NULL;
}

void sip_link_life_on_bytes(struct sip_link *link)
{
	link->life->is_heard = true;
}

void sip_link_life_on_message(struct sip_link *link)
{
	link->life->is_half = false;
	link->life->last_us = loop_now_us(link->transport->options.loop);
}

/* Two are a ping, one is a pong. */
void sip_link_life_on_crlf(struct sip_link *link, bool is_pair)
{
	struct sip_link_life *life = link->life;

	if (!is_pair && life->is_due) {
		life->is_due = false;
		life->is_usual = true;
	} else if (is_pair || life->is_half) {
		life->is_half = false;
		/* Who does not read has no use for more of them. */
		if (link_queued_bytes(link->link) < UNREAD_MAX_BYTES)
			link_send(link->link, SLICE("\r\n"));
	} else {
		life->is_half = true;
	}
}

static void ask_who_is_used(struct sip_transport *transport)
{
	if (transport->events.mark_used)
		transport->events.mark_used(transport->owner);
}

static bool is_used(struct sip_link *link)
{
	link->is_used = false;
	ask_who_is_used(link->transport);
	return link->is_used;
}

static uint64_t idle_us(const struct sip_link *link)
{
	return loop_now_us(link->transport->options.loop) - link->life->last_us;
}

/* Why a link that nothing needs has lived for long enough, or NULL. */
static const char *is_spent(const struct sip_link *link)
{
	uint64_t idle = idle_us(link);

	if (link->generation != tls_generation(link->transport->options.tls) &&
	    idle >= idle_retired_us)
		return "retired";
	if (idle >= (link->is_accepted ? idle_accepted_us : idle_outgoing_us))
		return "idle";
	return NULL;
}

static void ping(struct sip_link *link)
{
	link->life->is_due = true;
	link->life->is_heard = false;
	link->life->is_checked = true;
	link_send(link->link, SLICE("\r\n\r\n"));
	timer_start(link->life->timer, PONG_MS, on_timer, link);
}

static void on_timer(void *arg)
{
	struct sip_link *link = arg;
	struct sip_link_life *life = link->life;
	const char *why;
	bool used;

	if (!sip_link_is_up(link))
		return;
	used = is_used(link);
	why = used ? NULL : is_spent(link);
	if (why) {
		sip_link_end(link, 0, why);
		return;
	}
	if (life->is_checked && !life->is_heard && life->is_usual) {
		/* Others never answer and serve well: TCP will tell. */
		sip_link_end(link, -ETIMEDOUT, "no answer to a keepalive");
		return;
	}
	if (!life->is_checked && (used || !link->is_accepted)) {
		ping(link);
		return;
	}
	timer_start(life->timer, life->is_checked ? PING_MS - PONG_MS : PING_MS,
		    on_timer, link);
	life->is_checked = false;
}

void sip_link_life_make_room(struct sip_transport *transport)
{
	struct sip_link *link, *oldest = NULL;

	LIST_FOREACH(link, &transport->links, in_links)
		link->is_used = false;
	ask_who_is_used(transport);
	LIST_FOREACH(link, &transport->links, in_links) {
		if (!link->is_accepted || link->is_used ||
		    !sip_link_is_up(link) || idle_us(link) < busy_us)
			continue;
		if (!oldest || link->life->last_us < oldest->life->last_us)
			oldest = link;
	}
	if (oldest)
		sip_link_evict(oldest, "made room for a newer connection");
}
