/* SPDX-License-Identifier: MIT */
/* One open connection: bytes into messages. */
#include <errno.h>
#include <stdio.h>
#include "core/buffer.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/header.h"
#include "sip/link_life.h"
#include "sip/locate.h"
#include "sip/message_priv.h"
#include "sip/response.h"
#include "sip/transport_priv.h"

enum {
	IN_MAX_BYTES = 4 * SIP_MESSAGE_MAX_BYTES,
	HALF_MESSAGE_MS = 10 * 1000,
	/* Held for one who came to us and does not read: any stranger may, on
	 * many connections. Whom we call may get INVITEs of the whole house. */
	UNREAD_MAX_BYTES = 1024 * 1024,
	WHY_SIZE = 256,
	TAG_SIZE = 13
};

/* UP --the peer ended: what came before is delivered--> ENDING --> gone
 * UP --framing lost: our answer goes out--> BROKEN --> gone */
enum flow_state { FLOW_UP, FLOW_ENDING, FLOW_BROKEN };

struct sip_link_flow {
	enum flow_state state;
	bool is_paused; /* until all that has come is delivered */
	struct buffer in;
	struct timer *limit; /* owned: half a message; BROKEN: its end */
	struct timer *turn; /* owned: the next message, 0 ms */
	struct {
		int err;
		char why[WHY_SIZE];
	} end;
};

static void pump(void *arg);

/* The end */

static void release(struct sip_link *link)
{
	struct sip_link_flow *flow = link->flow;

	LIST_REMOVE(link, in_links);
	link_close(&link->link);
	timer_close(&flow->limit);
	timer_close(&flow->turn);
	sip_link_life_close(link);
	buffer_reset(&flow->in);
}

static void discard(struct sip_link *link)
{
	mem_free(link->flow);
	mem_free(link);
}

void sip_link_close(struct sip_link **link)
{
	release(*link);
	discard(*link);
	*link = NULL;
}

/* Tells the owner; link stays readable until it has been told. */
static void finish(struct sip_link *link)
{
	struct sip_transport *transport = link->transport;
	char name[ADDR_TEXT_SIZE];

	log_debug("sip", NULL, "link %s ended: %s",
		  addr_text(&link->peer, name), link->flow->end.why);
	release(link);
	sip_connects_forget(transport, link);
	transport->events.on_link_closed(transport->owner, link,
					 link->flow->end.err,
					 link->flow->end.why);
	discard(link);
}

static void set_end(struct sip_link *link, int err, const char *why)
{
	if (link->flow->end.why[0])
		return;
	link->flow->end.err = err;
	snprintf(link->flow->end.why, WHY_SIZE, "%s", why);
}

static void on_limit(void *arg)
{
	struct sip_link *link = arg;

	set_end(link, -ETIMEDOUT, "half a message for 10 s");
	finish(link);
}

/* Nothing more is read; what we have queued still goes out. */
static void break_off(struct sip_link *link, int err, const char *why)
{
	struct sip_link_flow *flow = link->flow;

	set_end(link, err, why);
	buffer_clear(&flow->in);
	if (flow->state == FLOW_ENDING)
		return;
	flow->state = FLOW_BROKEN;
	timer_start(flow->limit, HALF_MESSAGE_MS, on_limit, link);
	link_shutdown(link->link);
}

void sip_link_end(struct sip_link *link, int err, const char *why)
{
	set_end(link, err, why);
	finish(link);
}

/* Its end is told on the next turn. */
static void post_end(struct sip_link *link, int err, const char *why)
{
	struct sip_link_flow *flow = link->flow;

	set_end(link, err, why);
	flow->state = FLOW_ENDING;
	buffer_clear(&flow->in);
	timer_start(flow->turn, 0, pump, link);
}

void sip_link_evict(struct sip_link *link, const char *why)
{
	link_close(&link->link);
	timer_stop(link->flow->limit);
	post_end(link, -ETIMEDOUT, why);
}

/* Messages that are none */

static bool is_answerable(const struct sip_message *message)
{
	return message && message->start.method != SIP_ACK;
}

