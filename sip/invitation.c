/* SPDX-License-Identifier: MIT */
#include "sip/invitation.h"
#include <assert.h>
#include <errno.h>
#include "core/log.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/header.h"
#include "sip/response.h"
#include "sip/ua_priv.h"

/* WAITING --first 2xx--> ANSWERED
 * WAITING --given up--> GIVING_UP --provisional: CANCEL--> CANCELING
 * WAITING, GIVING_UP, CANCELING --final, failure, 32 s--> ENDING
 * ENDING --next turn: on_end--> ENDED
 * ANSWERED and ENDED stay until no further 2xx and no answer to a BYE can
 * come: on_idle. */
enum state { WAITING, GIVING_UP, CANCELING, ANSWERED, ENDING, ENDED };

enum { NONE = -1, RING = -2, FORKS_MAX = 8 };

static const struct {
	const char *name;
	int timeout_ms;
	unsigned next; /* a bit for each state that may follow */
} states[] = {
	[WAITING] = { "waiting", RING,
		      1 << GIVING_UP | 1 << CANCELING | 1 << ANSWERED |
			      1 << ENDING },
	[GIVING_UP] = { "giving up", SIP_TIMEOUT_MS,
			1 << CANCELING | 1 << ENDING },
	[CANCELING] = { "canceling", SIP_TIMEOUT_MS, 1 << ENDING },
	[ANSWERED] = { "answered", NONE, 0 },
	[ENDING] = { "ending", 0, 1 << ENDED },
	[ENDED] = { "ended", 0, 0 },
};

/* One of the peers that an INVITE may reach. */
struct fork {
	struct invitation *invitation; /* its owner */
	char *tag; /* owned: the peer's; NULL: never used */
	struct dialog *dialog; /* owned; NULL once the session has it */
	char *ack; /* owned: sent for its 2xx; NULL: none came,
		    * "": could not be sent */
	struct sip_request *bye; /* owned */
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
	struct timer *timer; /* owned, armed by enter() and check_idle() */
	struct buffer cancel_headers;
	struct session_end end; /* of ENDING; reason is why */
	char *why; /* owned */
	uint32_t ring_timeout_ms;
	bool was_redirected;
	enum state state;
	struct fork forks[FORKS_MAX];
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
	if (inv->request || (inv->state != ANSWERED && inv->state != ENDED))
		return false;
	for (int i = 0; i < FORKS_MAX; i++)
		if (inv->forks[i].bye)
			return false;
	return true;
}

static void check_idle(struct invitation *inv)
{
	if (is_idle(inv))
		timer_start(inv->timer, 0, on_timer, inv);
}

/* ---- forks ---- */

static void fork_reset(struct fork *fork)
{
	sip_request_close(&fork->bye);
	dialog_close(&fork->dialog, &fork->invitation->ua->dialogs);
	mem_free(fork->tag);
	mem_free(fork->ack);
	fork->tag = fork->ack = NULL;
}

/* Before the answer the peer has no business here but OPTIONS, which the UA
 * answers; one that has lost may say goodbye first. */
static void on_early_request(void *user, struct dialog *dialog,
			     struct sip_message *request)
{
	struct invitation *inv = user;
	int status = 481;

	if (request->start.method == SIP_ACK)
		return;
	if (inv->state == WAITING && request->start.method != SIP_BYE)
		status = 491; /* our offer still waits for its answer */
	ua_respond(inv->ua, dialog->link, request, status, SLICE(""));
}

static struct fork *fork_find(struct invitation *inv,
			      const struct sip_message *response)
{
	struct fork *free_one = NULL;

	for (int i = 0; i < FORKS_MAX; i++) {
		struct fork *fork = &inv->forks[i];

		if (fork->tag &&
		    slice_eq(slice_of(fork->tag), response->common.to.tag))
			return fork;
		/* One never used, at worst an early dialog's. */
		if (!fork->ack && (!free_one || (free_one->tag && !fork->tag)))
			free_one = fork;
	}
	if (free_one) {
		if (free_one->invitation)
			fork_reset(free_one);
		free_one->invitation = inv;
		free_one->tag = slice_dup(response->common.to.tag);
	}
	return free_one;
}

