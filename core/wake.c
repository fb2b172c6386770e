/* SPDX-License-Identifier: MIT */
/* An eventfd of our own, not uv_async: libuv 1.44 spins on the loop thread
 * while the sender is between its write and its last store, and a real-time
 * loop never lets a thread of the same core get there. */
#include "core/wake.h"
#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <uv.h>
#include "core/loop_priv.h"
#include "core/mem.h"

struct wake {
	uv_poll_t poll;
	struct loop *loop; /* borrowed: outlives us */
	wake_fn *fn;
	void *owner;
	int fd;
	atomic_bool is_sent; /* written to, and not read yet */
};

static void on_poll(uv_poll_t *poll, int status, int events)
{
	struct wake *wake = poll->data;
	struct loop *loop = wake->loop;
	uint64_t begin_us = loop_begin(loop);
	uint64_t count;
	ssize_t n = read(wake->fd, &count, sizeof(count));

	(void)n; /* nothing there: fn finds nothing either */
	atomic_store(&wake->is_sent, false);
	wake->fn(wake->owner); /* may close wake */
	loop_end(loop, begin_us);
}

int wake_open(struct wake **out, struct loop *loop, wake_fn *fn, void *owner)
{
	struct wake *wake = mem_new(sizeof(*wake));
	int err;

	wake->loop = loop;
	wake->fn = fn;
	wake->owner = owner;
	wake->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = wake->fd < 0 ? -errno
			   : uv_poll_init(loop_uv(loop), &wake->poll, wake->fd);
	if (err) {
		if (wake->fd >= 0)
			close(wake->fd);
		mem_free(wake);
		return err;
	}
	wake->poll.data = wake;
	err = uv_poll_start(&wake->poll, UV_READABLE, on_poll);
	assert(!err);
	*out = wake;
	return 0;
}

void wake_send(struct wake *wake)
{
	const uint64_t one = 1;
	ssize_t n;

	if (atomic_exchange(&wake->is_sent, true))
		return;
	n = write(wake->fd, &one, sizeof(one));
	assert(n == sizeof(one));
}

static void on_closed(uv_handle_t *handle)
{
	mem_free(handle->data);
}

void wake_close(struct wake **wake)
{
	if (!*wake)
		return;
	uv_close((uv_handle_t *)&(*wake)->poll, on_closed);
	close((*wake)->fd);
	*wake = NULL;
}
