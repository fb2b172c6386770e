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

enum { TRIES_MAX = 5, GLARE_STEP_MS = 10 };

static void send_offer(struct session *session);

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

static void on_timer(void *arg)
{
	struct session *session = arg;

	if (session->offer.state == OFFER_STABLE)
		send_offer(session);
	else /* the peer's offer came first */
		timer_start(session->offer.timer, SIP_T1_MS, on_timer, session);
}

/* Both sides offered at once: whoever owns the Call-ID waits 2.1 to 4 s, the
 * other 0 to 2 s, in steps of 10 ms. */
static uint32_t glare_ms(const struct dialog *dialog)
{
	if (dialog->is_ours)
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
	mem_free(offer->sdp);
	offer->sdp = NULL;
	offer_enter(&offer->state, OFFER_STABLE);
	if (body_sdp(response, &sdp) || !sdp.len)
		session_break(session, SESSION_PROTOCOL, response->start.status,
			      "the answer carries no SDP");
	else
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
		send_again(session, glare_ms(session->dialog));
	else if (status == 481 || status == 408)
		session_break(session, SESSION_LOST, status,
			      "the peer does not know the session");
	else
		on_refused(session);
}

static void on_failed(void *owner, const struct sip_request_failure *failure)
{
	struct session *session = owner;

	if (failure->err == -EINVAL)
		on_refused(session);
	else if (failure->err == -ETIMEDOUT && failure->was_sent)
		session_break(session, SESSION_TIMED_OUT, 0, failure->why);
	else if (failure->was_sent && session->offer.tries == 0)
		send_again(session, 0); /* over a new connection */
	else
		session_break(session, SESSION_LOST, 0, failure->why);
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
					       .body = slice_of(offer->sdp) };

	if (session->login.username)
		options.login = &session->login;
	sip_request_close(&offer->request); /* the one before, answered */
	mem_free(offer->ack);
	offer->ack = NULL;
	offer_enter(&offer->state, OFFER_LOCAL);
	offer->request =
		sip_request_open(session->ua, &options, &events, session);
}

int session_offer(struct session *session, struct slice sdp)
{
	struct session_offering *offer = &session->offer;

	if (session->state != SESSION_UP || !sdp.len)
		return -EINVAL;
	if (offer->state != OFFER_STABLE || offer->sdp)
		return -EAGAIN;
	offer->sdp = slice_dup(sdp);
	offer->tries = 0;
	send_offer(session);
	return 0;
}
