/* SPDX-License-Identifier: MIT */
#include "sip/invitation.h"
#include <assert.h>
#include <errno.h>
#include "core/log.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/fork.h"
#include "sip/reason.h"
#include "sip/response.h"
#include "sip/target_set.h"
#include "sip/ua_priv.h"

/* WAITING --first 2xx--> ANSWERED
 * WAITING --given up--> GIVING_UP --provisional: CANCEL--> CANCELING
 * WAITING, GIVING_UP, CANCELING --final, failure, 32 s--> ENDING
 * ENDING --next turn: on_end--> ENDED
 * ANSWERED and ENDED stay until no further 2xx and no answer to a BYE can
 * come: on_idle. */
enum state { WAITING, GIVING_UP, CANCELING, ANSWERED, ENDING, ENDED };

enum { NONE = -1 };

static const struct {
	const char *name;
	int timeout_ms;
	unsigned next; /* a bit for each state that may follow */
} states[] = {
	[WAITING] = { "waiting", NONE, /* invitation_open() lets it ring */
		      1 << GIVING_UP | 1 << CANCELING | 1 << ANSWERED |
			      1 << ENDING },
	[GIVING_UP] = { "giving up", SIP_TIMEOUT_MS,
			1 << CANCELING | 1 << ENDING },
	[CANCELING] = { "canceling", SIP_TIMEOUT_MS, 1 << ENDING },
	[ANSWERED] = { "answered", NONE, 0 },
	[ENDING] = { "ending", 0, 1 << ENDED },
	[ENDED] = { "ended", 0, 0 },
};

struct invitation {
	struct ua *ua; /* borrowed: outlives us */
	struct dialog *dialog; /* owned: the INVITE's, without peer */
	const struct sip_request_login *login; /* borrowed: outlives us */
	struct buffer headers;
	struct buffer offer;
	const struct invitation_events *events;
	void *owner; /* borrowed: closes us */
	struct sip_request *request; /* owned; NULL: no 2xx can come */
	struct timer *timer; /* owned: of each state, and check_idle() */
	struct buffer cancel_headers;
	struct session_end end; /* of ENDING; reason is why */
	char *why; /* owned */
	enum state state;
	struct session_timer *expiry; /* borrowed: outlives us */
	struct target_set targets;
	struct fork_set forks;
};

static void on_timer(void *arg);

static void enter(struct invitation *inv, enum state next)
{
	int timeout_ms = states[next].timeout_ms;

	assert(states[inv->state].next & 1u << next);
	log_debug("invitation", inv->dialog->id.call_id, "%s -> %s",
		  states[inv->state].name, states[next].name);
	inv->state = next;
	if (timeout_ms == NONE)
		timer_stop(inv->timer);
	else
		timer_start(inv->timer, (uint64_t)timeout_ms, on_timer, inv);
}

/* Ends without a session; on_end follows on the next turn. */
static void end(struct invitation *inv, enum session_cause cause, int code,
		struct slice why)
{
	char *text = slice_dup(why);

	mem_free(inv->why);
	inv->why = text;
	inv->end =
		(struct session_end){ .cause = cause,
				      .code = code,
				      .reason = inv->why,
				      .by_remote = cause == SESSION_REJECTED };
	enter(inv, ENDING);
}

static bool is_idle(const struct invitation *inv)
{
	return !inv->request &&
	       (inv->state == ANSWERED || inv->state == ENDED) &&
	       !fork_set_has_bye(&inv->forks);
}

static void check_idle(struct invitation *inv)
{
	if (is_idle(inv))
		timer_start(inv->timer, 0, on_timer, inv);
}

/* ---- early dialogs ---- */

static void on_bye_over(void *owner)
{
	check_idle(owner);
}

/* Before the answer the peer has no business here but OPTIONS, which the UA
 * answers, and UPDATE; one that has lost may say goodbye first. */
static int early_status(const struct invitation *inv,
			const struct sip_message *request)
{
	enum sip_method method = request->start.method;

	if (inv->state != WAITING || method == SIP_BYE || method == SIP_NOTIFY)
		return 481;
	if (method == SIP_UPDATE && !request->body.len)
		return 200; /* refreshes the target, nothing else */
	return 491; /* our offer still waits for its answer */
}

static void on_early_request(void *user, struct dialog *dialog,
			     struct sip_message *request)
{
	struct invitation *inv = user;
	struct buffer headers;
	int status;

