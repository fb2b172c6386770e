/* SPDX-License-Identifier: MIT */
/* The layer between an accepted raw link and on_accept: it holds the links
 * whose handshake is not over yet. */
#include <assert.h>
#include <errno.h>
#include "core/log.h"
#include "core/mem.h"
#include "core/tcp.h"
#include "core/timer.h"
#include "core/tls_accept.h"
#include "core/tls_priv.h"

enum { ALERT_MS = 2000 };

struct tls_accept {
	struct tls *tls; /* borrowed: outlives us */
	struct listener *listener; /* borrowed: ends us */
	LIST_HEAD(, tls_link) links; /* owned until delivered */
};

uint32_t tls_accept_handshake_ms(const struct tls_accept *accept)
{
	return listener_options(accept->listener)->handshake_ms;
}

void tls_accept_opened(struct tls_link *x)
{
	struct tls_accept *accept = x->accept;

	LIST_REMOVE(x, in_accept);
	x->accept = NULL;
	x->is_first = true;
	listener_deliver(accept->listener, &x->link);
}

void tls_accept_forget(struct tls_link *x)
{
	LIST_REMOVE(x, in_accept);
	x->accept = NULL;
	tls_link_release(x);
}

static void on_alert_late(void *arg)
{
	tls_accept_forget(arg);
}

void tls_accept_failed(struct tls_link *x, const char *why)
{
	log_info("tls", link_name(&x->link), "client turned away: %s", why);
	tls_link_enter(x, TLS_LINGER);
	if (x->end.is_raw_over)
		tls_accept_forget(x);
	else
		timer_start(x->deadline, ALERT_MS, on_alert_late, x);
}

static void on_raw(void *arg, struct listener *listener, struct link *raw)
{
	struct tls_accept *accept = arg;
	struct tls_trust *trust = accept->tls->trust;
	struct tls_link *x = tls_link_new(trust, accept, NULL, NULL);
	struct addr local, peer;

	x->raw = raw;
	LIST_INSERT_HEAD(&accept->links, x, in_accept);
	if (mbedtls_ssl_setup(&x->ssl, &trust->server)) {
		tls_accept_forget(x);
		return;
	}
	link_local(raw, &local);
	link_peer(raw, &peer);
	link_set_addrs(&x->link, &local, &peer);
	link_attach(raw, &tls_link_raw_events, x);
	tls_shake_start(x);
}

static void on_closing(void *arg)
{
	struct tls_accept *accept = arg;
	struct tls_link *x;

	while ((x = LIST_FIRST(&accept->links)))
		tls_accept_forget(x);
	accept->tls->n_listeners--;
	mem_free(accept);
}

int tls_listen(struct listener **out, struct tls *tls,
	       const struct listen_options *options,
	       listener_accept_fn *on_accept, void *owner)
{
	static const struct listener_layer layer = { on_raw, on_closing };
	struct tls_accept *accept;
	int err;

	*out = NULL;
	if (!tls->options.certificate_file)
		return -ENOKEY;
	err = tcp_listen(out, tls->options.loop, options, on_accept, owner);
	if (err)
		return err;
	accept = mem_new(sizeof(*accept));
	accept->tls = tls;
	accept->listener = *out;
	LIST_INIT(&accept->links);
	listener_set_layer(*out, &layer, accept);
	tls->n_listeners++;
	return 0;
}
