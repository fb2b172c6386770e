/* SPDX-License-Identifier: MIT */
#include "http/connection.h"

#include <assert.h>
#include <string.h>
#include "agent/service.h"
#include "core/link.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "http/chunk.h"
#include "http/request_priv.h"
#include "http/sender.h"

enum {
	HEAD_MS = 10 * 1000,
	IDLE_MS = 60 * 1000,
	STALL_MS = 30 * 1000, /* no byte of a body, or none taken by a peer */
	BODY_MS = 300 * 1000, /* however slowly it comes */
	/* A head or a line of a chunked body that is not whole, and what one
	 * read brings: bytes come only while the parser asks for them. */
	IN_MAX_BYTES = 256 * 1024
};

/* IDLE --first byte--> HEAD --blank line--> BODY --last byte--> BUSY
 * BUSY --answer--> SENDING --sent--> IDLE, or LINGERING when it ends here */
enum state { IDLE, HEAD, BODY, BUSY, SENDING, LINGERING };

struct connection {
	struct connection *next; /* the owner's list */
	struct connection_options options;
	struct link *link; /* owned */
	struct sender *sender; /* owned */
	struct timer *timer; /* owned: the state's limit */
	struct timer *turn; /* owned: reads on after an answer */
	struct buffer in; /* bytes not yet understood */
	struct request *request; /* owned until answered */
	struct chunk_reader chunks;
	struct buffer body;
	uint64_t taken; /* by the peer, at the last look */
	enum state state;
	bool keeps_alive; /* after the answer under way */
	bool is_paused;
	bool is_draining;
};

static void on_late(void *arg);
static void read_on(void *arg);

static void enter(struct connection *connection, enum state next)
{
	static const struct {
		uint64_t limit_ms;
		unsigned next;
	} states[] = {
		[IDLE] = { IDLE_MS, 1 << HEAD | 1 << LINGERING },
		[HEAD] = { HEAD_MS, 1 << BODY | 1 << BUSY },
		[BODY] = { STALL_MS, 1 << BUSY },
		[BUSY] = { 0, 1 << SENDING },
		[SENDING] = { STALL_MS, 1 << IDLE | 1 << LINGERING },
		[LINGERING] = { STALL_MS, 0 },
	};

	assert(states[connection->state].next & 1u << next);
	connection->state = next;
	connection->taken = sender_taken(connection->sender);
	timer_stop(connection->timer);
	if (states[next].limit_ms)
		timer_start(connection->timer, states[next].limit_ms, on_late,
			    connection);
}

/* Nothing more is taken from the peer while an answer is awaited or sent, and
 * before what it sent already is understood. An answer given at once costs no
 * pause. */
static void hold(struct connection *connection)
{
	if (connection->is_paused)
		return;
	connection->is_paused = true;
	link_pause(connection->link);
}

static void want_more(struct connection *connection)
{
	if (!connection->in.len)
		buffer_reset(&connection->in);
	if (!connection->is_paused)
		return;
	connection->is_paused = false;
	link_resume(connection->link);
}

/* ---- the end ---- */

void connection_close(struct connection **closing)
{
	struct connection *connection = *closing;

	if (!connection)
		return;
	*closing = NULL;
	if (connection->request && connection->state == BUSY)
		connection->request->connection = NULL; /* lives on */
	else
		request_close(&connection->request);
	sender_close(&connection->sender);
	link_close(&connection->link);
	timer_close(&connection->timer);
	timer_close(&connection->turn);
	buffer_reset(&connection->in);
	buffer_reset(&connection->body);
	mem_free(connection);
}

static void end(struct connection *connection)
{
	connection->options.on_gone(connection->options.owner, connection);
	connection_close(&connection);
}

static void linger(struct connection *connection)
{
	enter(connection, LINGERING);
	link_shutdown(connection->link);
}

static void on_close(void *owner, int err, const char *why)
{
	(void)err;
	(void)why;
	end(owner);
}

void connection_drain(struct connection *connection)
{
	connection->is_draining = true;
	if (connection->request)
		connection->request->head.keeps_alive = false;
	if (connection->state == IDLE)
		linger(connection);
}

/* ---- sending ---- */