	if (request->start.method == SIP_ACK)
		return;
	buffer_init(&headers, SIP_HEADER_MAX_BYTES);
	status = early_status(inv, request);
	if (status == 200) {
		dialog_refresh(dialog, request);
		dialog_contact(dialog, &headers,
			       sip_link_sent_by(dialog->link));
		buffer_add_str(&headers, "Allow: " SIP_ALLOW "\r\n"
					 "Supported: " SIP_SUPPORTED "\r\n");
	}
	ua_respond(inv->ua, dialog->link, request, status,
		   buffer_slice(&headers));
	buffer_reset(&headers);
}

/* ---- the INVITE's answers ---- */

static void send_cancel(struct invitation *inv)
{
	switch (sip_request_cancel(inv->request,
				   buffer_slice(&inv->cancel_headers))) {
	case 0:
		enter(inv, CANCELING);
		return;
	case -EAGAIN:
		if (inv->state != GIVING_UP)
			enter(inv, GIVING_UP);
		return;
	}
	sip_request_close(&inv->request); /* nobody has heard of it yet */
	end(inv, inv->end.cause, 0, SLICE("given up before it was sent"));
}

static void on_provisional(struct invitation *inv,
			   const struct sip_message *response)
{
	struct fork *fork;

	if (inv->state == GIVING_UP) {
		send_cancel(inv);
		return;
	}
	if (inv->state != WAITING || response->start.status == 100)
		return;
	if (response->common.to.tag.len) {
		fork = fork_find(&inv->forks, response);
		if (fork && !fork->ack)
			fork_learn(fork, response);
	}
	inv->events->on_progress(inv->owner, response); /* last */
}

static void on_first_success(struct invitation *inv, struct fork *fork,
			     const struct sip_message *response)
{
	struct dialog *dialog = fork->dialog;

	fork->dialog = NULL;
	enter(inv, ANSWERED);
	inv->events->on_answer(inv->owner, dialog, response); /* last */
}

static void on_success(struct invitation *inv,
		       const struct sip_message *response)
{
	struct fork *fork = fork_find(&inv->forks, response);

	if (!fork)
		return;
	if (fork->ack) {
		if (inv->dialog->link && *fork->ack)
			ua_send(inv->ua, inv->dialog->link,
				slice_of(fork->ack));
		return;
	}
	fork_learn(fork, response);
	fork->ack = sip_request_ack(inv->request, fork->dialog, SLICE(""));
	if (!fork->ack)
		fork->ack = mem_dup_str(""); /* too long to be written */
	if (inv->state == WAITING) {
		on_first_success(inv, fork, response); /* last */
		return;
	}
	fork_bye(fork);
	if (inv->state == GIVING_UP || inv->state == CANCELING)
		end(inv, inv->end.cause, 0, SLICE("given up"));
}

static void send_invite(struct invitation *inv);

/* A 3xx brings targets, and any failure but a global one (6xx) makes us try
 * the next (8.1.3.4). */
static bool redirect(struct invitation *inv, const struct sip_message *response)
{
	const char *target;

	if (response->start.status < 400)
		target_set_add(&inv->targets, response, &inv->dialog->trunk);
	if (response->start.status >= 600)
		return false;
	target = target_set_next(&inv->targets);
	if (!target)
		return false;
	mem_free(inv->dialog->target);
	inv->dialog->target = mem_dup_str(target);
	return true;
}

static void on_rejection(struct invitation *inv,
			 const struct sip_message *response)
{
	int status = response->start.status;
	bool goes_on = inv->state == WAITING &&
		       (session_timer_on_refusal(inv->expiry, response) ||
			redirect(inv, response));
	struct buffer why;

	sip_request_close(&inv->request);
	if (goes_on) {
		send_invite(inv);
		return;
	}
	buffer_init(&why, SIP_HEADER_MAX_BYTES);
	reason_write(&why, response);
	end(inv, inv->state == WAITING ? SESSION_REJECTED : inv->end.cause,
	    status, buffer_slice(&why));
	buffer_reset(&why);
}

static void on_response(void *owner, struct sip_message *response)
{
	struct invitation *inv = owner;
	int status = response->start.status;

	if (status < 200)
		on_provisional(inv, response);
	else if (status < 300)
		on_success(inv, response);
	else
		on_rejection(inv, response);
}

