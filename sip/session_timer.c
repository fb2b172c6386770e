/* SPDX-License-Identifier: MIT */
#include "sip/session_timer.h"
#include <errno.h>
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/timer.h"
#include "sip/body.h"
#include "sip/header.h"
#include "sip/session_expires.h"
#include "sip/session_priv.h"

enum { TOO_SMALL_MAX = 2, MARGIN_S = 32 };

/* Nobody before the first 2xx. */
enum refresher { NOBODY, US, PEER };

struct session_timer {
	struct session *session; /* borrowed: owns us */
	struct timer *timer; /* owned: next refresh, or the deadline */
	struct sip_request *request; /* owned: our refresh */
	enum sip_method method; /* of request */
	char *ack; /* owned: what the 2xx to an INVITE got; NULL: none yet */
	char *local, *remote; /* owned: SDP that was agreed; NULL: none yet */
	struct session_expires asked; /* by a request of the peer's */
	char *asked_sdp; /* owned: its SDP; NULL: none */
	enum refresher refresher;
	uint32_t interval_s; /* as agreed last; 0: not yet */
	uint32_t min_s; /* the largest that a 422 wanted */
	uint64_t deadline_us; /* BYE if nothing has refreshed it */
	unsigned too_small; /* 422s in a row */
	unsigned lost; /* connections under this refresh */
	bool is_agreed; /* false: peer and proxies do not count on it */
	bool has_update; /* the peer's Allow says so */
};

static void on_timer(void *arg);

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void learn_methods(struct session_timer *timer,
			  const struct sip_message *message)
{
	if (sip_message_header(message, SIP_H_ALLOW, 0))
		timer->has_update = sip_message_has_token(message, SIP_H_ALLOW,
							  SLICE("UPDATE"));
}

/* ---- what runs ---- */

/* Half the interval until a refresh of ours; the peer's are awaited until
 * shortly before the end (RFC 4028, 10). */
static void arm(struct session_timer *timer)
{
	uint32_t s = timer->interval_s;
	uint64_t wait_ms = (uint64_t)(s - smaller(MARGIN_S, s / 3)) * 1000;

	timer->deadline_us =
		loop_now_us(timer->session->ua->loop) + wait_ms * 1000;
	timer->lost = 0;
	if (timer->refresher == US)
		wait_ms = (uint64_t)s * 500;
	log_debug("session_timer", timer->session->call_id,
		  "%u s, refreshed by %s", s,
		  timer->refresher == US ? "us" : "the peer");
	timer_start(timer->timer, wait_ms, on_timer, timer);
}

static void expire(struct session_timer *timer)
{
	struct session *session = timer->session;

	session_drop_incoming(session, 487);
	session_bye(session, "SIP;cause=408;text=\"Session expired\"");
	session_end(session, SESSION_TIMED_OUT, 0,
		    timer->refresher == PEER
			    ? SLICE("the peer did not refresh the session")
			    : SLICE("the session could not be refreshed"));
}

/* As soon as no offer is under way. */
static void refresh_soon(struct session_timer *timer)
{
	sip_request_close(&timer->request);
	timer_start(timer->timer, 0, on_timer, timer);
}

/* Halfway to the deadline: often enough, and not for ever. */
static void refresh_later(struct session_timer *timer)
{
	uint64_t now_us = loop_now_us(timer->session->ua->loop);
	uint64_t wait_ms = 0;

	if (timer->deadline_us > now_us)
		wait_ms = (timer->deadline_us - now_us) / 1000;
	if (wait_ms > 2 * SIP_TIMEOUT_MS)
		wait_ms /= 2;
	timer_start(timer->timer, wait_ms, on_timer, timer);
}

/* ---- our refresh ---- */

static void on_refreshed(struct session_timer *timer,
			 const struct sip_message *response)
{
	struct session *session = timer->session;
	struct slice sdp;

	dialog_refresh(session->dialog, response);
	session_timer_on_success(timer, response);
	if (timer->method == SIP_UPDATE) {
		sip_request_close(&timer->request);
		return;
	}
	timer->ack =
		sip_request_ack(timer->request, session->dialog, SLICE(""));
	if (!timer->ack)
		timer->ack = mem_dup_str(""); /* too long to be written */
	offer_enter(&session->offer.state, OFFER_STABLE);
	if (body_sdp(response, &sdp) || !sdp.len ||
	    (timer->remote && slice_eq(sdp, slice_of(timer->remote))))
		return;
	session_timer_keep(timer, SLICE(""), sdp);
	session->events->on_answer(session->owner, sdp); /* last */
}