/* Stateless: the request has no transaction (RFC 3261, 8.2.7). */
static void answer(struct sip_link *link, const struct sip_message *message,
		   int status, const char *why)
{
	struct response response = { .request = message, .peer = &link->peer };
	const char *server = link->transport->options.user_agent;
	struct buffer headers, text;
	char tag[TAG_SIZE];

	buffer_init(&headers, 1024);
	buffer_init(&text, 2 * SIP_MESSAGE_MAX_BYTES);
	id_word(tag, TAG_SIZE - 1);
	if (server)
		sip_header_printf(&headers, "Server", "%s", server);
	sip_header_printf(&headers, "Warning", "399 %s \"Bad %s\"",
			  link->sent_by, why);
	response.tag = tag;
	response.headers = buffer_slice(&headers);
	response_write(&text, status, &response);
	if (!buffer_error(&text) && !buffer_error(&headers))
		sip_link_send(link, buffer_slice(&text));
	buffer_reset(&headers);
	buffer_reset(&text);
}

/* Framing is lost: with the answer the link goes too. */
static void reject_stream(struct sip_link *link, int status)
{
	struct slice in = buffer_slice(&link->flow->in);
	size_t head = sip_head_end(in);
	struct sip_message *message = NULL;
	const char *why = NULL;

	link->transport->stats.parse_errors++;
	if (head && head <= SIP_MESSAGE_MAX_BYTES)
		sip_message_parse(&message, slice_make(in.ptr, head), &why);
	if (is_answerable(message))
		answer(link, message, -status, why ? why : "length");
	sip_message_unref(&message);
	break_off(link, -EPROTO, "the peer sent no SIP message");
}

/* Bytes into messages */

/* RFC 5923, 4: the peer asks us to use this connection for our requests. */
static void learn_alias(struct sip_link *link,
			const struct sip_message *message)
{
	const struct sip_via *via = &message->common.via;
	struct slice value;

	if (link->is_accepted && message->start.is_request &&
	    sip_param(via->params, "alias", &value))
		link->alias_port = via->port ? via->port : LOCATE_DEFAULT_PORT;
}

static void take_message(struct sip_link *link, size_t len,
			 struct sip_message **message)
{
	struct sip_link_flow *flow = link->flow;
	struct sip_transport_stats *stats = &link->transport->stats;
	const char *why = NULL;
	int status =
		sip_message_parse(message, slice_make(flow->in.ptr, len), &why);

	buffer_consume(&flow->in, len);
	timer_stop(flow->limit);
	sip_link_life_on_message(link);
	if (!status) {
		stats->messages_in++;
		learn_alias(link, *message);
		return;
	}
	stats->parse_errors++;
	log_debug("sip", NULL, "from %s: %d, bad %s", link_name(link->link),
		  -status, why);
	if (is_answerable(*message))
		answer(link, *message, -status, why);
	sip_message_unref(message);
}

/* One step through what has come; false: no further without more bytes. */
static bool step(struct sip_link *link, struct sip_message **message)
{
	struct slice in = buffer_slice(&link->flow->in);
	bool is_pair;
	ssize_t len;

	if (link->flow->state == FLOW_BROKEN || !in.len)
		return false;
	if (slice_has_prefix(in, SLICE("\r\n"))) {
		is_pair = slice_has_prefix(in, SLICE("\r\n\r\n"));
		sip_link_life_on_crlf(link, is_pair);
		buffer_consume(&link->flow->in, is_pair ? 4 : 2);
		return true;
	}
	if (in.len == 1 && in.ptr[0] == '\r')
		return false;
	len = sip_message_frame(in);
	if (len < 0)
		reject_stream(link, (int)len);
	if (len <= 0)
		return false;
	take_message(link, (size_t)len, message);
	return true;
}

static void pause_reading(struct sip_link *link, bool on)
{
	if (link->flow->is_paused == on)
		return;
	link->flow->is_paused = on;
	if (on)
		link_pause(link->link);
	else
		link_resume(link->link);
}

static void wait_for_more(struct sip_link *link)
{
	struct sip_link_flow *flow = link->flow;

	switch (flow->state) {
	case FLOW_UP:
		if (!flow->in.len)
			timer_stop(flow->limit);
		else if (!timer_is_armed(flow->limit))
			timer_start(flow->limit, HALF_MESSAGE_MS, on_limit,
				    link);
		pause_reading(link, false);
		return;
	case FLOW_ENDING:
		finish(link);
		return;
	case FLOW_BROKEN:
		return;
	}
}

