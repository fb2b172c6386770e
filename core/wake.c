/* SPDX-License-Identifier: MIT */
#include "core/wake.h"
#include <assert.h>
#include <uv.h>
#include "core/loop_priv.h"
#include "core/mem.h"

struct wake {
	uv_async_t async;
	struct loop *loop; /* borrowed: outlives us */
	wake_fn *fn;
	void *owner;
};

static void on_async(uv_async_t *async)
{
	struct wake *wake = async->data;
	struct loop *loop = wake->loop;
	uint64_t begin_us = loop_begin(loop);

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
	err = uv_async_init(loop_uv(loop), &wake->async, on_async);
	if (err) {
		mem_free(wake);
		return err;
	}
	wake->async.data = wake;
	*out = wake;
	return 0;
}

void wake_send(struct wake *wake)
{
	int err = uv_async_send(&wake->async);

	assert(!err);
}

static void on_closed(uv_handle_t *handle)
{
	mem_free(handle->data);
}

void wake_close(struct wake **wake)
{
	if (!*wake)
		return;
	uv_close((uv_handle_t *)&(*wake)->async, on_closed);
	*wake = NULL;
}
