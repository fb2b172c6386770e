/* SPDX-License-Identifier: MIT */
/* The handshake of a link. A resumption costs 25 us and is done on the loop; a
 * full one (1.4 to 3.1 ms) in jobs, each of which goes as far as the bytes at
 * hand let it. While a job is under way the loop leaves ssl and pipe alone and
 * the raw link is paused. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "core/loop.h"
#include "core/timer.h"
#include "core/tls_accept.h"
#include "core/tls_priv.h"
#include "core/work.h"

enum { CLIENT_HANDSHAKE_MS = 5000 };

/* RFC 5246, 7.2; what an operator can do something about. */
static const struct {
	int alert;
	const char *text;
} alerts[] = {
	{ MBEDTLS_SSL_ALERT_MSG_HANDSHAKE_FAILURE,
	  "handshake_failure: no cipher in common, or our certificate is "
	  "missing" },
	{ MBEDTLS_SSL_ALERT_MSG_NO_CERT, "no_certificate" },
	{ MBEDTLS_SSL_ALERT_MSG_BAD_CERT,
	  "bad_certificate: it refused our certificate" },
	{ MBEDTLS_SSL_ALERT_MSG_UNSUPPORTED_CERT,
	  "unsupported_certificate: it refused our certificate" },
	{ MBEDTLS_SSL_ALERT_MSG_CERT_REVOKED,
	  "certificate_revoked: it refused our certificate" },
	{ MBEDTLS_SSL_ALERT_MSG_CERT_EXPIRED,
	  "certificate_expired: it refused our certificate" },
	{ MBEDTLS_SSL_ALERT_MSG_CERT_UNKNOWN,
	  "certificate_unknown: it refused our certificate" },
	{ MBEDTLS_SSL_ALERT_MSG_UNKNOWN_CA,
	  "unknown_ca: it does not trust the CA of our certificate" },
	{ MBEDTLS_SSL_ALERT_MSG_ACCESS_DENIED, "access_denied" },
	{ MBEDTLS_SSL_ALERT_MSG_DECRYPT_ERROR, "decrypt_error" },
	{ MBEDTLS_SSL_ALERT_MSG_PROTOCOL_VERSION,
	  "protocol_version: no TLS version in common (1.2 is the lowest)" },
	{ MBEDTLS_SSL_ALERT_MSG_INSUFFICIENT_SECURITY,
	  "insufficient_security" },
	{ MBEDTLS_SSL_ALERT_MSG_INTERNAL_ERROR, "internal_error" },
	{ MBEDTLS_SSL_ALERT_MSG_UNRECOGNIZED_NAME,
	  "unrecognized_name: it does not serve this name" },
};

/* Certificates would have come now if the session was not being resumed. */
static bool is_full_now(const struct tls_link *x)
{
	return tls_compat_state(&x->ssl) == MBEDTLS_SSL_SERVER_CERTIFICATE;
}

static bool is_over(const struct tls_link *x)
{
	return tls_compat_state(&x->ssl) == MBEDTLS_SSL_HANDSHAKE_OVER;
}

static void tell_alert(struct buffer *why, int alert)
{
	for (size_t i = 0; i < sizeof(alerts) / sizeof(alerts[0]); i++) {
		if (alerts[i].alert == alert) {
			buffer_printf(why, "peer ended the TLS handshake: %s",
				      alerts[i].text);
			return;
		}
	}
	buffer_printf(why, "peer ended the TLS handshake: alert %d", alert);
}

static void tell_failure(struct buffer *why, const struct tls_link *x)
{
	char text[128];

	switch (x->shake.result) {
	case MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE:
		tell_alert(why, tls_compat_alert(&x->ssl));
		return;
	case MBEDTLS_ERR_SSL_NO_CLIENT_CERTIFICATE:
		buffer_add_str(why, "peer sent no certificate");
		return;
	case MBEDTLS_ERR_SSL_INVALID_RECORD:
		buffer_add_str(why, "peer does not speak TLS 1.2 or higher");
		return;
	default:
		mbedtls_strerror(x->shake.result, text, sizeof(text));
		buffer_printf(why, "TLS handshake failed: %s", text);
	}
}

/* A server's sessions are in its tickets; those of a client with an identity of
 * its own are not kept, because the cache does not know identities. */
static bool is_resumable(const struct tls_link *x)
{
	return !x->verify.is_server && !x->shown.identity;
}

static struct tls_session_key session_key(const struct tls_link *x)
{
	return (struct tls_session_key){ .name = x->verify.name,
					 .port = addr_port(&x->link.peer),
					 .is_sip = x->verify.is_sip };
}

/* The one failure about which the library leaves the peer in the dark
 * (RFC 5246, 7.4.6). */
