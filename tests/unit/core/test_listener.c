/* SPDX-License-Identifier: MIT */
/* core/listener: the caps, the first byte, who makes room, and what lives on
 * when the listener goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/listener_priv.h"
#include "tests/unit/core/fixture_link.h"

enum { N = 10 };

struct fixture {
	struct loop *loop;
	struct listener *listener;
	struct probe clients[N];
	struct probe servers[N];
	unsigned accepted;
};

static void on_accept(void *owner, struct link *link)
{
	struct fixture *f = owner;

	probe_accept(&f->servers[f->accepted++], link);
}

static void listen_with(struct fixture *f, unsigned max, unsigned each)
{
	struct listen_options options = { .max_links = max,
					  .max_per_address = each };

	addr_parse(&options.bind, SLICE("0.0.0.0"), 5061);
	assert_int_equal(
		tcp_listen(&f->listener, f->loop, &options, on_accept, f), 0);
}

static int setup(void **state)
{
	struct fixture *f = mem_new(sizeof(*f));
	size_t i;

	log_setup(&(struct log_options){ .level = LOG_OFF, .fd = 2 });
	loop_open_sim(&f->loop, 0);
	for (i = 0; i < N; i++) {
		probe_init(&f->clients[i], f->loop);
		probe_init(&f->servers[i], f->loop);
		f->servers[i].close_on_close = true;
	}
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < N; i++) {
		probe_reset(&f->clients[i]);
		probe_reset(&f->servers[i]);
	}
	listener_close(&f->listener);
	loop_close(&f->loop);
	mem_free(f);
	return 0;
}

static void dial(struct fixture *f, size_t i, const char *ip)
{
	struct addr addr;

	addr_parse(&addr, slice_of(ip), 5061);
	assert_int_equal(tcp_connect(&f->clients[i].link, f->loop, &addr,
				     &probe_events, &f->clients[i]),
			 0);
	loop_advance_ms(f->loop, 1);
}

static void test_first_byte(void **state)
{
	struct fixture *f = *state;

	listen_with(f, 0, 0);
	dial(f, 0, "10.0.0.1");
	dial(f, 1, "10.0.0.1");
	loop_advance_ms(f->loop, 1000);
	link_send(f->clients[0].link, SLICE("\r\n\r\n"));
	loop_advance_ms(f->loop, 58997);
	assert_int_equal(f->servers[1].closed, 0);
	loop_advance_ms(f->loop, 3);
	assert_int_equal(f->servers[1].closed, 1);
	assert_int_equal(f->servers[1].err, -ETIMEDOUT);
	assert_int_equal(f->clients[1].closed, 1);
	loop_advance_ms(f->loop, 3600 * 1000);
	assert_int_equal(f->servers[0].closed, 0);
	assert_int_equal(listener_links(f->listener), 1);
}

static void test_cap(void **state)
{
	struct fixture *f = *state;
	size_t i;

	listen_with(f, 4, 0);
	for (i = 0; i < 4; i++) {
		dial(f, i, "10.0.0.1");
		link_send(f->clients[i].link, SLICE("x"));
		loop_advance_ms(f->loop, 0);
	}
	dial(f, 4, "10.0.0.1");
	assert_int_equal(f->accepted, 4);
	assert_int_equal(listener_links(f->listener), 4);
	assert_int_equal(f->clients[4].closed, 1);
	link_close(&f->servers[0].link);
	dial(f, 5, "10.0.0.1");
	assert_int_equal(f->accepted, 5);
}

static void test_per_address(void **state)
{
	struct fixture *f = *state;

	listen_with(f, 0, 2);
	dial(f, 0, "10.0.0.1");
	dial(f, 1, "10.0.0.1");
	dial(f, 2, "10.0.0.1");
	dial(f, 3, "10.0.0.2");
	assert_int_equal(f->clients[2].closed, 1);
	assert_int_equal(f->clients[3].closed, 0);
	assert_int_equal(f->accepted, 3);
}

/* Three of six: the next one pushes out the oldest silent one. */
static void test_oldest_makes_room(void **state)
{
	struct fixture *f = *state;
	size_t i;

	listen_with(f, 6, 0);
	for (i = 0; i < 3; i++)
		dial(f, i, "10.0.0.1");
	link_send(f->clients[0].link, SLICE("busy"));
	loop_advance_ms(f->loop, 2000);
	dial(f, 3, "10.0.0.1");
	assert_int_equal(f->accepted, 4);
	assert_int_equal(f->servers[0].closed, 0);
	assert_int_equal(f->servers[1].closed, 1);
	assert_int_equal(f->servers[2].closed, 0);
	assert_int_equal(listener_links(f->listener), 3);
}

