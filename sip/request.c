/* SPDX-License-Identifier: MIT */
#include "sip/request.h"
#include <assert.h>
#include <errno.h>
#include "core/log.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/client_transaction.h"
#include "sip/digest.h"
#include "sip/header.h"
#include "sip/ua_priv.h"

/* CONNECTING --link--> SENT --challenge--> SENT again --final--> DONE
 * CONNECTING --none--> DONE, SENT --transaction over--> DONE
 * Opened with nothing that can be sent: FAILED --next turn--> DONE */
enum state { CONNECTING, SENT, FAILED, DONE };

static const unsigned followers[] = {
	[CONNECTING] = 1 << SENT | 1 << FAILED | 1 << DONE,
	[SENT] = 1 << SENT | 1 << FAILED | 1 << DONE,
	[FAILED] = 1 << DONE,
	[DONE] = 0,
};

/* The peer's server and a proxy before it may both ask (22.3). */
enum { BY_SERVER, BY_PROXY, ASKERS };

struct login_try {
	struct digest_challenge challenge;
	unsigned tries;
};

struct sip_request {
	struct ua *ua; /* borrowed: outlives us */
	struct dialog *dialog; /* borrowed: outlives us */
	const struct sip_request_login *login; /* borrowed: outlives us */
	const struct sip_request_events *events;
	void *owner; /* borrowed: closes us */
	struct sip_connect *connect; /* owned, in CONNECTING */
	struct client_transaction *transaction; /* owned, from SENT */
	struct client_transaction *cancel; /* owned */
	struct timer *timer; /* owned: FAILED tells on the next turn */
	struct buffer headers;
	struct buffer body;
	struct buffer authorization; /* lines for the challenges so far */
	struct login_try logins[ASKERS];
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
					       .was_sent = r->state == SENT };

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

/* A new transaction with the next CSeq over the dialog's link. */
static void send_new(struct sip_request *r)
{
	char branch[SIP_BRANCH_SIZE];
	struct sip_link *link = r->dialog->link;
	struct buffer text;

	client_transaction_close(&r->transaction);
	r->cseq = ++r->dialog->local_cseq;
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

static bool may_try(const struct login_try *login,
		    const struct digest_challenge *challenge)
{
	return login->tries == 0 || (login->tries == 1 && challenge->is_stale);
}

static void write_authorization(struct sip_request *r, struct login_try *login)
{
	struct digest_request about = {
		.username = r->login->username,
		.password = r->login->password ? r->login->password : "",
		.method = sip_method_name(r->method),
		.uri = dialog_request_uri(r->dialog),
	};
	enum sip_header_id id = digest_header(&login->challenge);
	struct buffer value;

	buffer_init(&value, SIP_HEADER_MAX_BYTES);
	if (digest_authorize(&value, &login->challenge, &about) == 0)
		sip_header_write(&r->authorization,
				 slice_of(sip_header_name(id)),
				 buffer_slice(&value));
	buffer_reset(&value);
}

/* True: the challenge was answered with another try. */
static bool take_challenge(struct sip_request *r,
			   const struct sip_message *response)
{
	struct digest_challenge challenge = { 0 };
	struct login_try *login;

	if (!r->login || !r->login->username || !r->dialog->link)
		return false;
	if (digest_challenge_parse(&challenge, response))
		return false;
	login = &r->logins[challenge.is_proxy ? BY_PROXY : BY_SERVER];
	if (!may_try(login, &challenge)) {
		digest_challenge_reset(&challenge);
		return false;
	}
	digest_challenge_reset(&login->challenge);
	login->challenge = challenge;
	login->tries++;
	buffer_clear(&r->authorization);
	for (int i = 0; i < ASKERS; i++)
		if (r->logins[i].tries)
			write_authorization(r, &r->logins[i]);
	send_new(r);
	return true;
}

static void on_response(void *owner, struct sip_message *response)
{
	struct sip_request *r = owner;
	int status = response->start.status;
	bool is_success = status >= 200 && status < 300;

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
	if (err) {
		tell_failure(r, err,
			     err == -ETIMEDOUT ? "no answer within 32 s"
					       : "the connection was lost");
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
	buffer_reset(&r->headers);
	buffer_reset(&r->body);
	buffer_reset(&r->authorization);
	for (int i = 0; i < ASKERS; i++)
		digest_challenge_reset(&r->logins[i].challenge);
	mem_free(r);
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
