/* SPDX-License-Identifier: MIT */
/* The real TCP by libuv; sim_tcp.c is the simulated one. */
#include "core/tcp.h"
#include <assert.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <uv.h>
#include "core/link_priv.h"
#include "core/loop_priv.h"
#include "core/mem.h"
#include "core/sim_priv.h"
#include "core/tcp_priv.h"
#include "core/timer.h"

enum { KEEPALIVE_S = 60 };

struct tcp {
	struct link link; /* first: links are cast to us */
	uv_tcp_t handle;
	uv_connect_t connect;
	uv_shutdown_t shutdown;
	struct timer *timer; /* owned: connect, linger, or a posted failure */
	unsigned n_writes; /* under way */
	bool is_paused;
	bool has_shut; /* our side is flushed and ended */
	bool has_peer_ended;
	int err; /* of a posted failure */
	const char *why;
};

/* Owned by libuv until on_write(). */
struct write {
	uv_write_t req;
	struct tcp *tcp;
	char bytes[];
};

static struct tcp *tcp_of(struct link *link)
{
	return (struct tcp *)link;
}

static uv_stream_t *stream_of(struct tcp *tcp)
{
	return (uv_stream_t *)&tcp->handle;
}

static bool is_closing(const struct tcp *tcp)
{
	return uv_is_closing((const uv_handle_t *)&tcp->handle);
}

static void on_closed(uv_handle_t *handle)
{
	mem_free(handle->data);
}

/* Last: the owner may close the link. */
static void end(struct tcp *tcp, int err, const char *why)
{
	struct loop *loop = tcp->link.loop;
	uint64_t begin_us = loop_begin(loop);

	timer_stop(tcp->timer);
	uv_read_stop(stream_of(tcp));
	link_emit_close(&tcp->link, err, why);
	loop_end(loop, begin_us);
}

static void on_alloc(uv_handle_t *handle, size_t hint, uv_buf_t *buf)
{
	struct tcp *tcp = handle->data;

	buf->base = tcp->link.loop->scratch;
	buf->len = LOOP_SCRATCH_BYTES;
}

static void on_read_while_ending(struct tcp *tcp, ssize_t n)
{
	if (n >= 0)
		return; /* too late: nobody wants it */
	uv_read_stop(stream_of(tcp));
	tcp->has_peer_ended = true;
	if (tcp->has_shut)
		end(tcp, 0, TCP_WHY_HERE);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct tcp *tcp = stream->data;
	struct loop *loop = tcp->link.loop;
	uint64_t begin_us;

	if (n == 0)
		return; /* EAGAIN */
	if (tcp->why || tcp->link.state == LINK_ENDED)
		return;
	if (tcp->link.state == LINK_ENDING) {
		on_read_while_ending(tcp, n);
	} else if (n == UV_EOF) {
		end(tcp, 0, TCP_WHY_PEER);
	} else if (n < 0) {
		end(tcp, (int)n, uv_strerror((int)n));
	} else {
		begin_us = loop_begin(loop);
		link_emit_data(&tcp->link, slice_make(buf->base, (size_t)n));
		loop_end(loop, begin_us);
	}
}

static void start_reading(struct tcp *tcp)
{
	if (tcp->is_paused || !tcp->link.is_attached || tcp->why ||
	    tcp->has_peer_ended || tcp->link.state == LINK_CONNECTING ||
	    tcp->link.state == LINK_ENDED)
		return;
	uv_read_start(stream_of(tcp), on_alloc, on_read);
}

static void on_failed(void *arg)
{
	struct tcp *tcp = arg;

	end(tcp, tcp->err, tcp->why);
}

static void fail(struct link *link, int err, const char *why)
{
	struct tcp *tcp = tcp_of(link);

	if (tcp->why)
		return;
	link->state = LINK_ENDING;
	tcp->err = err;
	tcp->why = why;
	uv_read_stop(stream_of(tcp));
	timer_start(tcp->timer, 0, on_failed, tcp);
}

static void on_write(uv_write_t *req, int status)
{
	struct write *write = (struct write *)req;
	struct tcp *tcp = write->tcp;
	struct loop *loop = tcp->link.loop;
	uint64_t begin_us;

	mem_free(write);
	tcp->n_writes--;
	if (is_closing(tcp) || tcp->why || tcp->link.state == LINK_ENDED)
		return;
	if (status < 0) {
		end(tcp, status, uv_strerror(status));
	} else if (!tcp->n_writes && tcp->link.state == LINK_OPEN) {
		begin_us = loop_begin(loop);
		link_emit_drain(&tcp->link);
		loop_end(loop, begin_us);
	}
}

static int send_bytes(struct link *link, struct slice bytes)
{
	struct tcp *tcp = tcp_of(link);
	struct write *write = mem_new(sizeof(*write) + bytes.len);
	uv_buf_t buf = uv_buf_init(write->bytes, (unsigned)bytes.len);
	int err;

	memcpy(write->bytes, bytes.ptr, bytes.len);
	write->tcp = tcp;
	err = uv_write(&write->req, stream_of(tcp), &buf, 1, on_write);
	if (err) {
		mem_free(write);
		return -EPIPE;
	}
	tcp->n_writes++;
	return 0;
}

static size_t queued_bytes(const struct link *link)
{
	const struct tcp *tcp = (const struct tcp *)link;

	return uv_stream_get_write_queue_size(
		(const uv_stream_t *)&tcp->handle);
}