static void alert_no_certificate(struct tls_link *x)
{
	mbedtls_ssl_send_alert_message(&x->ssl, MBEDTLS_SSL_ALERT_LEVEL_FATAL,
				       MBEDTLS_SSL_ALERT_MSG_HANDSHAKE_FAILURE);
	tls_pipe_flush(&x->pipe, x->raw);
}

static void fail(struct tls_link *x)
{
	struct tls_session_key key = session_key(x);
	int err = tls_verify_error(&x->verify);

	buffer_clear(&x->end.why);
	if (err) {
		buffer_add(&x->end.why, buffer_slice(&x->verify.why));
	} else {
		err = -EPROTO;
		tell_failure(&x->end.why, x);
	}
	if (x->shake.result == MBEDTLS_ERR_SSL_NO_CLIENT_CERTIFICATE)
		alert_no_certificate(x);
	if (is_resumable(x))
		tls_sessions_drop(x->trust->sessions, &key);
	tls_link_ended(x, err, buffer_str(&x->end.why));
}

/* The raw link has ended in the middle. */
static void fail_cut(struct tls_link *x)
{
	struct buffer *why = &x->end.why;
	int err = x->end.raw_err;

	if (!err) {
		err = -ECONNRESET;
		buffer_clear(why);
		buffer_add_str(why, "peer closed during the TLS handshake");
	}
	tls_link_ended(x, err, buffer_str(why));
}

/* Nothing may go on over a link that was not verified: a full handshake has
 * seen the certificate, a resumed one was offered under this very name. */
static void check_verified(const struct tls_link *x)
{
	if (x->verify.is_server)
		return;
	assert(x->verify.name);
	assert(x->shake.is_full ? x->verify.is_passed : x->shake.is_offered);
}

static void over(struct tls_link *x)
{
	struct tls_session_key key = session_key(x);

	check_verified(x);
	timer_stop(x->deadline);
	if (is_resumable(x)) {
		if (x->shake.is_full)
			tls_sessions_drop(x->trust->sessions, &key);
		tls_sessions_keep(x->trust->sessions, &key,
				  loop_now_us(x->link.loop), &x->ssl);
	}
	tls_link_opened(x);
}

/* After a step or a job: where are we? */
static void settle(struct tls_link *x)
{
	tls_pipe_flush(&x->pipe, x->raw);
	if (is_over(x))
		over(x);
	else if (x->shake.result &&
		 x->shake.result != MBEDTLS_ERR_SSL_WANT_READ)
		fail(x);
	else if (x->end.is_raw_over)
		fail_cut(x);
}

static void run(void *arg)
{
	struct tls_link *x = arg;

	pthread_mutex_lock(&x->trust->job_lock);
	if (x->shown.identity)
		pthread_mutex_lock(&x->shown.identity->job_lock);
	do
		x->shake.result = mbedtls_ssl_handshake_step(&x->ssl);
	while (!x->shake.result && !is_over(x));
	if (x->shown.identity)
		pthread_mutex_unlock(&x->shown.identity->job_lock);
	pthread_mutex_unlock(&x->trust->job_lock);
}

static void on_done(void *arg)
{
	struct tls_link *x = arg;

	if (x->state == TLS_ABANDONED) {
		tls_link_free(x);
		return;
	}
	if (x->state != TLS_SHAKING) /* the time ran out meanwhile */
		return;
	tls_link_pause_raw(x, false);
	settle(x);
}

static void start_job(struct tls_link *x)
{
	static const struct job_fns fns = { run, on_done };

	tls_link_pause_raw(x, true);
	work_queue(x->trust->work, WORK_CPU, &x->job, &fns, x);
}

void tls_shake_go_on(struct tls_link *x)
{
	if (x->job)
		return; /* on_done() looks at everything anew */
	x->verify.wall_ms = loop_wall_ms(x->link.loop);
	x->shake.result = 0;
	while (!x->shake.result && !is_over(x) && !x->shake.is_full) {
		x->shake.result = mbedtls_ssl_handshake_step(&x->ssl);
		x->shake.is_full = is_full_now(x);
	}
	if (x->shake.is_full && !x->end.is_raw_over &&
	    (!x->shake.result || x->shake.result == MBEDTLS_ERR_SSL_WANT_READ))
		start_job(x);
	else
		settle(x);
}

static void on_deadline(void *arg)
{
	tls_link_ended(arg, -ETIMEDOUT, "TLS handshake timed out");
}

void tls_shake_start(struct tls_link *x)
{
	struct tls_session_key key = session_key(x);
	uint32_t ms = CLIENT_HANDSHAKE_MS;

	if (x->accept)
		ms = tls_accept_handshake_ms(x->accept);
	else if (is_resumable(x) &&
		 tls_sessions_offer(x->trust->sessions, &key,
				    loop_now_us(x->link.loop), &x->ssl))
		x->shake.is_offered = true;
	timer_start(x->deadline, ms, on_deadline, x);
	tls_link_enter(x, TLS_SHAKING);
	tls_shake_go_on(x);
}
