/* SPDX-License-Identifier: MIT */
#include "sip/client_transaction.h"
#include <assert.h>
#include <errno.h>
#include "core/log.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/header.h"

/* INVITE:  CALLING --1xx--> PROCEEDING --2xx--> ACCEPTED --Timer M--> OVER
 *          CALLING, PROCEEDING --300-699: ACK--> OVER
 * others:  TRYING (also after 1xx) --final--> OVER
 * CALLING --Timer B--> FAILED, TRYING --Timer F--> FAILED; a lost link or a
 * failed send ends every state but ACCEPTED in FAILED, which tells the owner
 * on the next turn. Timers D and K are 0 on a reliable transport. */
enum state { CALLING, PROCEEDING, ACCEPTED, TRYING, FAILED, OVER };

enum { KEEP = -1, NONE = -2 }; /* for timeout_ms: leave or stop the timer */

static const struct {
	const char *name;
	int timeout_ms;
	unsigned next; /* a bit for each state that may follow */
} states[] = {
	[CALLING] = { "calling", SIP_TIMEOUT_MS,
		      1 << PROCEEDING | 1 << ACCEPTED | 1 << FAILED |
			      1 << OVER },
	[PROCEEDING] = { "proceeding", NONE,
			 1 << ACCEPTED | 1 << FAILED | 1 << OVER },
	[ACCEPTED] = { "accepted", SIP_TIMEOUT_MS, 1 << OVER },
	[TRYING] = { "trying", SIP_TIMEOUT_MS, 1 << FAILED | 1 << OVER },
	[FAILED] = { "failed", 0, 1 << OVER },
	[OVER] = { "over", NONE, 0 },
};

struct client_transaction {
	struct transactions *layer; /* borrowed: outlives us */
	struct sip_link *link; /* borrowed; NULL once it closed */
	struct link_item on_link;
	const struct client_transaction_events *events;
	void *owner; /* borrowed: closes us */
	struct table_entry entry;
	struct timer *timer; /* owned, armed only by enter() */
	struct sip_message *request; /* owned reference: for ACK, CANCEL */
	enum state state;
	int err; /* of FAILED */
};

static void on_timer(void *arg);

static void enter(struct client_transaction *t, enum state next)
{
	int timeout_ms = states[next].timeout_ms;

	assert(states[t->state].next & 1u << next);
	log_debug("client_transaction", t->entry.key, "%s -> %s",
		  states[t->state].name, states[next].name);
	t->state = next;
	if (timeout_ms >= 0)
		timer_start(t->timer, (uint64_t)timeout_ms, on_timer, t);
	else if (timeout_ms == NONE)
		timer_stop(t->timer);
}

static void fail(struct client_transaction *t, int err)
{
	t->err = err;
	enter(t, FAILED);
}

/* Branches are unique over all our transactions but for CANCEL, which shares
 * that of its INVITE. */
static void key_write(struct buffer *out, const struct sip_message *message)
{
	buffer_init(out, SIP_HEADER_MAX_BYTES);
	buffer_add(out, message->common.via.branch);
	buffer_add_char(out, ' ');
	buffer_add_str(out, sip_method_name(message->start.method));
}

static void send_text(struct client_transaction *t, const struct buffer *text)
{
	int err = buffer_error(text);

	if (!err && t->link)
		err = t->layer->wire->send(t->layer->owner, t->link,
					   buffer_slice(text));
	if (err)
		log_warn("client_transaction", t->entry.key,
			 "request not sent: error %d", err);
}

static void copy_header(struct buffer *out, const struct sip_message *from,
			enum sip_header_id id)
{
	const struct sip_header *header = sip_message_header(from, id, 0);

	if (header)
		sip_header_write(out, slice_of(sip_header_name(id)),
				 header->value);
}

/* ACK of a failed INVITE (17.1.1.3) and CANCEL (9.1) repeat its Request-URI,
 * top Via, Route, From, Call-ID and CSeq number. */
static void derive(struct buffer *out, const struct sip_message *invite,
		   enum sip_method method, const struct sip_message *to_from)
{
	const struct sip_header *route;

	buffer_init(out, SIP_MESSAGE_MAX_BYTES);
	buffer_add_str(out, sip_method_name(method));
	buffer_add_char(out, ' ');
	buffer_add(out, invite->start.target);
	buffer_add_str(out, " SIP/2.0\r\n");
	copy_header(out, invite, SIP_H_VIA);
	buffer_add_str(out, "Max-Forwards: 70\r\n");
	for (unsigned i = 0;
	     (route = sip_message_header(invite, SIP_H_ROUTE, i)); i++)
		sip_header_write(out, SLICE("Route"), route->value);
	copy_header(out, invite, SIP_H_FROM);
	copy_header(out, to_from, SIP_H_TO);
	copy_header(out, invite, SIP_H_CALL_ID);
	sip_header_printf(out, "CSeq", "%u %s", invite->common.cseq,
			  sip_method_name(method));
}

