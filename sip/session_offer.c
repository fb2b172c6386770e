/* SPDX-License-Identifier: MIT */
/* Our own offers inside the dialog: re-INVITE, and what may come of it (RFC
 * 3261, 14.1). */
#include <errno.h>
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/body.h"
#include "sip/session_priv.h"

/* A re-INVITE asks no human: 36 s are after Timer B. */
enum { TRIES_MAX = 5, GLARE_STEP_MS = 10, GIVE_UP_MS = 36000 };

static void send_offer(struct session *session);
static void on_timer(void *arg);

void session_offer_reset(struct session *session)
{
	struct session_offering *offer = &session->offer;

	timer_stop(offer->timer);
	sip_request_close(&offer->request);
	mem_free(offer->sdp);
	mem_free(offer->ack);
	offer->sdp = offer->ack = NULL;
}

/* Nothing came of it: the session goes on as it was. */
static void on_refused(struct session *session)
{
	session_offer_reset(session);
	offer_enter(&session->offer.state, OFFER_STABLE);
	session->events->on_answer(session->owner, SLICE("")); /* last */
}

/* No final answer: CANCEL, and if even that has no effect there is nobody. */
static void give_up(struct session *session)
{
	struct session_offering *offer = &session->offer;

	if (offer->is_canceled) {
		session_break(session, SESSION_TIMED_OUT, 0,
			      "no answer to our offer");
		return;
	}
	offer->is_canceled = true;
	sip_request_cancel(offer->request, SLICE(""));
	timer_start(offer->timer, SIP_TIMEOUT_MS, on_timer, session);
}

static void on_timer(void *arg)
{
	struct session *session = arg;

	if (session->offer.state == OFFER_LOCAL &&
	    !session_timer_is_offering(session->expiry))
		give_up(session);
	else if (session->offer.state == OFFER_STABLE)
		send_offer(session);
	else /* the peer's offer came first, or a refresh of ours */
		timer_start(session->offer.timer, SIP_T1_MS, on_timer, session);
}

/* Both sides offered at once: whoever owns the Call-ID waits 2.1 to 4 s, the
 * other 0 to 2 s, in steps of 10 ms. */
uint32_t session_glare_ms(const struct session *session)
{
	if (session->dialog->is_ours)
		return 2100 + GLARE_STEP_MS * id_random(191);
	return GLARE_STEP_MS * id_random(201);
}

static void send_again(struct session *session, uint32_t wait_ms)
{
	if (++session->offer.tries >= TRIES_MAX) {
		on_refused(session); /* last */
		return;
	}
	sip_request_close(&session->offer.request);
	offer_enter(&session->offer.state, OFFER_STABLE);
	timer_start(session->offer.timer, wait_ms, on_timer, session);
}

static void on_success(struct session *session,
		       const struct sip_message *response)
{
	struct session_offering *offer = &session->offer;
	struct slice sdp;

	if (!offer->sdp) { /* it came again */
		if (session->dialog->link && offer->ack)
			ua_send(session->ua, session->dialog->link,
				slice_of(offer->ack));
		return;
	}
	dialog_refresh(session->dialog, response);
	offer->ack =
		sip_request_ack(offer->request, session->dialog, SLICE(""));
	timer_stop(offer->timer);
	offer_enter(&offer->state, OFFER_STABLE);
	if (body_sdp(response, &sdp) || !sdp.len) {
		session_break(session, SESSION_PROTOCOL, response->start.status,
			      "the answer carries no SDP");
		return;
	}
	session_timer_keep(session->expiry, slice_of(offer->sdp), sdp);
	mem_free(offer->sdp);
	offer->sdp = NULL;
	session_timer_on_success(session->expiry, response);
	session->events->on_answer(session->owner, sdp); /* last */
}

static void on_response(void *owner, struct sip_message *response)
{
	struct session *session = owner;
	int status = response->start.status;

	if (status < 200)
		return;
	if (status < 300)
		on_success(session, response);
	else if (status == 491)
		send_again(session, session_glare_ms(session));
	else if (session_timer_on_refusal(session->expiry, response))
		send_again(session, 0);
	else if (status == 481 || status == 408)
		session_break(session, SESSION_LOST, status,
			      "the peer does not know the session");
	else
		on_refused(session);
}

enum session_cause session_cause_of(const struct sip_request_failure *failure)
{
	switch (failure->err) {
	case -EKEYREJECTED:
	case -EKEYEXPIRED:
	case -ENOKEY:
		return SESSION_UNTRUSTED;
	case -ETIMEDOUT:
		return failure->was_sent ? SESSION_TIMED_OUT : SESSION_LOST;
	}
	return SESSION_LOST;
}

static void on_failed(void *owner, const struct sip_request_failure *failure)
{
	struct session *session = owner;

	if (failure->err == -EINVAL)
		on_refused(session);
	else if (failure->err != -ETIMEDOUT && failure->was_sent &&
		 session->offer.tries == 0)
		send_again(session, 0); /* over a new connection */
	else
		session_break(session, session_cause_of(failure), 0,
			      failure->why);
}

static void on_over(void *owner)
{
	struct session *session = owner;

	sip_request_close(&session->offer.request);
}

static void send_offer(struct session *session)
{
	static const struct sip_request_events events = {
		.on_response = on_response,
		.on_failed = on_failed,
		.on_over = on_over,
	};
	struct session_offering *offer = &session->offer;
	struct sip_request_options options = { .dialog = session->dialog,
					       .method = SIP_INVITE,
					       .login = &session->login,
					       .body = slice_of(offer->sdp) };
	struct buffer headers;

	sip_request_close(&offer->request); /* the one before, answered */
	mem_free(offer->ack);
	offer->ack = NULL;
	offer->is_canceled = false;
	offer_enter(&offer->state, OFFER_LOCAL);
	buffer_init(&headers, SIP_HEADER_MAX_BYTES);
	session_timer_write(session->expiry, &headers);
	options.headers = buffer_slice(&headers);
	offer->request =
		sip_request_open(session->ua, &options, &events, session);
	timer_start(offer->timer, GIVE_UP_MS, on_timer, session);
	buffer_reset(&headers);
}

int session_offer(struct session *session, struct slice sdp)
{
	struct session_offering *offer = &session->offer;
	bool is_refreshing;

	if (session->state != SESSION_UP || !sdp.len)
		return -EINVAL;
	is_refreshing = session_timer_is_offering(session->expiry);
	if ((offer->state != OFFER_STABLE && !is_refreshing) || offer->sdp)
		return -EAGAIN;
	offer->sdp = slice_dup(sdp);
	offer->tries = 0;
	if (is_refreshing)
		timer_start(offer->timer, SIP_T1_MS, on_timer, session);
	else
		send_offer(session);
	return 0;
}