/* Its dialog as this answer describes it. */
static void fork_learn(struct fork *fork, const struct sip_message *response)
{
	struct invitation *inv = fork->invitation;
	struct dialog *dialog =
		dialog_open_fork(inv->dialog, response, inv->dialog->link);

	if (fork->dialog)
		dialog->remote_cseq = fork->dialog->remote_cseq;
	dialog_close(&fork->dialog, &inv->ua->dialogs);
	fork->dialog = dialog;
	dialog_list(dialog, &inv->ua->dialogs, on_early_request, inv);
}

static void on_bye_response(void *owner, struct sip_message *response)
{
	struct fork *fork = owner;

	if (response->start.status < 200)
		return;
	sip_request_close(&fork->bye);
	check_idle(fork->invitation);
}

static void on_bye_failed(void *owner,
			  const struct sip_request_failure *failure)
{
	struct fork *fork = owner;

	sip_request_close(&fork->bye);
	check_idle(fork->invitation);
}

static void fork_bye(struct fork *fork)
{
	static const struct sip_request_events bye_events = {
		.on_response = on_bye_response,
		.on_failed = on_bye_failed,
	};
	struct sip_request_options options = {
		.dialog = fork->dialog,
		.method = SIP_BYE,
		.login = fork->invitation->login
	};

	fork->bye = sip_request_open(fork->invitation->ua, &options,
				     &bye_events, fork);
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
		fork = fork_find(inv, response);
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
	struct fork *fork = fork_find(inv, response);

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

/* The first Contact of a 3xx that stays at the trunk, once. */
static bool redirect(struct invitation *inv,
		     const struct sip_message *response);

static void on_rejection(struct invitation *inv,
			 const struct sip_message *response)
{
	int status = response->start.status;

	if (inv->state == WAITING && redirect(inv, response))
		return;
	sip_request_close(&inv->request);
	if (inv->state == WAITING)
		end(inv, SESSION_REJECTED, status, response->start.reason);
	else
		end(inv, inv->end.cause, status, response->start.reason);
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
		.headers = buffer_slice(&inv->headers),
		.body = buffer_slice(&inv->offer),
	};

	inv->request = sip_request_open(inv->ua, &options, &invite_events, inv);
}

static bool stays_at_trunk(const struct invitation *inv,
			   const struct sip_uri *uri)
{
	const struct sip_target *trunk = &inv->dialog->trunk;

	return uri->scheme != SIP_SCHEME_TEL &&
	       slice_eq_nocase(uri->host, slice_of(trunk->host)) &&
	       (uri->port == 0 || uri->port == trunk->port);
}

static bool redirect(struct invitation *inv, const struct sip_message *response)
{
	const struct sip_header *header =
		sip_message_header(response, SIP_H_CONTACT, 0);
	struct sip_address contact;

	if (response->start.status >= 400 || inv->was_redirected || !header ||
	    sip_address_parse(&contact, header->value) ||
	    !stays_at_trunk(inv, &contact.uri))
		return false;
	inv->was_redirected = true;
	dialog_refresh(inv->dialog, response);
	sip_request_close(&inv->request);
	send_invite(inv);
	return true;
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
		.events = events,
		.owner = owner,
		.timer = timer_new(options->ua->loop),
		.ring_timeout_ms = options->ring_timeout_ms,
		.state = WAITING,
	};
	buffer_init(&inv->headers, SIP_MESSAGE_MAX_BYTES);
	buffer_init(&inv->offer, SIP_MESSAGE_MAX_BYTES);
	buffer_init(&inv->cancel_headers, SIP_HEADER_MAX_BYTES);
	buffer_add(&inv->headers, options->headers);
	buffer_add(&inv->offer, options->offer);
	dialog_list(inv->dialog, &inv->ua->dialogs, on_early_request, inv);
	timer_start(inv->timer, inv->ring_timeout_ms, on_timer, inv);
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
	for (int i = 0; i < FORKS_MAX; i++)
		if (inv->forks[i].invitation)
			fork_reset(&inv->forks[i]);
	sip_request_close(&inv->request);
	dialog_close(&inv->dialog, &inv->ua->dialogs);
	timer_close(&inv->timer);
	buffer_reset(&inv->headers);
	buffer_reset(&inv->offer);
	buffer_reset(&inv->cancel_headers);
	mem_free(inv->why);
	mem_free(inv);
}
