/* SPDX-License-Identifier: MIT */
#include "sip/request.h"
#include <assert.h>
#include <errno.h>
#include "core/log.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/client_transaction.h"
#include "sip/login.h"
#include "sip/ua_priv.h"

/* CONNECTING --link--> SENT --challenge--> SENT again --final--> DONE
 * CONNECTING --none--> DONE, SENT --transaction over--> DONE
 * SENT --503, or no answer at all--> MOVING --other address--> SENT
 * MOVING --there is none: what the last one gave--> DONE
 * Opened with nothing that can be sent: FAILED --next turn--> DONE */
enum state { CONNECTING, SENT, MOVING, FAILED, DONE };

enum { SILENT_S = 30 }; /* others are tried before a peer that is */

static const unsigned followers[] = {
	[CONNECTING] = 1 << SENT | 1 << FAILED | 1 << DONE,
	[SENT] = 1 << SENT | 1 << MOVING | 1 << FAILED | 1 << DONE,
	[MOVING] = 1 << SENT | 1 << FAILED | 1 << DONE,
	[FAILED] = 1 << DONE,
	[DONE] = 0,
};

/* From one of the trunk's addresses to the next. */
struct move {
	struct sip_tried tried; /* by this request */
	struct addr peer; /* of the last one sent */
	struct sip_message *refusal; /* owned: its 503; or NULL */
	int err; /* without refusal: how it was lost */
	bool has_answer; /* a provisional one came from it */
	bool is_ringing; /* above 100: somebody has been reached */
};

struct sip_request {
	struct ua *ua; /* borrowed: outlives us */
	struct dialog *dialog; /* borrowed: outlives us */
	const struct sip_request_login *login; /* borrowed: outlives us */
	const struct sip_request_events *events;
	void *owner; /* borrowed: closes us */
	struct sip_connect *connect; /* owned, in CONNECTING, MOVING */
	struct client_transaction *transaction; /* owned, from SENT */
	struct client_transaction *cancel; /* owned */
	struct timer *timer; /* owned: FAILED tells on the next turn */
	struct buffer headers;
	struct buffer body;
	struct buffer authorization; /* lines for the challenges so far */
	struct login credentials;
	struct move move;
	bool is_canceled;
	enum sip_method method;
	enum state state;
	uint32_t cseq;
};

static void enter(struct sip_request *r, enum state next)
{
	assert(followers[r->state] & 1u << next);
	r->state = next;
}

static void tell_failure(struct sip_request *r, int err, const char *why)
{
	struct sip_request_failure failure = { .err = err,
					       .why = why,
					       .was_sent = r->state == SENT ||
							   r->state == MOVING };

	enter(r, DONE);
	r->events->on_failed(r->owner, &failure);
}

static void on_failed_timer(void *arg)
{
	tell_failure(arg, -EINVAL, "the request could not be written");
}

static void on_response(void *owner, struct sip_message *response);
static void on_over(void *owner, int err);

static const struct client_transaction_events transaction_events = {
	.on_response = on_response,
	.on_over = on_over,
};

static void write_text(const struct sip_request *r, struct buffer *out,
		       const char *branch, const struct sip_link *link)
{
	struct buffer headers;

	buffer_init(&headers, SIP_MESSAGE_MAX_BYTES);
	buffer_add(&headers, buffer_slice(&r->authorization));
	buffer_add(&headers, buffer_slice(&r->headers));
	dialog_write(
		r->dialog, out,
		&(struct dialog_request){ .method = r->method,
					  .cseq = r->cseq,
					  .branch = branch,
					  .sent_by = sip_link_sent_by(link),
					  .user_agent = r->ua->user_agent,
					  .headers = buffer_slice(&headers),
					  .body = buffer_slice(&r->body) });
	if (buffer_error(&headers))
		out->error = buffer_error(&headers);
	buffer_reset(&headers);
}

/* A new transaction with a new branch over the dialog's link. */
static void send_again(struct sip_request *r)
{
	char branch[SIP_BRANCH_SIZE];
	struct sip_link *link = r->dialog->link;
	struct buffer text;

	client_transaction_close(&r->transaction);
	r->move.has_answer = r->move.is_ringing = false;
	sip_link_peer(link, &r->move.peer);
	transactions_branch(branch);
	buffer_init(&text, SIP_MESSAGE_MAX_BYTES);
	write_text(r, &text, branch, link);
	if (!buffer_error(&text))
		r->transaction = client_transaction_open(
			&r->ua->transactions, link, buffer_slice(&text),
			&transaction_events, r);
	buffer_reset(&text);
	if (r->transaction) {
		enter(r, SENT);
		return;
	}
	enter(r, FAILED);
	timer_start(r->timer, 0, on_failed_timer, r);
}