/* A burst is not its own enemy until the cap itself is reached. */
static void test_burst(void **state)
{
	struct fixture *f = *state;
	size_t i;

	listen_with(f, 6, 0);
	for (i = 0; i < 6; i++)
		dial(f, i, "10.0.0.1");
	assert_int_equal(listener_links(f->listener), 6);
	dial(f, 6, "10.0.0.1");
	assert_int_equal(f->accepted, 7);
	assert_int_equal(f->servers[0].closed, 1);
	assert_int_equal(listener_links(f->listener), 6);
}

static void test_links_live_on(void **state)
{
	struct fixture *f = *state;

	listen_with(f, 0, 0);
	dial(f, 0, "10.0.0.1");
	listener_close(&f->listener);
	loop_advance_ms(f->loop, 3600 * 1000);
	link_send(f->clients[0].link, SLICE("still"));
	loop_advance_ms(f->loop, 0);
	assert_string_equal(buffer_str(&f->servers[0].got), "still");
	dial(f, 1, "10.0.0.1");
	assert_int_equal(f->clients[1].err, -ECONNREFUSED);
}

static void test_pause(void **state)
{
	struct fixture *f = *state;

	listen_with(f, 0, 0);
	dial(f, 0, "10.0.0.1");
	listener_pause(f->listener);
	listener_pause(f->listener);
	dial(f, 1, "10.0.0.1");
	assert_int_equal(f->clients[1].err, -ECONNREFUSED);
	assert_int_equal(f->accepted, 1);
	assert_int_equal(listener_port(f->listener), 5061);
	assert_int_equal(listener_links(f->listener), 1);
}

/* ---- a layer that hands over after the first byte it sees ---- */

struct layer {
	struct listener *listener;
	struct link *raw; /* in its "handshake" */
	bool is_closed;
};

static void layer_on_data(void *owner, struct slice data)
{
	struct layer *layer = owner;
	struct link *raw = layer->raw;

	layer->raw = NULL;
	listener_deliver(layer->listener, raw);
}

static void layer_on_close(void *owner, int err, const char *why)
{
	struct layer *layer = owner;

	link_close(&layer->raw);
}

static void on_raw(void *arg, struct listener *listener, struct link *raw)
{
	static const struct link_events events = { .on_data = layer_on_data,
						   .on_close = layer_on_close };
	struct layer *layer = arg;

	layer->listener = listener;
	layer->raw = raw;
	link_attach(raw, &events, layer);
}

static void on_closing(void *arg)
{
	struct layer *layer = arg;

	link_close(&layer->raw);
	layer->is_closed = true;
}

static const struct listener_layer layer_ops = { .on_raw = on_raw,
						 .on_closing = on_closing };

static void test_layer(void **state)
{
	struct fixture *f = *state;
	struct layer layer = { 0 };

	listen_with(f, 0, 0);
	listener_set_layer(f->listener, &layer_ops, &layer);
	assert_int_equal(listener_options(f->listener)->handshake_ms, 5000);
	dial(f, 0, "10.0.0.1");
	assert_int_equal(f->accepted, 0);
	link_send(f->clients[0].link, SLICE("hello"));
	loop_advance_ms(f->loop, 0);
	assert_int_equal(f->accepted, 1);
	/* the handshake's bytes were not the first byte */
	loop_advance_ms(f->loop, 30000);
	dial(f, 1, "10.0.0.1");
	listener_close(&f->listener);
	assert_true(layer.is_closed);
	loop_advance_ms(f->loop, 0);
	assert_int_equal(f->clients[1].closed, 1);
	assert_int_equal(f->clients[0].closed, 0);
}

static void test_layer_first_byte(void **state)
{
	struct fixture *f = *state;
	struct layer layer = { 0 };

	listen_with(f, 0, 0);
	listener_set_layer(f->listener, &layer_ops, &layer);
	dial(f, 0, "10.0.0.1");
	link_send(f->clients[0].link, SLICE("hello"));
	dial(f, 1, "10.0.0.1");
	link_send(f->clients[1].link, SLICE("hello"));
	loop_advance_ms(f->loop, 0);
	listener_on_first_byte(f->servers[1].link);
	loop_advance_ms(f->loop, 60000);
	assert_int_equal(f->servers[0].closed, 1);
	assert_int_equal(f->servers[1].closed, 0);
	listener_close(&f->listener);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_first_byte),
		CASE(test_cap),
		CASE(test_per_address),
		CASE(test_oldest_makes_room),
		CASE(test_burst),
		CASE(test_links_live_on),
		CASE(test_pause),
		CASE(test_layer),
		CASE(test_layer_first_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
