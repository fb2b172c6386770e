/* SPDX-License-Identifier: MIT */
#include "core/watch.h"
#include <assert.h>
#include <uv.h>
#include "core/loop_priv.h"
#include "core/mem.h"

struct watch {
	uv_poll_t poll;
	struct loop *loop; /* borrowed: outlives us */
	int fd; /* borrowed */
	int wanted; /* WATCH_ bits */
	watch_fn *fn;
	void *owner;
};

int watch_open(struct watch **out, struct loop *loop, int fd, watch_fn *fn,
	       void *owner)
{
	struct watch *watch = mem_new(sizeof(*watch));
	int err = 0;

	watch->loop = loop;
	watch->fd = fd;
	watch->fn = fn;
	watch->owner = owner;
	if (!loop_is_sim(loop))
		err = uv_poll_init(loop_uv(loop), &watch->poll, fd);
	watch->poll.data = watch;
	if (err) {
		mem_free(watch);
		watch = NULL;
	}
	*out = watch;
	return err;
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
	struct watch *watch = poll->data;
	struct loop *loop = watch->loop;
	uint64_t begin_us = loop_begin(loop);
	int ready = 0;

	if (status < 0)
		ready = watch->wanted;
	if (events & UV_READABLE)
		ready |= WATCH_READ;
	if (events & UV_WRITABLE)
		ready |= WATCH_WRITE;
	watch->fn(watch->owner, watch->fd, ready); /* may close watch */
	loop_end(loop, begin_us);
}

void watch_set(struct watch *watch, int events)
{
	int flags = 0, err;

	watch->wanted = events;
	if (loop_is_sim(watch->loop))
		return;
	if (events & WATCH_READ)
		flags |= UV_READABLE;
	if (events & WATCH_WRITE)
		flags |= UV_WRITABLE;
	if (flags)
		err = uv_poll_start(&watch->poll, flags, on_poll);
	else
		err = uv_poll_stop(&watch->poll);
	assert(!err);
}

static void on_closed(uv_handle_t *handle)
{
	mem_free(handle->data);
}

void watch_close(struct watch **watch)
{
	struct watch *old = *watch;

	if (!old)
		return;
	*watch = NULL;
	if (loop_is_sim(old->loop))
		mem_free(old);
	else
		uv_close((uv_handle_t *)&old->poll, on_closed);
}
