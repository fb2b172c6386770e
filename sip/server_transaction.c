/* SPDX-License-Identifier: MIT */
#include "sip/server_transaction.h"
#include <assert.h>
#include <sodium.h>
#include "core/log.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/response.h"

/* INVITE:  PROCEEDING --2xx--> ACCEPTED --our user saw the ACK--> ACKED
 *          ACCEPTED --32 s without ACK--> OVER, on_no_ack
 *          ACKED --Timer L: absorbs the INVITE sent again--> OVER
 *          PROCEEDING --300-699--> COMPLETED --ACK or Timer H--> OVER
 * others:  PROCEEDING --final--> OVER
 * PROCEEDING --the link closed--> LOST --next turn: on_lost--> OVER
 * PROCEEDING --answer too long: 500--> LOST
 * PROCEEDING --others, 20 s: 504--> OVER, on_lost (RFC 3311, 5.2)
 * OVER frees itself on the next turn. Timers I and J are 0 on a reliable
 * transport. */
enum state { PROCEEDING, ACCEPTED, ACKED, COMPLETED, LOST, OVER };

/* Before the Timer F of whoever asks. An answer repeats much of its request:
 * it may be longer than what we take. */
enum {
	NONE = -1,
	ANSWER_WITHIN_MS = 20000,
	ANSWER_MAX_BYTES = 2 * SIP_MESSAGE_MAX_BYTES,
	KEY_MAX_BYTES = 256
};

static const struct {
	const char *name;
	int timeout_ms;
	unsigned next; /* a bit for each state that may follow */
} states[] = {
	[PROCEEDING] = { "proceeding", NONE,
			 1 << ACCEPTED | 1 << COMPLETED | 1 << LOST |
				 1 << OVER },
	[ACCEPTED] = { "accepted", SIP_T1_MS, 1 << ACKED | 1 << OVER },
	[ACKED] = { "acked", SIP_TIMEOUT_MS, 1 << OVER },
	[COMPLETED] = { "completed", SIP_TIMEOUT_MS, 1 << OVER },
	[LOST] = { "lost", 0, 1 << OVER },
	[OVER] = { "over", 0, 0 },
};

struct server_transaction {
	struct transactions *layer; /* borrowed: outlives us */
	struct sip_link *link; /* borrowed; NULL once it closed */
	struct link_item on_link;
	const struct server_transaction_events *events; /* NULL: not lent */
	void *owner; /* borrowed */
	struct table_entry entry;
	struct table_entry merged;
	struct timer *timer; /* owned */
	struct sip_message *request; /* owned reference; NULL once answered */
	struct buffer accepted; /* our 2xx, until its ACK */
	char *tag; /* owned: ours in To */
	uint32_t interval_ms; /* of ACCEPTED: until the next 2xx */
	uint32_t waited_ms;
	enum sip_method method;
	enum state state;
};

static void on_timer(void *arg);

static void enter(struct server_transaction *t, enum state next)
{
	assert(states[t->state].next & 1u << next);
	log_debug("server_transaction", t->entry.key, "%s -> %s",
		  states[t->state].name, states[next].name);
	t->state = next;
	if (states[next].timeout_ms != NONE)
		timer_start(t->timer, (uint64_t)states[next].timeout_ms,
			    on_timer, t);
}

/* A long key, which the peer has made up, becomes its hash: it stays for 32 s
 * after the answer, and there is no limit to how many do. */
static void shorten(struct buffer *key)
{
	unsigned char hash[crypto_generichash_BYTES];

	if (key->len <= KEY_MAX_BYTES || buffer_error(key))
		return;
	crypto_generichash(hash, sizeof(hash), (const unsigned char *)key->ptr,
			   key->len, NULL, 0);
	buffer_clear(key);
	for (size_t i = 0; i < sizeof(hash); i++)
		buffer_printf(key, "%02x", hash[i]);
}

/* 17.2.3: branch, sent-by and method, ACK and CANCEL counting as INVITE;
 * without the cookie of RFC 3261 what RFC 2543 compared. */
static void write_key(struct buffer *out, const struct sip_message *message,
		      enum sip_method method)
{
	const struct sip_via *via = &message->common.via;

	buffer_init(out, 4 * SIP_HEADER_MAX_BYTES);
	buffer_add(out, via->branch);
	buffer_add_char(out, ' ');
	buffer_add(out, via->host);
	buffer_printf(out, ":%u ", via->port);
	if (method == SIP_ACK || method == SIP_CANCEL)
		method = SIP_INVITE;
	buffer_add_str(out,
		       method == SIP_UNKNOWN ? "" : sip_method_name(method));
	/* The cookie alone tells nothing (RFC 4475, 3.2.1). */
	if (slice_has_prefix(via->branch, SLICE("z9hG4bK")) &&
	    via->branch.len > strlen("z9hG4bK"))
		return;
	buffer_add(out, message->common.call_id);
	buffer_add_char(out, ' ');
	buffer_add(out, message->common.from.tag);
	buffer_printf(out, " %u", message->common.cseq);
}