static enum session_cause cause_of(const struct sip_request_failure *failure)
{
	switch (failure->err) {
	case -EKEYREJECTED:
	case -EKEYEXPIRED:
	case -ENOKEY:
		return SESSION_UNTRUSTED;
	case -EINVAL:
		return SESSION_PROTOCOL;
	}
	if (!failure->was_sent)
		return SESSION_UNREACHABLE;
	return failure->err == -ETIMEDOUT ? SESSION_TIMED_OUT : SESSION_LOST;
}

static void on_failed(void *owner, const struct sip_request_failure *failure)
{
	struct invitation *inv = owner;
	enum session_cause cause =
		inv->state == WAITING ? cause_of(failure) : inv->end.cause;

	end(inv, cause, 0, slice_of(failure->why));
	sip_request_close(&inv->request);
}

static void on_over(void *owner)
{
	struct invitation *inv = owner;

	sip_request_close(&inv->request);
	check_idle(inv);
}

static void send_invite(struct invitation *inv)
{
	static const struct sip_request_events invite_events = {
		.on_response = on_response,
		.on_failed = on_failed,
		.on_over = on_over,
	};
	struct sip_request_options options = {
		.dialog = inv->dialog,
		.method = SIP_INVITE,
		.login = inv->login,
		.body = buffer_slice(&inv->offer),
	};
	struct buffer headers;

	buffer_init(&headers, SIP_MESSAGE_MAX_BYTES);
	session_timer_write(inv->expiry, &headers);
	buffer_add(&headers, buffer_slice(&inv->headers));
	options.headers = buffer_slice(&headers);
	inv->request = sip_request_open(inv->ua, &options, &invite_events, inv);
	buffer_reset(&headers);
}

static void on_timer(void *arg)
{
	struct invitation *inv = arg;

	switch (inv->state) {
	case WAITING:
		inv->end.cause = SESSION_NO_ANSWER;
		send_cancel(inv);
		return;
	case GIVING_UP:
	case CANCELING:
		sip_request_close(&inv->request);
		end(inv, inv->end.cause, 0, SLICE("no answer to the CANCEL"));
		return;
	case ENDING:
		enter(inv, ENDED);
		inv->events->on_end(inv->owner, &inv->end); /* last */
		return;
	case ANSWERED:
	case ENDED:
		if (is_idle(inv))
			inv->events->on_idle(inv->owner); /* last */
		return;
	}
}

struct invitation *invitation_open(const struct invitation_options *options,
				   const struct invitation_events *events,
				   void *owner)
{
	struct invitation *inv = mem_new(sizeof(*inv));

	*inv = (struct invitation){
		.ua = options->ua,
		.dialog = options->dialog,
		.login = options->login,
		.expiry = options->expiry,
		.events = events,
		.owner = owner,
		.timer = timer_new(options->ua->loop),
		.state = WAITING,
		.forks = { .ua = options->ua,
			   .base = options->dialog,
			   .login = options->login,
			   .on_request = on_early_request,
			   .on_bye_over = on_bye_over,
			   .owner = inv },
	};
	buffer_init(&inv->headers, SIP_MESSAGE_MAX_BYTES);
	buffer_init(&inv->offer, SIP_MESSAGE_MAX_BYTES);
	buffer_init(&inv->cancel_headers, SIP_HEADER_MAX_BYTES);
	buffer_add(&inv->headers, options->headers);
	buffer_add(&inv->offer, options->offer);
	target_set_init(&inv->targets, inv->dialog->target);
	dialog_list(inv->dialog, &inv->ua->dialogs, on_early_request, inv);
	timer_start(inv->timer, options->ring_timeout_ms, on_timer, inv);
	send_invite(inv);
	return inv;
}

void invitation_cancel(struct invitation *invitation, struct slice headers,
		       enum session_cause cause)
{
	if (invitation->state != WAITING)
		return;
	buffer_add(&invitation->cancel_headers, headers);
	invitation->end.cause = cause;
	send_cancel(invitation);
}

void invitation_close(struct invitation **invitation)
{
	struct invitation *inv = *invitation;

	if (!inv)
		return;
	*invitation = NULL;
	fork_set_reset(&inv->forks);
	sip_request_close(&inv->request);
	target_set_reset(&inv->targets);
	dialog_close(&inv->dialog, &inv->ua->dialogs);
	timer_close(&inv->timer);
	buffer_reset(&inv->headers);
	buffer_reset(&inv->offer);
	buffer_reset(&inv->cancel_headers);
	mem_free(inv->why);
	mem_free(inv);
}
