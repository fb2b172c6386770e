/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include "core/id.h"
#include "core/log.h"
#include "sip/body.h"
#include "sip/header.h"
#include "sip/response.h"
#include "sip/session_priv.h"

/* ---- what we answer ---- */

static bool is_unanswered(const struct session *session)
{
	return session->incoming.transaction &&
	       (session->offer.state == OFFER_REMOTE ||
		session->offer.state == OFFER_WANTED);
}

/* Contact and Allow go into what makes or keeps a dialog. */
static void write_headers(const struct session *session, struct buffer *out,
			  int status)
{
	struct sip_link *link = session->dialog->link;

	buffer_init(out, SIP_HEADER_MAX_BYTES);
	if (link && status > 100 && status < 300)
		dialog_contact(session->dialog, out, sip_link_sent_by(link));
	buffer_add_str(out, "Allow: " SIP_ALLOW "\r\n"
			    "Supported: " SIP_SUPPORTED "\r\n");
	if (status == 503)
		buffer_add_str(out, "Retry-After: 10\r\n");
	if (status == 488 || status == 415)
		buffer_add_str(out, "Accept: " SIP_ACCEPT "\r\n");
	if (status == 422)
		buffer_add_str(out, SESSION_TIMER_REFUSAL);
}

static void respond(struct session *session, int status, struct slice sdp)
{
	struct buffer headers;

	write_headers(session, &headers, status);
	if (status >= 200 && status < 300)
		session_timer_answer(session->expiry, &headers);
	server_transaction_respond(session->incoming.transaction, status,
				   buffer_slice(&headers), sdp);
	buffer_reset(&headers);
}

void session_drop_incoming(struct session *session, int status)
{
	if (!session->incoming.transaction)
		return;
	if (is_unanswered(session))
		respond(session, status, SLICE(""));
	else
		server_transaction_acked(session->incoming.transaction);
	server_transaction_release(&session->incoming.transaction);
	offer_enter(&session->offer.state, OFFER_STABLE);
}

int session_ring(struct session *session)
{
	if (session->state != SESSION_PENDING)
		return -EINVAL;
	respond(session, 180, SLICE(""));
	return 0;
}

int session_answer(struct session *session, struct slice sdp)
{
	bool was_wanted = session->offer.state == OFFER_WANTED;

	if (!is_unanswered(session) || session->state == SESSION_INCOMING)
		return -EINVAL;
	respond(session, 200, sdp);
	session_timer_keep(session->expiry, sdp, SLICE(""));
	if (session->incoming.method == SIP_UPDATE) {
		server_transaction_release(&session->incoming.transaction);
		offer_enter(&session->offer.state, OFFER_STABLE);
		return 0;
	}
	offer_enter(&session->offer.state,
		    was_wanted ? OFFER_LOCAL_2XX : OFFER_ACK);
	if (session->state == SESSION_PENDING)
		session_enter(session, SESSION_ANSWERED);
	return 0;
}

void session_refuse(struct session *session, int status)
{
	if (!is_unanswered(session))
		return;
	session_drop_incoming(session, status);
	if (session->state == SESSION_INCOMING ||
	    session->state == SESSION_PENDING)
		session_enter(session, SESSION_ENDED);
}

/* ---- what becomes of an unanswered request ---- */

static void forget_incoming(struct session *session)
{
	session->incoming.transaction = NULL;
	offer_enter(&session->offer.state, OFFER_STABLE);
}

/* The Reason of a CANCEL or BYE (RFC 3326), or nothing. */
static struct slice reason_of(const struct sip_message *message)
{
	const struct sip_header *header =
		sip_message_header(message, SIP_H_REASON, 0);

	return header ? header->value : SLICE("");
}

static void end_by_remote(struct session *session, enum session_cause cause,
			  int code, const struct sip_message *message)
{
	session_end(session, cause, code, reason_of(message));
	session->end.by_remote = true;
}

static void on_cancel(void *owner, struct sip_message *cancel)
{
	struct session *session = owner;

	forget_incoming(session);
	if (session->state == SESSION_PENDING)
		end_by_remote(session, SESSION_CANCELED, 487, cancel);
}

static void on_lost(void *owner)
{
	struct session *session = owner;

	forget_incoming(session);
	if (session->state == SESSION_PENDING ||
	    session->state == SESSION_ANSWERED ||
	    session->state == SESSION_LEAVING)
		session_end(session, SESSION_LOST, 0,
			    SLICE("the connection was lost"));
}

static void on_no_ack(void *owner)
{
	struct session *session = owner;

	forget_incoming(session);
	session_break(session, SESSION_TIMED_OUT, 0, "no ACK to our answer");
}

void session_take_invite(struct session *session,
			 struct server_transaction *transaction,
			 const struct sip_message *invite)
{
	static const struct server_transaction_events events = {
		.on_cancel = on_cancel,
		.on_lost = on_lost,
		.on_no_ack = on_no_ack,
	};

	struct slice sdp;

	session->incoming = (struct session_incoming){
		.transaction = transaction,
		.method = invite->start.method,
		.cseq = invite->common.cseq,
	};
	session_timer_take(session->expiry, invite);
	server_transaction_lend(transaction, &events, session);
	body_sdp(invite, &sdp); /* checked by whoever hands it in */
	offer_enter(&session->offer.state,
		    sdp.len ? OFFER_REMOTE : OFFER_WANTED);
}