/* One message a turn, because its receiver may do anything with the link. */
static void pump(void *arg)
{
	struct sip_link *link = arg;
	struct sip_transport *transport = link->transport;
	struct sip_message *message = NULL;

	while (!message && step(link, &message))
		;
	if (!message) {
		wait_for_more(link);
		return;
	}
	pause_reading(link, true);
	timer_start(link->flow->turn, 0, pump, link);
	transport->events.on_message(transport->owner, link, message);
	sip_message_unref(&message);
}

static void on_data(void *owner, struct slice data)
{
	struct sip_link *link = owner;
	struct sip_link_flow *flow = link->flow;

	if (flow->state != FLOW_UP)
		return;
	sip_link_life_on_bytes(link);
	buffer_add(&flow->in, data);
	if (buffer_error(&flow->in))
		break_off(link, -EMSGSIZE, "too much at once");
	else if (!timer_is_armed(flow->turn))
		pump(link);
}

static void on_close(void *owner, int err, const char *why)
{
	struct sip_link *link = owner;

	set_end(link, err, why);
	if (link->flow->state == FLOW_UP)
		link->flow->state = FLOW_ENDING;
	if (link->flow->state == FLOW_BROKEN)
		finish(link);
	else if (!timer_is_armed(link->flow->turn))
		pump(link); /* else the turn finds the end by itself */
}

/* What others see */

static void write_sent_by(struct sip_link *link)
{
	const struct sip_transport *transport = link->transport;
	const char *host = transport->options.public_address;
	char ip[ADDR_TEXT_SIZE];
	struct addr local;
	bool is_v6;

	link_local(link->link, &local);
	if (!host[0])
		host = addr_ip(&local, ip);
	is_v6 = strchr(host, ':') && host[0] != '[';
	snprintf(link->sent_by, sizeof(link->sent_by), "%s%s%s:%u",
		 is_v6 ? "[" : "", host, is_v6 ? "]" : "",
		 (unsigned)transport->port);
}

struct sip_link *sip_link_open(struct sip_transport *transport,
			       struct link *link,
			       const struct sip_target *target,
			       unsigned generation)
{
	static const struct link_events events = {
		.on_data = on_data,
		.on_close = on_close,
	};
	struct loop *loop = transport->options.loop;
	struct sip_link *made = mem_new(sizeof(*made));
	struct sip_link_flow *flow = mem_new(sizeof(*flow));

	made->transport = transport;
	made->link = link;
	made->flow = flow;
	made->is_accepted = !target;
	if (target)
		made->target = *target;
	made->generation = generation;
	link_peer(link, &made->peer);
	write_sent_by(made);
	buffer_init(&flow->in, IN_MAX_BYTES);
	flow->limit = timer_new(loop);
	flow->turn = timer_new(loop);
	sip_link_life_open(made);
	LIST_INSERT_HEAD(&transport->links, made, in_links);
	link_attach(link, &events, made);
	return made;
}

bool sip_link_is_up(const struct sip_link *link)
{
	return link->link && link->flow->state == FLOW_UP;
}

static bool is_unread(const struct sip_link *link)
{
	return link->is_accepted &&
	       link_queued_bytes(link->link) > UNREAD_MAX_BYTES;
}

int sip_link_send(struct sip_link *link, struct slice text)
{
	struct sip_link_flow *flow = link->flow;
	int err = -EPIPE;

	if (link->link && flow->state != FLOW_BROKEN)
		err = is_unread(link) ? -ENOBUFS : link_send(link->link, text);
	if (!err) {
		link->transport->stats.messages_out++;
		sip_link_life_on_message(link);
	}
	/* Who reads nothing for that long is not there. */
	if (err == -ENOBUFS)
		post_end(link, err, "the peer does not read");
	return err;
}

void sip_link_retire(struct sip_link *link)
{
	link->generation = tls_generation(link->transport->options.tls) - 1;
}

const char *sip_link_sent_by(const struct sip_link *link)
{
	return link->sent_by;
}

void sip_link_peer(const struct sip_link *link, struct addr *out)
{
	*out = link->peer;
}

bool sip_link_has_peer_name(const struct sip_link *link, struct slice name)
{
	return link->link && link_has_peer_name(link->link, name);
}

bool sip_link_is_at(const struct sip_link *link, const struct sip_target *of)
{
	if (link->is_accepted)
		return sip_link_has_peer_name(link, slice_of(of->host));
	return slice_eq_nocase(slice_of(link->target.host), slice_of(of->host));
}

void sip_link_mark_used(struct sip_link *link)
{
	link->is_used = true;
}
