/* SPDX-License-Identifier: MIT */
/* The listening half of the real TCP. */
#include "core/tcp.h"
#include <errno.h>
#include <uv.h>
#include "core/listener_priv.h"
#include "core/log.h"
#include "core/loop_priv.h"
#include "core/mem.h"
#include "core/sim_priv.h"
#include "core/tcp_priv.h"

enum { BACKLOG = 512 };

struct transport {
	uv_tcp_t *handle; /* owned, frees itself; NULL once paused */
	struct listener *listener; /* borrowed: owns us */
};

static void on_closed(uv_handle_t *handle)
{
	mem_free(handle);
}

static void pause_transport(void *arg)
{
	struct transport *transport = arg;

	if (transport->handle)
		uv_close((uv_handle_t *)transport->handle, on_closed);
	transport->handle = NULL;
}

static void close_transport(void *arg)
{
	pause_transport(arg);
	mem_free(arg);
}

static const struct listener_ops ops = {
	.pause = pause_transport,
	.close = close_transport,
};

static void on_connection(uv_stream_t *server, int status)
{
	struct transport *transport = server->data;
	struct loop *loop = listener_loop(transport->listener);
	struct link *raw;
	uint64_t begin_us;

	if (status < 0) {
		log_warn("listener", NULL, "port %u cannot accept: %s",
			 listener_port(transport->listener),
			 uv_strerror(status));
		return;
	}
	raw = tcp_accept(loop, server);
	if (!raw)
		return;
	begin_us = loop_begin(loop);
	listener_on_link(transport->listener, raw);
	loop_end(loop, begin_us);
}

static int listen_real(struct listener *listener, struct loop *loop,
		       const struct addr *bind)
{
	struct transport *transport = mem_new(sizeof(*transport));
	struct addr local = { 0 };
	int size = sizeof(local), err;

	transport->handle = mem_new(sizeof(*transport->handle));
	transport->listener = listener;
	uv_tcp_init(loop_uv(loop), transport->handle);
	transport->handle->data = transport;
	err = uv_tcp_bind(transport->handle, &bind->sa, 0);
	if (!err)
		err = uv_listen((uv_stream_t *)transport->handle, BACKLOG,
				on_connection);
	if (!err)
		err = uv_tcp_getsockname(transport->handle, &local.sa, &size);
	if (err) {
		close_transport(transport);
		return err;
	}
	listener_set_transport(listener, &ops, transport, &local);
	return 0;
}

int tcp_listen(struct listener **out, struct loop *loop,
	       const struct listen_options *options,
	       listener_accept_fn *on_accept, void *owner)
{
	struct listener *listener =
		listener_new(loop, options, on_accept, owner);
	int err;

	if (loop_is_sim(loop))
		err = sim_tcp_listen(listener, loop, &options->bind);
	else
		err = listen_real(listener, loop, &options->bind);
	if (err)
		listener_close(&listener);
	*out = listener;
	return err;
}