static void on_sent(void *owner)
{
	struct connection *connection = owner;

	if (!connection->keeps_alive || connection->is_draining) {
		linger(connection);
		return;
	}
	enter(connection, IDLE);
	if (connection->in.len) {
		hold(connection);
		timer_start(connection->turn, 0, read_on, connection);
	} else {
		want_more(connection);
	}
}

static void on_broken(void *owner)
{
	end(owner);
}

static void on_drain(void *owner)
{
	struct connection *connection = owner;

	sender_go_on(connection->sender);
}

void connection_answer(struct connection *connection, struct request *request,
		       struct answer *answer)
{
	int status = answer->status;

	connection->options.stats->answers_4xx += status / 100 == 4;
	connection->options.stats->answers_5xx += status / 100 == 5;
	if (connection->state != BUSY)
		enter(connection, BUSY); /* refused before its body */
	connection->keeps_alive = answer->keeps_alive;
	connection->request = NULL;
	request_close(&request);
	enter(connection, SENDING);
	sender_send(connection->sender, answer);
	if (connection->state == SENDING)
		hold(connection);
}

/* ---- reading ---- */

static struct request *begin_request(struct connection *connection)
{
	struct request *request =
		request_open(connection, connection->options.service);
	struct addr *peer = arena_new(request->view.arena, sizeof(*peer));

	link_peer(connection->link, peer);
	request->view.peer = peer;
	connection->request = request;
	connection->options.stats->requests++;
	return request;
}

/* Answers a request that was not understood, and ends. */
static void refuse(struct connection *connection, int status, const char *why)
{
	static const struct {
		int status;
		const char *error;
	} names[] = { { 400, "BAD_REQUEST" },	    { 408, "REQUEST_TIMEOUT" },
		      { 413, "CONTENT_TOO_LARGE" }, { 414, "URI_TOO_LONG" },
		      { 431, "HEADER_TOO_LARGE" },  { 501, "NOT_IMPLEMENTED" },
		      { 505, "HTTP_VERSION" } };
	struct request_error what = { .status = status,
				      .error = "BAD_REQUEST",
				      .message = why };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (names[i].status == status)
			what.error = names[i].error;
	}
	if (!connection->request)
		begin_request(connection);
	connection->request->head.keeps_alive = false;
	request_fail(connection->request, &what);
}

static void dispatch(struct connection *connection)
{
	struct buffer body = connection->body;

	buffer_init(&connection->body, 0);
	enter(connection, BUSY);
	request_dispatch(connection->request, buffer_slice(&body));
	buffer_reset(&body);
	if (connection->state == BUSY)
		hold(connection);
}

static void read_chunked(struct connection *connection)
{
	struct slice in = buffer_slice(&connection->in);
	int err = chunk_read(&connection->chunks, &in, &connection->body);

	buffer_consume(&connection->in, connection->in.len - in.len);
	if (err == -413)
		refuse(connection, 413, "The body is too large.");
	else if (err)
		refuse(connection, 400, "The chunked body is malformed.");
	else if (connection->chunks.state == CHUNK_DONE)
		dispatch(connection);
	else
		want_more(connection);
}

static void read_sized(struct connection *connection)
{
	uint64_t length = connection->request->head.content_length;
	size_t want = (size_t)length - connection->body.len;
	size_t have = connection->in.len < want ? connection->in.len : want;

	buffer_add(&connection->body, slice_make(connection->in.ptr, have));
	buffer_consume(&connection->in, have);
	if (have == want)
		dispatch(connection);
	else
		want_more(connection);
}

static void read_body(struct connection *connection)
{
	const struct request *request = connection->request;
	uint64_t now_us = loop_now_us(connection->options.service->loop);

	if (now_us - request->started_us > BODY_MS * UINT64_C(1000)) {
		refuse(connection, 408, "The body took too long.");
		return;
	}
	timer_start(connection->timer, STALL_MS, on_late, connection);
	if (request->head.is_chunked)
		read_chunked(connection);
	else
		read_sized(connection);
}

/* Judges route and key, then turns to the body. */
static void admit(struct connection *connection)
{
	struct request *request = connection->request;
	bool has_body =
		request->head.content_length || request->head.is_chunked;
	size_t max;

	/* A refusal before the body is read ends the connection: what follows
	 * would be taken for the next request. */
	if (!request_admit(request, !has_body))
		return;
	max = request_body_max(request);
	if (request->head.content_length > max) {
		refuse(connection, 413, "The body is too large.");
		return;
	}
	buffer_init(&connection->body, max);
	chunk_init(&connection->chunks);
	if (request->head.expects_continue && has_body && !connection->in.len)
		link_send(connection->link,
			  SLICE("HTTP/1.1 100 Continue\r\n\r\n"));
	enter(connection, BODY);
	read_body(connection);
}