static void on_refused(struct session_timer *timer,
		       const struct sip_message *response)
{
	struct session *session = timer->session;
	int status = response->start.status;

	sip_request_close(&timer->request);
	if (status == 481 || status == 408) {
		session_break(session, SESSION_LOST, status,
			      "the peer does not know the session");
		return;
	}
	if (session_timer_on_refusal(timer, response)) {
		refresh_soon(timer);
	} else if (status == 491) {
		timer_start(timer->timer, session_glare_ms(session), on_timer,
			    timer);
	} else if (timer->method == SIP_UPDATE && timer->local) {
		timer->has_update = false;
		refresh_soon(timer);
	} else {
		refresh_later(timer);
	}
}

static void on_response(void *owner, struct sip_message *response)
{
	struct session_timer *timer = owner;
	struct session *session = timer->session;
	int status = response->start.status;

	if (status < 200)
		return;
	if (timer->ack) { /* it came again */
		if (status < 300 && session->dialog->link && *timer->ack)
			ua_send(session->ua, session->dialog->link,
				slice_of(timer->ack));
		return;
	}
	if (status < 300) {
		on_refreshed(timer, response); /* last */
		return;
	}
	if (timer->method == SIP_INVITE)
		offer_enter(&session->offer.state, OFFER_STABLE);
	on_refused(timer, response);
}

static void on_failed(void *owner, const struct sip_request_failure *failure)
{
	struct session_timer *timer = owner;
	struct session *session = timer->session;
	int err = failure->err;

	if (timer->method == SIP_INVITE)
		offer_enter(&session->offer.state, OFFER_STABLE);
	if (err == -EINVAL) {
		sip_request_close(&timer->request);
		refresh_later(timer);
	} else if (err != -ETIMEDOUT && failure->was_sent && !timer->lost) {
		timer->lost++;
		refresh_soon(timer); /* over a new connection */
	} else {
		session_break(session, session_cause_of(failure), 0,
			      failure->why);
	}
}

static void on_over(void *owner)
{
	struct session_timer *timer = owner;

	sip_request_close(&timer->request);
	mem_free(timer->ack);
	timer->ack = NULL;
}

/* By UPDATE without SDP where the peer takes it: nothing else can change. */
static void refresh(struct session_timer *timer)
{
	static const struct sip_request_events events = {
		.on_response = on_response,
		.on_failed = on_failed,
		.on_over = on_over,
	};
	struct session *session = timer->session;
	struct sip_request_options options = { .dialog = session->dialog,
					       .login = &session->login };
	struct buffer headers;

	timer->method =
		timer->has_update || !timer->local ? SIP_UPDATE : SIP_INVITE;
	options.method = timer->method;
	if (timer->method == SIP_INVITE) {
		options.body = slice_of(timer->local);
		offer_enter(&session->offer.state, OFFER_LOCAL);
	}
	buffer_init(&headers, SIP_HEADER_MAX_BYTES);
	session_timer_write(timer, &headers);
	options.headers = buffer_slice(&headers);
	on_over(timer); /* the one before, answered */
	/* Longer than Timers B and F: only a provisional answer waits so. */
	timer_start(timer->timer, SIP_TIMEOUT_MS + 4000, on_timer, timer);
	timer->request =
		sip_request_open(session->ua, &options, &events, timer);
	buffer_reset(&headers);
}

static bool is_busy(const struct session_timer *timer)
{
	const struct session *session = timer->session;

	return session->state != SESSION_UP ||
	       session->offer.state != OFFER_STABLE;
}

static void on_timer(void *arg)
{
	struct session_timer *timer = arg;
	bool is_over = timer->refresher == PEER ||
		       loop_now_us(timer->session->ua->loop) + 1000 >=
			       timer->deadline_us;

	if (timer->request && !timer->ack)
		expire(timer); /* it has had its time */
	else if (!is_over && is_busy(timer))
		timer_start(timer->timer, SIP_T1_MS, on_timer, timer);
	else if (!is_over)
		refresh(timer);
	else if (timer->is_agreed)
		expire(timer);
	else
		arm(timer); /* it was for our own sake */
}

/* ---- as client ---- */

void session_timer_write(const struct session_timer *timer, struct buffer *out)
{
	static const char *const refreshers[] = {
		[NOBODY] = "",
		[US] = ";refresher=uac",
		[PEER] = ";refresher=uas",
	};
	uint32_t interval_s = timer->interval_s
				      ? timer->interval_s
				      : timer->session->ua->session_expires_s;

	sip_header_printf(out, "Session-Expires", "%u%s",
			  larger(interval_s, timer->min_s),
			  refreshers[timer->refresher]);
	sip_header_printf(out, "Min-SE", "%u", timer->min_s);
}

