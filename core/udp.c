/* SPDX-License-Identifier: MIT */
#include "core/udp.h"
#include <assert.h>
#include <errno.h>
#include <unistd.h>
#include <uv.h>
#include "core/log.h"
#include "core/loop_priv.h"
#include "core/mem.h"
#include "core/udp_priv.h"

enum {
	/* A second of voice; more would only come too late. */
	RECEIVE_BUFFER_BYTES = 64 * 1024,
	/* Pending errors that one call reads past. */
	ERRORS_AT_ONCE = 16,
};

/* libuv keeps the handle for a while after udp_close(). */
struct udp_poll {
	uv_poll_t handle;
};

static int open_socket(struct udp *udp, const struct addr *to_bind)
{
	int bytes = RECEIVE_BUFFER_BYTES;
	socklen_t size = sizeof(udp->local);

	udp->fd = socket(to_bind->sa.sa_family,
			 SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (udp->fd < 0)
		return -errno;
	setsockopt(udp->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	if (bind(udp->fd, &to_bind->sa, addr_size(to_bind)) ||
	    getsockname(udp->fd, &udp->local.sa, &size))
		return -errno;
	return 0;
}

int udp_open(struct udp **out, struct loop *loop, const struct addr *bind)
{
	struct udp *udp = mem_new(sizeof(*udp));
	int err;

	udp->loop = loop;
	udp->fd = -1;
	if (loop_is_sim(loop))
		err = sim_udp_open(udp, bind);
	else
		err = open_socket(udp, bind);
	if (err && udp->fd >= 0)
		close(udp->fd);
	if (err) {
		mem_free(udp);
		udp = NULL;
	}
	*out = udp;
	return err;
}

static void on_poll_closed(uv_handle_t *handle)
{
	mem_free(handle);
}

static void stop_watching(struct udp *udp)
{
	if (udp->poll)
		uv_close((uv_handle_t *)&udp->poll->handle, on_poll_closed);
	udp->poll = NULL;
}

void udp_close(struct udp **udp)
{
	struct udp *old = *udp;

	if (!old)
		return;
	*udp = NULL;
	if (loop_is_sim(old->loop)) {
		sim_udp_close(old);
	} else {
		stop_watching(old); /* before its descriptor goes */
		close(old->fd);
	}
	if (old->refusals)
		log_debug("udp", NULL, "port %u: refused %u times",
			  addr_port(&old->local), old->refusals);
	mem_free(old);
}

static void on_poll(uv_poll_t *handle, int status, int events)
{
	struct udp *udp = handle->data;
	struct loop *loop = udp->loop;
	uint64_t begin_us = loop_begin(loop);

	udp->ready(udp->owner);
	loop_end(loop, begin_us);
}

void udp_watch(struct udp *udp, udp_ready_fn *fn, void *owner)
{
	int err;

	udp->ready = fn;
	udp->owner = owner;
	if (udp->fd < 0)
		return;
	if (!fn) {
		stop_watching(udp);
		return;
	}
	if (udp->poll)
		return;
	udp->poll = mem_new(sizeof(*udp->poll));
	err = uv_poll_init(loop_uv(udp->loop), &udp->poll->handle, udp->fd);
	assert(!err); /* a socket that nobody else watches */
	udp->poll->handle.data = udp;
	uv_poll_start(&udp->poll->handle, UV_READABLE, on_poll);
}

/* An ICMP answer to something sent before: not about this call. */
static bool is_old_error(int err)
{
	return err == ECONNREFUSED || err == EHOSTUNREACH ||
	       err == ENETUNREACH || err == EINTR;
}

ssize_t udp_recv(struct udp *udp, void *out, size_t size, struct addr *from)
{
	struct addr source;
	unsigned i;

	if (udp->fd < 0)
		return sim_udp_recv(udp, out, size, from);
	for (i = 0; i < ERRORS_AT_ONCE; i++) {
		socklen_t from_size = sizeof(source);
		ssize_t n =
			recvfrom(udp->fd, out, size, 0, &source.sa, &from_size);

		if (n >= 0) {
			if (from)
				*from = source;
			return n;
		}
		if (!is_old_error(errno))
			return -errno;
		udp->refusals += errno == ECONNREFUSED;
	}
	return -EAGAIN;
}

static int send_once(struct udp *udp, struct slice datagram,
		     const struct addr *to)
{
	ssize_t n = sendto(udp->fd, datagram.ptr, datagram.len, MSG_NOSIGNAL,
			   to ? &to->sa : NULL, to ? addr_size(to) : 0);

	return n < 0 ? -errno : 0;
}

int udp_send(struct udp *udp, struct slice datagram, const struct addr *to)
{
	int err;

	assert(to || udp->is_connected);
	if (udp->fd < 0) {
		sim_udp_send(udp, datagram, to ? to : &udp->peer);
		return 0;
	}
	err = send_once(udp, datagram, to);
	if (err == -ECONNREFUSED) {
		udp->refusals++;
		err = send_once(udp, datagram, to);
	}
	return err;
}

/* Linux forgets a port that it chose itself when the peer is dissolved. */
static int dissolve(struct udp *udp)
{
	const struct sockaddr nobody = { .sa_family = AF_UNSPEC };
	struct addr now;
	socklen_t size = sizeof(now);

	if (connect(udp->fd, &nobody, sizeof(nobody)) ||
	    getsockname(udp->fd, &now.sa, &size))
		return -errno;
	if (addr_port(&now) != addr_port(&udp->local) &&
	    bind(udp->fd, &udp->local.sa, addr_size(&udp->local)))
		return -errno;
	return 0;
}

int udp_connect(struct udp *udp, const struct addr *peer)
{
	int err = 0;

	if (udp->fd >= 0 && !peer)
		err = dissolve(udp);
	else if (udp->fd >= 0 && connect(udp->fd, &peer->sa, addr_size(peer)))
		err = -errno;
	if (err)
		return err;
	udp->is_connected = peer != NULL;
	if (peer)
		udp->peer = *peer;
	return 0;
}

void udp_local(const struct udp *udp, struct addr *out)
{
	*out = udp->local;
}
