/* SPDX-License-Identifier: MIT */
/* A TLS connection once its raw link carries bytes: plain text in and out. */
#include <assert.h>
#include <errno.h>
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/tcp.h"
#include "core/timer.h"
#include "core/tls_accept.h"
#include "core/tls_priv.h"
#include "core/work.h"

enum {
	TURN_BYTES = 2 * TLS_RECORD_BYTES, /* per link: none starves */
	IN_HIGH_BYTES = 64 * 1024, /* the raw link rests above it */
	NAME_MAX_LEN = 253,
	WHY_MAX_BYTES = 2048,
};

#define TO(state) (1u << (state))

static const struct {
	const char *name;
	unsigned next;
} states[] = {
	[TLS_CONNECTING] = { "connecting",
			     TO(TLS_SHAKING) | TO(TLS_ENDED) | TO(TLS_LINGER) },
	[TLS_SHAKING] = { "shaking", TO(TLS_OPEN) | TO(TLS_ENDED) |
					     TO(TLS_LINGER) |
					     TO(TLS_ABANDONED) },
	[TLS_OPEN] = { "open", TO(TLS_CLOSING) | TO(TLS_ENDED) },
	[TLS_CLOSING] = { "closing", TO(TLS_ENDED) },
	[TLS_ENDED] = { "ended", TO(TLS_ABANDONED) },
	[TLS_LINGER] = { "linger", TO(TLS_ABANDONED) },
	[TLS_ABANDONED] = { "abandoned", 0 },
};

static struct tls_link *of(struct link *link)
{
	return (struct tls_link *)link; /* link is its first member */
}

void tls_link_enter(struct tls_link *x, enum tls_state next)
{
	assert(states[x->state].next & TO(next));
	log_debug("tls", x->link.name, "%s -> %s", states[x->state].name,
		  states[next].name);
	x->state = next;
}

void tls_link_pause_raw(struct tls_link *x, bool on)
{
	if (x->is_raw_paused == on)
		return;
	x->is_raw_paused = on;
	if (on)
		link_pause(x->raw);
	else
		link_resume(x->raw);
}

void tls_link_release(struct tls_link *x)
{
	if (!x->job) {
		tls_link_free(x);
		return;
	}
	link_close(&x->raw);
	timer_stop(x->deadline);
	timer_stop(x->post);
	tls_link_enter(x, TLS_ABANDONED);
	job_cancel(&x->job); /* its end frees x */
}

void tls_link_free(struct tls_link *x)
{
	link_close(&x->raw);
	timer_close(&x->deadline);
	timer_close(&x->post);
	mbedtls_ssl_free(&x->ssl); /* wipes keys and buffers */
	if (x->shown.conf)
		mbedtls_ssl_config_free(x->shown.conf);
	mem_free(x->shown.conf);
	tls_identity_close(&x->shown.identity);
	tls_verify_reset(&x->verify);
	tls_pipe_reset(&x->pipe);
	buffer_reset(&x->unsent);
	buffer_reset(&x->end.why);
	tls_trust_release(&x->trust);
	mem_free(x);
}

void tls_link_ended(struct tls_link *x, int err, const char *why)
{
	timer_stop(x->deadline);
	timer_stop(x->post);
	if (x->raw && !x->end.is_raw_over)
		link_shutdown(x->raw); /* after what is queued: an alert */
	if (x->accept) {
		tls_accept_failed(x, why);
		return;
	}
	tls_link_enter(x, TLS_ENDED);
	link_emit_close(&x->link, err, why);
}

static void on_post(void *arg);

static void post(struct tls_link *x)
{
	timer_start(x->post, 0, on_post, x);
}

/* Ends it in the next turn; err and why wait in x->end. */
static void post_end(struct tls_link *x, int err, const char *why)
{
	if (x->end.is_posted)
		return;
	x->end.is_posted = true;
	x->end.err = err;
	buffer_clear(&x->end.why);
	buffer_add_str(&x->end.why, why);
	post(x);
}

/* Sending */

static void encrypt(struct tls_link *x)
{
	if (tls_pipe_write(&x->pipe, &x->ssl, x->raw, &x->unsent))
		post_end(x, -EPROTO, "TLS could not encrypt");
}

/* In order: what is queued, close_notify, the end of the raw link. */
static void go_on_sending(struct tls_link *x)
{
	if (x->end.is_raw_over)
		return;
	encrypt(x);
	if (x->link.state != LINK_ENDING || x->unsent.len)
		return;
	mbedtls_ssl_close_notify(&x->ssl);
	tls_pipe_flush(&x->pipe, x->raw);
	tls_link_enter(x, TLS_CLOSING);
	tls_link_pause_raw(x, false);
	link_shutdown(x->raw);
}

static int op_send(struct link *link, struct slice bytes)
{
	struct tls_link *x = of(link);

	buffer_add(&x->unsent, bytes);
	x->owes_drain = true;
	if (x->state != TLS_OPEN || x->end.is_raw_over)
		return 0;
	if (x->unsent.len >= TLS_RECORD_BYTES)
		encrypt(x);
	if (x->unsent.len) /* what else comes in this turn goes with it */
		post(x);
	return 0;
}