/* ---- requests inside the dialog ---- */

/* The ACK of our 2xx; sdp answers the offer we made in it, if we did. */
static void on_our_answer(struct session *session, bool was_offer,
			  struct slice sdp)
{
	bool is_new = session->state == SESSION_ANSWERED;

	if (session->state == SESSION_LEAVING) {
		session_bye(session, NULL);
		session_end(session, SESSION_HANGUP, 0, SLICE(""));
		return;
	}
	if (is_new)
		session_enter(session, SESSION_UP);
	session_timer_keep(session->expiry, SLICE(""), sdp);
	if (was_offer && !sdp.len)
		session_break(session, SESSION_PROTOCOL, 0,
			      "the ACK carries no SDP answer");
	else if (is_new || was_offer)
		session->events->on_answer(session->owner, sdp); /* last */
}

static void on_ack(struct session *session, const struct sip_message *ack)
{
	bool was_offer = session->offer.state == OFFER_LOCAL_2XX;
	struct slice sdp;

	if (!session->incoming.transaction || is_unanswered(session) ||
	    ack->common.cseq != session->incoming.cseq)
		return; /* of a 2xx before, or of an answer other than 2xx */
	server_transaction_acked(session->incoming.transaction);
	server_transaction_release(&session->incoming.transaction);
	offer_enter(&session->offer.state, OFFER_STABLE);
	if (body_sdp(ack, &sdp))
		sdp = SLICE("");
	on_our_answer(session, was_offer,
		      was_offer ? sdp : SLICE("")); /* last */
}

static void answer_now(struct session *session,
		       const struct sip_message *request, int status)
{
	struct buffer headers;

	write_headers(session, &headers, status);
	if (status == 500)
		sip_header_printf(&headers, "Retry-After", "%u", id_random(11));
	if (request->start.method == SIP_UPDATE && status == 200 &&
	    session->state == SESSION_UP)
		session_timer_answer_now(session->expiry, request, &headers);
	ua_respond(session->ua, session->dialog->link, request, status,
		   buffer_slice(&headers));
	buffer_reset(&headers);
}

static void on_bye(struct session *session, const struct sip_message *bye)
{
	answer_now(session, bye, 200);
	switch (session->state) {
	case SESSION_PENDING:
		session_drop_incoming(session, 487);
		end_by_remote(session, SESSION_CANCELED, 487, bye);
		return;
	case SESSION_ANSWERED:
	case SESSION_LEAVING:
	case SESSION_UP:
		session_drop_incoming(session, 487);
		end_by_remote(session, SESSION_HANGUP, 0, bye);
		return;
	case SESSION_INVITING:
	case SESSION_INCOMING:
	case SESSION_ENDING:
	case SESSION_ENDED:
		return;
	}
}

static void take_offer(struct session *session, struct sip_message *request,
		       struct slice sdp)
{
	struct server_transaction *transaction =
		server_transaction_open(&session->ua->transactions,
					session->dialog->link, request, NULL);

	session_take_invite(session, transaction, request);
	session->events->on_offer(session->owner, sdp); /* last */
}

/* May the peer modify the session now? 0, or the status that refuses it. */
static int modify_refusal(const struct session *session,
			  const struct sip_message *request, struct slice *sdp)
{
	bool is_update = request->start.method == SIP_UPDATE;
	int status = body_sdp(request, sdp);

	if (session->state == SESSION_ENDING || session->state == SESSION_ENDED)
		return 481;
	if (status)
		return status;
	/* One UPDATE after the other (RFC 3311, 5.2). */
	if (is_update && is_unanswered(session) &&
	    session->incoming.method == SIP_UPDATE)
		return 500;
	status = offer_refusal(session->offer.state, request->start.method,
			       sdp->len > 0);
	return status ? status : session_timer_check(request);
}

/* re-INVITE, or UPDATE. */
static void on_modify(struct session *session, struct sip_message *request)
{
	struct slice sdp;
	int status = modify_refusal(session, request, &sdp);

	if (!status)
		dialog_refresh(session->dialog, request);
	if (!status && request->start.method == SIP_UPDATE && !sdp.len)
		status = 200;
	if (status)
		answer_now(session, request, status);
	else
		take_offer(session, request, sdp); /* last */
}

void session_on_request(void *user, struct dialog *dialog,
			struct sip_message *request)
{
	struct session *session = user;

	if (request->start.method == SIP_ACK)
		on_ack(session, request);
	else if (request->start.method == SIP_BYE)
		on_bye(session, request);
	else if (request->start.method == SIP_REFER ||
		 request->start.method == SIP_NOTIFY)
		referral_on_request(session, request);
	else
		on_modify(session, request);
}