static void pause_reading(struct link *link)
{
	tcp_of(link)->is_paused = true;
	uv_read_stop(stream_of(tcp_of(link)));
}

static void resume_reading(struct link *link)
{
	tcp_of(link)->is_paused = false;
	start_reading(tcp_of(link));
}

static void on_lingered(void *arg)
{
	end(arg, 0, TCP_WHY_HERE);
}

static void on_shutdown(uv_shutdown_t *req, int status)
{
	struct tcp *tcp = req->data;

	if (is_closing(tcp) || tcp->why || tcp->link.state == LINK_ENDED)
		return;
	tcp->has_shut = true;
	if (status < 0 || tcp->has_peer_ended)
		end(tcp, status, status ? uv_strerror(status) : TCP_WHY_HERE);
	else
		timer_start(tcp->timer, TCP_LINGER_MS, on_lingered, tcp);
}

/* Closing with unread bytes would send a reset that takes our last ones with
 * it, so the peer's rest is read and dropped for a moment. */
static void shut_down(struct link *link)
{
	struct tcp *tcp = tcp_of(link);
	int err;

	tcp->shutdown.data = tcp;
	err = uv_shutdown(&tcp->shutdown, stream_of(tcp), on_shutdown);
	if (err) {
		fail(link, 0, TCP_WHY_HERE); /* not connected */
		return;
	}
	tcp->is_paused = false;
	link->is_attached = true;
	start_reading(tcp);
}

static void close_link(struct link *link)
{
	struct tcp *tcp = tcp_of(link);

	timer_close(&tcp->timer);
	link_reset(link);
	uv_close((uv_handle_t *)&tcp->handle, on_closed);
}

static void attach(struct link *link)
{
	start_reading(tcp_of(link));
}

static const struct link_ops ops = {
	.send = send_bytes,
	.queued_bytes = queued_bytes,
	.pause = pause_reading,
	.resume = resume_reading,
	.shutdown = shut_down,
	.fail = fail,
	.close = close_link,
	.attach = attach,
};

static struct tcp *new_tcp(struct loop *loop, unsigned family,
			   const struct link_events *events, void *owner)
{
	struct tcp *tcp = mem_new(sizeof(*tcp));

	if (uv_tcp_init_ex(loop_uv(loop), &tcp->handle, family)) {
		mem_free(tcp);
		return NULL; /* no descriptor left */
	}
	tcp->handle.data = tcp;
	link_init(&tcp->link, &ops, loop, events, owner);
	tcp->timer = timer_new(loop);
	return tcp;
}

static void set_options(struct tcp *tcp)
{
	int lost_ms = TCP_LOST_MS, fd;

	/* None of them is worth losing the connection for. */
	uv_tcp_nodelay(&tcp->handle, 1);
	uv_tcp_keepalive(&tcp->handle, 1, KEEPALIVE_S);
	if (uv_fileno((uv_handle_t *)&tcp->handle, &fd) == 0)
		setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &lost_ms,
			   sizeof(lost_ms));
}

static void read_addrs(struct tcp *tcp)
{
	struct addr local = { 0 }, peer = tcp->link.peer;
	int size = sizeof(local);

	uv_tcp_getsockname(&tcp->handle, &local.sa, &size);
	size = sizeof(peer);
	uv_tcp_getpeername(&tcp->handle, &peer.sa, &size);
	link_set_addrs(&tcp->link, &local, &peer);
}

static void on_connect(uv_connect_t *req, int status)
{
	struct tcp *tcp = req->data;
	struct loop *loop = tcp->link.loop;
	uint64_t begin_us;

	if (is_closing(tcp) || tcp->link.state != LINK_CONNECTING)
		return;
	timer_stop(tcp->timer);
	if (status < 0) {
		end(tcp, status, uv_strerror(status));
		return;
	}
	read_addrs(tcp);
	begin_us = loop_begin(loop);
	tcp->link.state = LINK_OPEN;
	start_reading(tcp);
	link_emit_open(&tcp->link);
	loop_end(loop, begin_us);
}

static void on_connect_late(void *arg)
{
	end(arg, -ETIMEDOUT, TCP_WHY_TIMEOUT);
}

int tcp_connect(struct link **out, struct loop *loop, const struct addr *to,
		const struct link_events *events, void *owner)
{
	const struct addr nowhere = { 0 };
	struct tcp *tcp;
	int err;

	*out = NULL;
	if (loop_is_sim(loop))
		return sim_tcp_connect(out, loop, to, events, owner);
	tcp = new_tcp(loop, to->sa.sa_family, events, owner);
	if (!tcp)
		return -EMFILE;
	set_options(tcp);
	link_set_addrs(&tcp->link, &nowhere, to);
	tcp->connect.data = tcp;
	err = uv_tcp_connect(&tcp->connect, &tcp->handle, &to->sa, on_connect);
	if (err) {
		close_link(&tcp->link);
		return err;
	}
	timer_start(tcp->timer, TCP_CONNECT_MS, on_connect_late, tcp);
	*out = &tcp->link;
	return 0;
}

struct link *tcp_accept(struct loop *loop, struct uv_stream_s *server)
{
	struct tcp *tcp = new_tcp(loop, AF_UNSPEC, NULL, NULL);

	assert(tcp); /* without a family no descriptor is opened */
	if (uv_accept(server, stream_of(tcp))) {
		close_link(&tcp->link);
		return NULL;
	}
	set_options(tcp);
	read_addrs(tcp);
	return &tcp->link;
}