static size_t op_queued_bytes(const struct link *link)
{
	const struct tls_link *x = (const struct tls_link *)link;
	bool is_up = x->raw && !x->end.is_raw_over;

	return x->unsent.len + (is_up ? link_queued_bytes(x->raw) : 0);
}

/* Receiving */

static bool is_reading(const struct tls_link *x)
{
	return x->state == TLS_OPEN && x->link.state == LINK_OPEN &&
	       x->link.is_attached && !x->is_paused;
}

static void tell_end(struct tls_link *x)
{
	struct buffer *why = &x->end.why;
	char text[128];

	if (x->end.read == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY) {
		mbedtls_ssl_close_notify(&x->ssl);
		tls_pipe_flush(&x->pipe, x->raw);
		tls_link_ended(x, 0, "peer closed");
	} else if (x->end.read) {
		buffer_clear(why);
		mbedtls_strerror(x->end.read, text, sizeof(text));
		buffer_printf(why, "TLS failed: %s", text);
		tls_link_ended(x, -EPROTO, buffer_str(why));
	} else if (x->end.raw_err) {
		tls_link_ended(x, x->end.raw_err, buffer_str(why));
	} else {
		tls_link_ended(x, -ECONNRESET,
			       "connection cut: no end of TLS came before it");
	}
}

/* One helping to the owner, the next in another turn. */
static void deliver(struct tls_link *x)
{
	unsigned char data[TURN_BYTES];
	struct tls_space space = { data, sizeof(data) };
	size_t n;

	if (!is_reading(x))
		return;
	n = tls_pipe_read(&x->pipe, &x->ssl, space, &x->end.read);
	tls_pipe_flush(&x->pipe, x->raw);
	if (!n && (x->end.read || x->end.is_raw_over)) {
		tell_end(x);
		return;
	}
	if (x->pipe.in.len < IN_HIGH_BYTES && !x->end.is_raw_over)
		tls_link_pause_raw(x, false);
	if (!n)
		return;
	if (n == sizeof(data) || x->end.read || x->end.is_raw_over)
		post(x);
	if (x->is_first)
		listener_on_first_byte(x->raw);
	x->is_first = false;
	link_emit_data(&x->link, slice_make(data, n)); /* may close x */
}

static void on_post(void *arg)
{
	struct tls_link *x = arg;

	if (x->end.is_posted) {
		tls_link_ended(x, x->end.err, buffer_str(&x->end.why));
		return;
	}
	if (x->state != TLS_OPEN)
		return;
	go_on_sending(x);
	deliver(x);
}

void tls_link_opened(struct tls_link *x)
{
	tls_link_enter(x, TLS_OPEN);
	if (x->is_paused)
		tls_link_pause_raw(x, true);
	post(x); /* what waits on either side */
	if (x->accept)
		tls_accept_opened(x);
	else if (x->link.state == LINK_CONNECTING)
		link_emit_open(&x->link);
}

static void op_pause(struct link *link)
{
	struct tls_link *x = of(link);

	x->is_paused = true;
	if (x->state == TLS_OPEN && !x->end.is_raw_over)
		tls_link_pause_raw(x, true);
}

static void op_resume(struct link *link)
{
	struct tls_link *x = of(link);

	x->is_paused = false;
	if (x->state == TLS_OPEN) /* deliver() resumes the raw link */
		post(x);
}

static void op_shutdown(struct link *link)
{
	struct tls_link *x = of(link);

	if (x->state == TLS_OPEN)
		post(x);
	else
		post_end(x, 0, "closed before it was open");
}

static void op_fail(struct link *link, int err, const char *why)
{
	post_end(of(link), err, why);
}

static void op_close(struct link *link)
{
	struct tls_link *x = of(link);

	if (x->state == TLS_OPEN && !x->unsent.len && !x->end.is_raw_over) {
		mbedtls_ssl_close_notify(&x->ssl);
		tls_pipe_flush(&x->pipe, x->raw);
	}
	link_reset(link);
	tls_link_release(x);
}

static void op_attach(struct link *link)
{
	post(of(link));
}

static bool op_has_peer_name(const struct link *link, struct slice name)
{
	const struct tls_link *x = (const struct tls_link *)link;
	const struct tls_verify rules = {
		.is_sip = true,
		.no_wildcards = x->trust->no_sip_wildcards,
	};
	const mbedtls_x509_crt *crt = NULL;

	if (x->link.state != LINK_CONNECTING && !x->job)
		crt = mbedtls_ssl_get_peer_cert(&x->ssl);
	return crt && tls_verify_has_name(&rules, crt, name);
}

static const struct link_ops ops = {
	.send = op_send,
	.queued_bytes = op_queued_bytes,
	.pause = op_pause,
	.resume = op_resume,
	.shutdown = op_shutdown,
	.fail = op_fail,
	.close = op_close,
	.attach = op_attach,
	.has_peer_name = op_has_peer_name,
};

/* What the raw link tells */