void session_timer_on_success(struct session_timer *timer,
			      const struct sip_message *response)
{
	struct session_expires told;
	uint32_t interval_s;

	learn_methods(timer, response);
	session_expires_parse(&told, response);
	interval_s = told.interval_s;
	timer->too_small = 0;
	timer->is_agreed = told.interval_s > 0;
	timer->refresher = told.refresher == REFRESHER_UAS ? PEER : US;
	if (!timer->is_agreed)
		interval_s = timer->interval_s
				     ? timer->interval_s
				     : timer->session->ua->session_expires_s;
	timer->interval_s = larger(interval_s, SESSION_EXPIRES_MIN_S);
	arm(timer);
}

bool session_timer_on_refusal(struct session_timer *timer,
			      const struct sip_message *response)
{
	struct session_expires told;

	if (response->start.status != 422 ||
	    timer->too_small == TOO_SMALL_MAX ||
	    session_expires_parse(&told, response) ||
	    told.min_s <= timer->min_s)
		return false;
	timer->too_small++;
	timer->min_s = told.min_s;
	return true;
}

/* ---- as server ---- */

int session_timer_check(const struct sip_message *request)
{
	struct session_expires asked;

	if (session_expires_parse(&asked, request))
		return 400;
	/* Only who knows of it can ask again (RFC 4028, 9). */
	return asked.has_interval && asked.is_supported &&
			       asked.interval_s < SESSION_EXPIRES_MIN_S
		       ? 422
		       : 0;
}

void session_timer_take(struct session_timer *timer,
			const struct sip_message *request)
{
	struct slice sdp;

	learn_methods(timer, request);
	session_expires_parse(&timer->asked, request);
	mem_free(timer->asked_sdp);
	timer->asked_sdp = NULL;
	if (body_sdp(request, &sdp) == 0 && sdp.len)
		timer->asked_sdp = slice_dup(sdp);
}

static void answer(struct session_timer *timer,
		   const struct session_expires *asked, struct buffer *out)
{
	uint32_t ours_s = timer->session->ua->session_expires_s;
	uint32_t least_s = larger(asked->min_s, SESSION_EXPIRES_MIN_S);

	timer->interval_s = larger(ours_s, least_s);
	if (asked->interval_s)
		timer->interval_s =
			larger(smaller(timer->interval_s, asked->interval_s),
			       SESSION_EXPIRES_MIN_S);
	timer->refresher =
		asked->is_supported && asked->refresher == REFRESHER_UAC ? PEER
									 : US;
	timer->is_agreed = asked->is_supported || asked->interval_s;
	sip_header_printf(out, "Session-Expires", "%u;refresher=%s",
			  timer->interval_s,
			  timer->refresher == PEER ? "uac" : "uas");
	if (asked->is_supported)
		buffer_add_str(out, "Require: timer\r\n");
	arm(timer);
}

void session_timer_answer(struct session_timer *timer, struct buffer *out)
{
	session_timer_keep(timer, SLICE(""), slice_of(timer->asked_sdp));
	answer(timer, &timer->asked, out);
}

void session_timer_answer_now(struct session_timer *timer,
			      const struct sip_message *request,
			      struct buffer *out)
{
	struct session_expires asked;

	learn_methods(timer, request);
	session_expires_parse(&asked, request);
	answer(timer, &asked, out);
}

/* ---- life ---- */

bool session_timer_is_offering(const struct session_timer *timer)
{
	return timer->request && timer->method == SIP_INVITE && !timer->ack;
}

void session_timer_keep(struct session_timer *timer, struct slice local,
			struct slice remote)
{
	if (local.len) {
		mem_free(timer->local);
		timer->local = slice_dup(local);
	}
	if (remote.len) {
		mem_free(timer->remote);
		timer->remote = slice_dup(remote);
	}
}

struct session_timer *session_timer_new(struct session *session)
{
	struct session_timer *timer = mem_new(sizeof(*timer));

	*timer = (struct session_timer){ .session = session,
					 .timer = timer_new(session->ua->loop),
					 .min_s = SESSION_EXPIRES_MIN_S };
	return timer;
}

void session_timer_stop(struct session_timer *timer)
{
	timer_stop(timer->timer);
	on_over(timer);
}

void session_timer_close(struct session_timer **timer)
{
	struct session_timer *t = *timer;

	if (!t)
		return;
	*timer = NULL;
	session_timer_stop(t);
	timer_close(&t->timer);
	mem_free(t->asked_sdp);
	mem_free(t->local);
	mem_free(t->remote);
	mem_free(t);
}