static void send_new(struct sip_request *r)
{
	r->cseq = ++r->dialog->local_cseq;
	send_again(r);
}

static void on_connected(void *owner, struct sip_link *link, int err,
			 const char *why)
{
	struct sip_request *r = owner;

	r->connect = NULL;
	if (!link) {
		tell_failure(r, err, why); /* last */
		return;
	}
	r->dialog->link = link;
	send_new(r);
}

/* ---- the next address (RFC 3263, 4.3) ---- */

static const char *loss_text(int err)
{
	return err == -ETIMEDOUT ? "no answer within 32 s"
				 : "the connection was lost";
}

/* No other address took it: its owner hears what the last one gave. */
static void give_up(struct sip_request *r)
{
	struct sip_message *refusal = r->move.refusal;

	if (!refusal) {
		tell_failure(r, r->move.err, loss_text(r->move.err)); /* last */
		return;
	}
	r->move.refusal = NULL;
	enter(r, DONE);
	r->events->on_response(r->owner, refusal); /* last for r */
	sip_message_unref(&refusal);
}

static void on_moved(void *owner, struct sip_link *link, int err,
		     const char *why)
{
	struct sip_request *r = owner;

	r->connect = NULL;
	if (!link) {
		give_up(r); /* last */
		return;
	}
	sip_message_unref(&r->move.refusal);
	/* The same request but for its branch. Credentials were for a nonce
	 * of the other server's: this one may ask for its own. */
	login_reset(&r->credentials);
	buffer_clear(&r->authorization);
	r->dialog->link = link;
	send_again(r);
}

/* Only what begins a dialog: inside one there is one peer. */
static bool may_move(const struct sip_request *r)
{
	return r->state == SENT && !r->dialog->id.remote_tag &&
	       !r->is_canceled && !r->move.is_ringing &&
	       r->move.tried.n < SIP_TRIED_MAX;
}

static void move_on(struct sip_request *r)
{
	struct sip_target target;
	char from[ADDR_TEXT_SIZE];

	r->move.tried.addresses[r->move.tried.n++] = r->move.peer;
	client_transaction_close(&r->transaction);
	enter(r, MOVING);
	if (dialog_hop(r->dialog, &target)) {
		give_up(r); /* last */
		return;
	}
	log_info("sip", r->dialog->id.call_id,
		 "%s: %s; the next address is tried",
		 addr_text(&r->move.peer, from),
		 r->move.refusal ? "503" : loss_text(r->move.err));
	r->connect = sip_transport_connect_next(r->ua->transport, &target,
						&r->move.tried, on_moved, r);
}

/* Seconds; 0: none were named. What follows the number is for people. */
static uint32_t retry_after(const struct sip_message *response)
{
	const struct sip_header *header =
		sip_message_header(response, SIP_H_RETRY_AFTER, 0);
	uint64_t seconds = 0;
	size_t n = 0;

	while (header && n < header->value.len && header->value.ptr[n] >= '0' &&
	       header->value.ptr[n] <= '9')
		n++;
	if (!n || slice_to_u64(&seconds, slice_make(header->value.ptr, n),
			       UINT32_MAX))
		return 0;
	return (uint32_t)seconds;
}

/* True: the 503 is not the owner's to see yet. */
static bool take_overload(struct sip_request *r, struct sip_message *response)
{
	uint32_t seconds = retry_after(response);

	if (seconds)
		sip_transport_avoid(r->ua->transport, &r->move.peer, seconds);
	if (!may_move(r))
		return false;
	r->move.refusal = sip_message_ref(response);
	move_on(r); /* last */
	return true;
}

/* ---- challenges ---- */

/* True: the challenge was answered with another try. */
static bool take_challenge(struct sip_request *r,
			   const struct sip_message *response)
{
	struct digest_request about = {
		.method = sip_method_name(r->method),
		.uri = dialog_request_uri(r->dialog),
	};

	/* The password is the trunk's: nobody else's challenge is answered,
	 * whatever link the dialog has come to use. */
	if (!r->login || !r->login->username || !r->dialog->link ||
	    !sip_link_is_at(r->dialog->link, &r->dialog->trunk) ||
	    !login_take(&r->credentials, response))
		return false;
	about.username = r->login->username;
	about.password = r->login->password ? r->login->password : "";
	login_write(&r->credentials, &r->authorization, &about);
	send_new(r);
	return true;
}