static void raw_on_open(void *arg)
{
	struct tls_link *x = arg;
	struct addr local, peer;

	link_local(x->raw, &local);
	link_peer(x->raw, &peer);
	link_set_addrs(&x->link, &local, &peer);
	tls_shake_start(x);
}

static void raw_on_data(void *arg, struct slice data)
{
	struct tls_link *x = arg;

	if (x->state != TLS_SHAKING && x->state != TLS_OPEN)
		return;
	assert(!x->job);
	tls_pipe_compact(&x->pipe);
	buffer_add(&x->pipe.in, data);
	if (x->pipe.in.len >= IN_HIGH_BYTES)
		tls_link_pause_raw(x, true);
	if (x->state == TLS_SHAKING)
		tls_shake_go_on(x);
	else
		deliver(x);
}

static void raw_on_drain(void *arg)
{
	struct tls_link *x = arg;

	if (x->state != TLS_OPEN)
		return;
	go_on_sending(x);
	if (!x->owes_drain || x->state != TLS_OPEN || x->unsent.len ||
	    link_queued_bytes(x->raw))
		return;
	x->owes_drain = false;
	link_emit_drain(&x->link);
}

static void raw_on_close(void *arg, int err, const char *why)
{
	struct tls_link *x = arg;

	x->end.is_raw_over = true;
	x->end.raw_err = err;
	if (!x->end.is_posted) {
		buffer_clear(&x->end.why);
		buffer_add_str(&x->end.why, why);
	}
	switch (x->state) {
	case TLS_CONNECTING:
		tls_link_ended(x, err, why);
		return;
	case TLS_SHAKING:
		tls_shake_go_on(x);
		return;
	case TLS_OPEN:
		if (x->link.state == LINK_ENDING)
			tls_link_ended(x, err, why);
		else
			deliver(x);
		return;
	case TLS_CLOSING:
		tls_link_ended(x, err, why);
		return;
	case TLS_LINGER:
		tls_accept_forget(x);
		return;
	case TLS_ENDED:
	case TLS_ABANDONED:
		return;
	}
}

const struct link_events tls_link_raw_events = {
	.on_open = raw_on_open,
	.on_data = raw_on_data,
	.on_drain = raw_on_drain,
	.on_close = raw_on_close,
};

struct tls_link *tls_link_new(struct tls_trust *trust,
			      struct tls_accept *accept,
			      const struct link_events *events, void *owner)
{
	struct tls_link *x = mem_new(sizeof(*x));

	link_init(&x->link, &ops, trust->loop, events, owner);
	tls_trust_hold(trust);
	x->trust = trust;
	x->accept = accept;
	x->deadline = timer_new(trust->loop);
	x->post = timer_new(trust->loop);
	x->verify.is_server = accept != NULL;
	buffer_init(&x->verify.why, WHY_MAX_BYTES);
	buffer_init(&x->unsent, LINK_QUEUE_MAX_BYTES);
	buffer_init(&x->end.why, WHY_MAX_BYTES);
	mbedtls_ssl_init(&x->ssl);
	tls_pipe_init(&x->pipe, &x->ssl);
	mbedtls_ssl_set_verify(&x->ssl, tls_verify_on_certificate, &x->verify);
	return x;
}

static int set_up_client(struct tls_link *x, struct tls_identity *identity)
{
	int ret = 0;

	if (identity) {
		x->shown.identity = tls_identity_hold(identity);
		x->shown.conf = mem_new(sizeof(*x->shown.conf));
		ret = tls_trust_configure(x->trust, x->shown.conf, identity);
	}
	return ret ? ret
		   : mbedtls_ssl_setup(&x->ssl, x->shown.conf
							? x->shown.conf
							: &x->trust->client);
}

/* An IP literal is no server name (RFC 6066, 3). */
static int start_client(struct tls_link *x, const struct tls_target *target)
{
	struct slice name = slice_of(target->name);
	struct addr literal;

	x->verify.name = mem_dup_str(target->name);
	x->verify.is_sip = target->is_sip;
	x->verify.no_wildcards = target->is_sip && x->trust->no_sip_wildcards;
	if (set_up_client(x, target->identity))
		return -EIO;
	if (addr_parse(&literal, name, 0) &&
	    mbedtls_ssl_set_hostname(&x->ssl, target->name))
		return -EINVAL;
	link_set_addrs(&x->link, &x->link.local, &target->addr);
	return tcp_connect(&x->raw, x->link.loop, &target->addr,
			   &tls_link_raw_events, x);
}

int tls_connect(struct link **out, struct tls *tls,
		const struct tls_target *target,
		const struct link_events *events, void *owner)
{
	struct slice name = slice_of(target->name);
	struct tls_link *x;
	int err;

	*out = NULL;
	if (!name.len || name.len > NAME_MAX_LEN)
		return -EINVAL; /* mbedTLS would let any name pass */
	x = tls_link_new(tls->trust, NULL, events, owner);
	err = start_client(x, target);
	if (err)
		tls_link_free(x);
	else
		*out = &x->link;
	return err;
}