/* Empty lines before a request are no fault (RFC 9112, 2.2). True if a
 * request has begun. */
static bool skip_empty_lines(struct connection *connection)
{
	const struct buffer *in = &connection->in;
	size_t n = 0;

	while (in->len - n >= 2 && !memcmp(in->ptr + n, "\r\n", 2))
		n += 2;
	buffer_consume(&connection->in, n);
	return in->len > 1 || (in->len == 1 && in->ptr[0] != '\r');
}

static void take_head(struct connection *connection, long end_at)
{
	struct request *request = begin_request(connection);
	struct slice text =
		slice_make(connection->in.ptr, end_at > 0 ? (size_t)end_at : 0);
	const char *why = end_at == -431
				  ? "The request head is too long."
				  : "A line of the request head holds NUL or "
				    "does not end in CR LF.";
	int err = (int)-end_at;

	if (end_at > 0) {
		text.ptr = arena_dup(request->view.arena, text);
		err = -head_parse(&request->head, text, &why);
		buffer_consume(&connection->in, text.len);
	}
	if (connection->is_draining)
		request->head.keeps_alive = false;
	if (err)
		refuse(connection, err, why);
	else
		admit(connection);
}

static void read_head(struct connection *connection)
{
	long end_at = 0;

	if (skip_empty_lines(connection)) {
		if (connection->state == IDLE)
			enter(connection, HEAD);
		end_at = head_end(buffer_slice(&connection->in));
	}
	if (end_at)
		take_head(connection, end_at);
	else
		want_more(connection);
}

static void read_on(void *arg)
{
	struct connection *connection = arg;

	switch (connection->state) {
	case IDLE:
	case HEAD:
		read_head(connection);
		break;
	case BODY:
		read_body(connection);
		break;
	case BUSY:
	case SENDING:
	case LINGERING:
		break;
	}
}

static void on_data(void *owner, struct slice data)
{
	struct connection *connection = owner;

	if (connection->state == LINGERING)
		return;
	connection->options.stats->bytes_in += data.len;
	buffer_add(&connection->in, data);
	if (buffer_error(&connection->in)) {
		end(connection);
		return;
	}
	read_on(connection);
}

/* A peer that takes bytes, however slowly, is left alone. */
static void look_at_peer(struct connection *connection)
{
	uint64_t taken = sender_taken(connection->sender);

	if (taken == connection->taken) {
		end(connection);
		return;
	}
	connection->taken = taken;
	timer_start(connection->timer, STALL_MS, on_late, connection);
}

static void on_late(void *arg)
{
	struct connection *connection = arg;

	switch (connection->state) {
	case IDLE:
		linger(connection);
		break;
	case HEAD:
		refuse(connection, 408, "The request head took too long.");
		break;
	case BODY:
		refuse(connection, 408, "The body stopped coming.");
		break;
	case SENDING:
	case LINGERING:
		look_at_peer(connection);
		break;
	case BUSY: /* has no limit */
		break;
	}
}

/* ---- life ---- */

struct connection *connection_open(struct link *link,
				   const struct connection_options *options)
{
	static const struct link_events events = { .on_data = on_data,
						   .on_drain = on_drain,
						   .on_close = on_close };
	static const struct sender_events sending = { on_sent, on_broken };
	struct connection *connection = mem_new(sizeof(*connection));
	struct sender_options sender = { .link = link,
					 .work = options->service->work,
					 .bytes_out =
						 &options->stats->bytes_out,
					 .events = &sending,
					 .owner = connection };

	connection->options = *options;
	connection->link = link;
	connection->sender = sender_open(&sender);
	connection->timer = timer_new(options->service->loop);
	connection->turn = timer_new(options->service->loop);
	buffer_init(&connection->in, IN_MAX_BYTES);
	timer_start(connection->timer, IDLE_MS, on_late, connection);
	link_attach(link, &events, connection);
	return connection;
}

struct connection **connection_next(struct connection *connection)
{
	return &connection->next;
}