static void on_response(void *owner, struct sip_message *response)
{
	struct sip_request *r = owner;
	int status = response->start.status;
	bool is_success = status >= 200 && status < 300;

	r->move.has_answer = true;
	if (status == 503 && take_overload(r, response))
		return;
	r->move.is_ringing = r->move.is_ringing || status > 100;
	if ((status == 401 || status == 407) && take_challenge(r, response))
		return;
	if (status >= 200 && !(is_success && r->method == SIP_INVITE))
		enter(r, DONE);
	r->events->on_response(r->owner, response); /* last */
}

static void on_over(void *owner, int err)
{
	struct sip_request *r = owner;

	/* Else each call after this one would wait as long. */
	if (err == -ETIMEDOUT && r->method == SIP_INVITE && r->dialog->link)
		sip_link_retire(r->dialog->link);
	if (err && may_move(r) && !r->move.has_answer) {
		sip_transport_avoid(r->ua->transport, &r->move.peer, SILENT_S);
		r->move.err = err;
		move_on(r); /* last */
		return;
	}
	if (err) {
		tell_failure(r, err, loss_text(err));
		return;
	}
	enter(r, DONE);
	if (r->events->on_over)
		r->events->on_over(r->owner); /* last */
}

static void start(struct sip_request *r)
{
	struct sip_target target;

	if (r->dialog->link) {
		send_new(r);
		return;
	}
	if (dialog_hop(r->dialog, &target)) {
		enter(r, FAILED);
		timer_start(r->timer, 0, on_failed_timer, r);
		return;
	}
	r->connect = sip_transport_connect(r->ua->transport, &target,
					   on_connected, r);
}

struct sip_request *sip_request_open(struct ua *ua,
				     const struct sip_request_options *options,
				     const struct sip_request_events *events,
				     void *owner)
{
	struct sip_request *r = mem_new(sizeof(*r));

	*r = (struct sip_request){ .ua = ua,
				   .dialog = options->dialog,
				   .login = options->login,
				   .events = events,
				   .owner = owner,
				   .timer = timer_new(ua->loop),
				   .method = options->method,
				   .state = CONNECTING };
	buffer_init(&r->headers, SIP_MESSAGE_MAX_BYTES);
	buffer_init(&r->body, SIP_MESSAGE_MAX_BYTES);
	buffer_init(&r->authorization, SIP_MESSAGE_MAX_BYTES);
	buffer_add(&r->headers, options->headers);
	buffer_add(&r->body, options->body);
	start(r);
	return r;
}

void sip_request_close(struct sip_request **request)
{
	struct sip_request *r = *request;

	if (!r)
		return;
	*request = NULL;
	sip_connect_cancel(&r->connect);
	client_transaction_close(&r->transaction);
	client_transaction_close(&r->cancel);
	timer_close(&r->timer);
	sip_message_unref(&r->move.refusal);
	buffer_reset(&r->headers);
	buffer_reset(&r->body);
	buffer_reset(&r->authorization);
	login_reset(&r->credentials);
	mem_free(r);
}

uint32_t sip_request_cseq(const struct sip_request *request)
{
	return request->cseq;
}

static void on_cancel_response(void *owner, struct sip_message *response)
{
	struct sip_request *r = owner;

	if (response->start.status >= 200)
		client_transaction_close(&r->cancel);
}

static void on_cancel_over(void *owner, int err)
{
	struct sip_request *r = owner;

	client_transaction_close(&r->cancel);
}

int sip_request_cancel(struct sip_request *request, struct slice headers)
{
	static const struct client_transaction_events cancel_events = {
		.on_response = on_cancel_response,
		.on_over = on_cancel_over,
	};

	request->login = NULL;
	request->is_canceled = true;
	if (request->state != SENT)
		return -ENOTCONN;
	if (!client_transaction_is_proceeding(request->transaction))
		return -EAGAIN;
	if (!request->cancel)
		request->cancel = client_transaction_cancel(
			request->transaction, headers, &cancel_events, request);
	return 0;
}

char *sip_request_ack(const struct sip_request *request,
		      const struct dialog *dialog, struct slice body)
{
	char branch[SIP_BRANCH_SIZE];
	struct buffer text;

	if (!dialog->link)
		return NULL;
	transactions_branch(branch);
	buffer_init(&text, SIP_MESSAGE_MAX_BYTES);
	dialog_write(dialog, &text,
		     &(struct dialog_request){
			     .method = SIP_ACK,
			     .cseq = request->cseq,
			     .branch = branch,
			     .sent_by = sip_link_sent_by(dialog->link),
			     .user_agent = request->ua->user_agent,
			     .headers = buffer_slice(&request->authorization),
			     .body = body });
	if (!buffer_error(&text))
		ua_send(request->ua, dialog->link, buffer_slice(&text));
	else
		buffer_reset(&text);
	return text.ptr ? buffer_take(&text) : NULL;
}