static void key_write(struct buffer *out, const struct sip_message *message,
		      enum sip_method method)
{
	write_key(out, message, method);
	shorten(out);
}

static void merged_key_write(struct buffer *out,
			     const struct sip_message *message)
{
	buffer_init(out, 4 * SIP_HEADER_MAX_BYTES);
	buffer_add(out, message->common.call_id);
	buffer_add_char(out, ' ');
	buffer_add(out, message->common.from.tag);
	buffer_printf(out, " %u %s", message->common.cseq,
		      sip_method_name(message->start.method));
	shorten(out);
}

static void send_slice(struct server_transaction *t, struct slice text)
{
	int err;

	if (!t->link)
		return;
	err = t->layer->wire->send(t->layer->owner, t->link, text);
	if (err)
		log_warn("server_transaction", t->entry.key,
			 "answer not sent: error %d", err);
}

/* Sends the 2xx again, each time after twice the wait, at most T2. False: 32 s
 * have passed. */
static bool send_again(struct server_transaction *t)
{
	t->waited_ms += t->interval_ms;
	if (t->waited_ms >= SIP_TIMEOUT_MS)
		return false;
	send_slice(t, buffer_slice(&t->accepted));
	t->interval_ms *= 2;
	if (t->interval_ms > SIP_T2_MS)
		t->interval_ms = SIP_T2_MS;
	if (t->interval_ms > SIP_TIMEOUT_MS - t->waited_ms)
		t->interval_ms = SIP_TIMEOUT_MS - t->waited_ms;
	timer_start(t->timer, t->interval_ms, on_timer, t);
	return true;
}

/* Ends the loan: the events go back to whoever reports the end with them. */
static const struct server_transaction_events *end_loan(
	struct server_transaction *t)
{
	static const struct server_transaction_events nobody = { 0 };
	const struct server_transaction_events *events = t->events;

	t->events = NULL;
	return events ? events : &nobody;
}

static void on_timer(void *arg)
{
	struct server_transaction *t = arg;
	const struct server_transaction_events *events;

	switch (t->state) {
	case ACCEPTED:
		if (send_again(t))
			return;
		enter(t, OVER);
		events = end_loan(t);
		if (events->on_no_ack)
			events->on_no_ack(t->owner); /* last */
		return;
	case PROCEEDING:
		server_transaction_respond(t, 504, SLICE(""), SLICE(""));
		events = end_loan(t);
		if (events->on_lost)
			events->on_lost(t->owner); /* last */
		return;
	case LOST:
		enter(t, OVER);
		events = end_loan(t);
		if (events->on_lost)
			events->on_lost(t->owner); /* last */
		return;
	case ACKED:
	case COMPLETED:
		enter(t, OVER);
		return;
	case OVER:
		server_transaction_close(t);
		return;
	}
}

struct server_transaction *server_transaction_open(struct transactions *layer,
						   struct sip_link *link,
						   struct sip_message *request,
						   const char *tag)
{
	struct server_transaction *t = mem_new(sizeof(*t));
	struct buffer key;

	*t = (struct server_transaction){ .layer = layer,
					  .link = link,
					  .timer = timer_new(layer->loop),
					  .request = sip_message_ref(request),
					  .tag = mem_dup_str(tag),
					  .interval_ms = SIP_T1_MS,
					  .method = request->start.method,
					  .state = PROCEEDING };
	buffer_init(&t->accepted, ANSWER_MAX_BYTES);
	if (t->method != SIP_INVITE)
		timer_start(t->timer, ANSWER_WITHIN_MS, on_timer, t);
	key_write(&key, request, request->start.method);
	table_add(&layer->server, &t->entry, buffer_slice(&key), t);
	link_index_add(&layer->server_links, link, &t->on_link, t);
	buffer_reset(&key);
	if (!request->common.to.tag.len) {
		merged_key_write(&key, request);
		table_add(&layer->merged, &t->merged, buffer_slice(&key), t);
		buffer_reset(&key);
	}
	return t;
}

void server_transaction_lend(struct server_transaction *transaction,
			     const struct server_transaction_events *events,
			     void *owner)
{
	transaction->events = events;
	transaction->owner = owner;
}

/* What a final answer makes of the transaction. */
static enum state after_final(const struct server_transaction *t, int status)
{
	if (t->method != SIP_INVITE)
		return OVER;
	return status < 300 ? ACCEPTED : COMPLETED;
}