static void ack_failure(struct client_transaction *t,
			const struct sip_message *response)
{
	struct buffer text;

	derive(&text, t->request, SIP_ACK, response);
	buffer_add_str(&text, "Content-Length: 0\r\n\r\n");
	send_text(t, &text);
	buffer_reset(&text);
}

/* The next state of an INVITE that waits, after any answer. */
static enum state after(const struct sip_message *response)
{
	if (response->start.status < 200)
		return PROCEEDING;
	return response->start.status < 300 ? ACCEPTED : OVER;
}

static void on_invite_response(struct client_transaction *t,
			       struct sip_message *response)
{
	enum state next = after(response);

	if (next != t->state)
		enter(t, next);
	if (next == OVER)
		ack_failure(t, response);
	t->events->on_response(t->owner, response); /* last */
}

static void on_timer(void *arg)
{
	struct client_transaction *t = arg;
	int err = t->state == FAILED	 ? t->err
		  : t->state == ACCEPTED ? 0
					 : -ETIMEDOUT;

	enter(t, OVER);
	t->events->on_over(t->owner, err); /* last */
}

struct client_transaction *client_transaction_open(
	struct transactions *layer, struct sip_link *link, struct slice text,
	const struct client_transaction_events *events, void *owner)
{
	struct sip_message *request = NULL;
	const char *why = NULL;
	struct client_transaction *t;
	struct buffer key;
	int err;

	if (sip_message_parse(&request, text, &why)) {
		log_warn("client_transaction", NULL, "request not sent: %s",
			 why ? why : "malformed");
		sip_message_unref(&request);
		return NULL;
	}
	t = mem_new(sizeof(*t));
	*t = (struct client_transaction){ .layer = layer,
					  .link = link,
					  .events = events,
					  .owner = owner,
					  .timer = timer_new(layer->loop),
					  .request = request };
	t->state = request->start.method == SIP_INVITE ? CALLING : TRYING;
	key_write(&key, t->request);
	table_add(&layer->client, &t->entry, buffer_slice(&key), t);
	link_index_add(&layer->client_links, link, &t->on_link, t);
	buffer_reset(&key);
	timer_start(t->timer, SIP_TIMEOUT_MS, on_timer, t);
	err = layer->wire->send(layer->owner, link, text);
	if (err)
		fail(t, err);
	return t;
}

void client_transaction_close(struct client_transaction **transaction)
{
	struct client_transaction *t = *transaction;

	if (!t)
		return;
	*transaction = NULL;
	table_remove(&t->layer->client, &t->entry);
	link_index_remove(&t->layer->client_links, &t->on_link);
	timer_close(&t->timer);
	sip_message_unref(&t->request);
	mem_free(t);
}

struct client_transaction *client_transaction_cancel(
	struct client_transaction *invite, struct slice headers,
	const struct client_transaction_events *events, void *owner)
{
	struct client_transaction *cancel;
	struct buffer text;

	assert(invite->state == PROCEEDING);
	derive(&text, invite->request, SIP_CANCEL, invite->request);
	buffer_add(&text, headers);
	buffer_add_str(&text, "Content-Length: 0\r\n\r\n");
	cancel = client_transaction_open(invite->layer, invite->link,
					 buffer_slice(&text), events, owner);
	buffer_reset(&text);
	return cancel;
}

bool client_transaction_is_proceeding(
	const struct client_transaction *transaction)
{
	return transaction->state == PROCEEDING;
}

struct client_transaction *client_transaction_find(
	const struct transactions *layer, const struct sip_link *link,
	const struct sip_message *response)
{
	struct client_transaction *t;
	struct buffer key;

	key_write(&key, response);
	t = buffer_error(&key) ? NULL
			       : table_find(&layer->client, buffer_slice(&key));
	buffer_reset(&key);
	return t && t->link == link ? t : NULL;
}

void client_transaction_on_response(struct client_transaction *transaction,
				    struct sip_message *response)
{
	struct client_transaction *t = transaction;

	switch (t->state) {
	case CALLING:
	case PROCEEDING:
		on_invite_response(t, response);
		return;
	case ACCEPTED:
		if (after(response) == ACCEPTED)
			t->events->on_response(t->owner, response);
		return;
	case TRYING:
		if (response->start.status >= 200)
			enter(t, OVER);
		t->events->on_response(t->owner, response); /* last */
		return;
	case FAILED:
	case OVER:
		return;
	}
}

void client_transaction_on_link_closed(struct client_transaction *transaction,
				       const struct sip_link *link)
{
	struct client_transaction *t = transaction;

	if (t->link != link)
		return;
	link_index_remove(&t->layer->client_links, &t->on_link);
	t->link = NULL;
	switch (t->state) {
	case CALLING:
	case PROCEEDING:
	case TRYING:
		fail(t, -ECONNRESET);
		return;
	case ACCEPTED:
	case FAILED:
	case OVER:
		return;
	}
}