/* Sends response; false: it was too long to be written. */
static bool send_response(struct server_transaction *t, int status,
			  const struct response *response)
{
	struct buffer text;
	bool is_written;

	buffer_init(&text, ANSWER_MAX_BYTES);
	response_write(&text, status, response);
	is_written = !buffer_error(&text);
	if (is_written) {
		send_slice(t, buffer_slice(&text));
		if (t->method == SIP_INVITE && status >= 200 && status < 300)
			buffer_add(&t->accepted, buffer_slice(&text));
	} else {
		log_warn("server_transaction", t->entry.key,
			 "answer %d not written: error %d", status,
			 buffer_error(&text));
	}
	buffer_reset(&text);
	return is_written;
}

void server_transaction_respond(struct server_transaction *transaction,
				int status, struct slice headers,
				struct slice body)
{
	struct server_transaction *t = transaction;
	struct addr peer;
	struct response response = { .request = t->request,
				     .peer = &peer,
				     .tag = status > 100 ? t->tag : NULL,
				     .headers = headers,
				     .body = body };
	enum state next = after_final(t, status);

	if (t->state == LOST || t->state == OVER)
		return;
	assert(t->state == PROCEEDING);
	t->layer->wire->peer(t->link, &peer);
	if (!send_response(t, status, &response) && status >= 200) {
		response.headers = response.body = SLICE("");
		send_response(t, 500, &response);
		next = LOST;
	}
	if (status < 200)
		return;
	enter(t, next);
	sip_message_unref(&t->request);
}

void server_transaction_acked(struct server_transaction *transaction)
{
	if (transaction->state != ACCEPTED)
		return;
	buffer_reset(&transaction->accepted);
	enter(transaction, ACKED);
}

void server_transaction_release(struct server_transaction **transaction)
{
	struct server_transaction *t = *transaction;

	if (!t)
		return;
	assert(t->state != PROCEEDING);
	*transaction = NULL;
	t->events = NULL;
}

struct server_transaction *server_transaction_find(
	const struct transactions *layer, const struct sip_message *request)
{
	struct server_transaction *t;
	struct buffer key;

	key_write(&key, request, request->start.method);
	t = buffer_error(&key) ? NULL
			       : table_find(&layer->server, buffer_slice(&key));
	buffer_reset(&key);
	return t;
}

bool server_transaction_is_merged(const struct transactions *layer,
				  const struct sip_message *request)
{
	struct buffer key;
	bool found;

	merged_key_write(&key, request);
	found = table_find(&layer->merged, buffer_slice(&key));
	buffer_reset(&key);
	return found;
}

bool server_transaction_on_request(struct server_transaction *transaction,
				   const struct sip_message *request)
{
	struct server_transaction *t = transaction;
	bool is_ack = request->start.method == SIP_ACK;

	switch (t->state) {
	case PROCEEDING:
	case LOST:
	case OVER:
		return true;
	case COMPLETED:
		if (is_ack)
			enter(t, OVER);
		return true;
	case ACCEPTED:
	case ACKED:
		return !is_ack;
	}
	return true;
}

static void answer_cancel(struct server_transaction *t, struct sip_link *link,
			  const struct sip_message *cancel, int status)
{
	struct buffer text;
	struct addr peer;
	struct response response = { .request = cancel,
				     .peer = &peer,
				     .tag = t->tag };

	t->layer->wire->peer(link, &peer);
	buffer_init(&text, SIP_MESSAGE_MAX_BYTES);
	response_write(&text, status, &response);
	if (!buffer_error(&text))
		t->layer->wire->send(t->layer->owner, link,
				     buffer_slice(&text));
	buffer_reset(&text);
}

void server_transaction_on_cancel(struct server_transaction *transaction,
				  struct sip_link *link,
				  struct sip_message *cancel)
{
	struct server_transaction *t = transaction;
	const struct server_transaction_events *events;

	/* A branch is no secret to others who share a proxy: the CANCEL has
	 * to come the way its INVITE came. */
	if (t->link != link) {
		answer_cancel(t, link, cancel, 481);
		return;
	}
	answer_cancel(t, link, cancel, 200);
	if (t->state != PROCEEDING)
		return;
	server_transaction_respond(t, 487, SLICE(""), SLICE(""));
	events = end_loan(t);
	if (events->on_cancel)
		events->on_cancel(t->owner, cancel); /* last */
}

void server_transaction_on_link_closed(struct server_transaction *transaction,
				       const struct sip_link *link)
{
	struct server_transaction *t = transaction;

	if (t->link != link)
		return;
	link_index_remove(&t->layer->server_links, &t->on_link);
	t->link = NULL;
	if (t->state == PROCEEDING)
		enter(t, LOST);
}

void server_transaction_close(struct server_transaction *transaction)
{
	struct server_transaction *t = transaction;

	table_remove(&t->layer->server, &t->entry);
	link_index_remove(&t->layer->server_links, &t->on_link);
	table_remove(&t->layer->merged, &t->merged);
	timer_close(&t->timer);
	buffer_reset(&t->accepted);
	sip_message_unref(&t->request);
	mem_free(t->tag);
	mem_free(t);
}
