/* SPDX-License-Identifier: MIT */
#include "tests/unit/http/fixture_face.h"
#include <stdlib.h>
#include "core/mem.h"
#include "core/tcp.h"
#include "store/orgs.h"

static void put_org(struct face *face)
{
	static const char org_id[] = "11111111-1111-4111-8111-111111111111";
	struct org_row org = { .id = org_id,
			       .name = "Acme",
			       .plan = "enterprise",
			       .timezone = "UTC",
			       .plan_limits = { .countries = "" } };
	struct key_row key = { .id = "22222222-2222-4222-8222-222222222222",
			       .org_id = org_id,
			       .name = "test",
			       .hint = "org_0123" };
	struct store_reply nobody = { 0 };

	secret_hash_token(key.hash, slice_of(FACE_KEY));
	orgs_put(face->service.store, &org, nobody);
	keys_put(face->service.store, &key, nobody);
	loop_advance_ms(face->service.loop, 0);
}

void face_open(struct face *face)
{
	struct store_options options = { .folder = ":memory:" };
	struct buffer why;

	*face = (struct face){ 0 };
	buffer_init(&why, 1024);
	loop_open_sim(&face->service.loop, 1700000000000);
	work_open(&face->service.work, face->service.loop);
	options.loop = face->service.loop;
	if (store_open(&face->service.store, &options, &why))
		fail_msg("%s", buffer_str(&why));
	buffer_reset(&why);
	face->arena = arena_open();
	put_org(face);
	addr_parse(&face->addr, SLICE("127.0.0.1"), 8080);
}

void face_serve(struct face *face)
{
	struct http_server_options options = { .service = &face->service };
	struct buffer why;

	options.listen.bind = face->addr;
	options.listen.max_links = face->max_links;
	buffer_init(&why, 1024);
	if (http_server_open(&face->server, &options, &why))
		fail_msg("%s", buffer_str(&why));
	buffer_reset(&why);
}

void face_close(struct face *face)
{
	http_server_close(&face->server);
	loop_advance_ms(face->service.loop, 5000);
	assert_int_equal(sim_tcp_links(face->service.loop), 0);
	store_close(&face->service.store);
	work_close(&face->service.work);
	arena_close(&face->arena);
	loop_close(&face->service.loop);
}

int face_setup(void **state)
{
	*state = mem_new(sizeof(struct face));
	face_open(*state);
	face_serve(*state);
	return 0;
}

int face_teardown(void **state)
{
	face_close(*state);
	mem_free(*state);
	return 0;
}

struct http_stats face_stats(const struct face *face)
{
	struct http_stats stats;

	http_server_stats(face->server, &stats);
	return stats;
}

/* ---- peers ---- */

void assert_slice(struct slice got, const char *want)
{
	if (!slice_eq(got, slice_of(want)))
		fail_msg("'%.*s' is not '%s'", (int)got.len,
			 got.ptr ? got.ptr : "", want);
}

static void on_open(void *owner)
{
	struct peer *peer = owner;

	peer->is_open = true;
}

static void on_data(void *owner, struct slice data)
{
	struct peer *peer = owner;

	buffer_add(&peer->got, data);
	if (peer->is_slow)
		link_pause(peer->link);
}

static void on_close(void *owner, int err, const char *why)
{
	struct peer *peer = owner;

	peer->closed++;
	peer->err = err;
}

void peer_open(struct peer *peer, struct face *face)
{
	static const struct link_events events = { .on_open = on_open,
						   .on_data = on_data,
						   .on_close = on_close };

	*peer = (struct peer){ .loop = face->service.loop };
	buffer_init(&peer->got, 64 * 1024 * 1024);
	assert_int_equal(tcp_connect(&peer->link, peer->loop, &face->addr,
				     &events, peer),
			 0);
	loop_advance_ms(peer->loop, 0);
}

void peer_close(struct peer *peer)
{
	link_close(&peer->link);
	buffer_reset(&peer->got);
	loop_advance_ms(peer->loop, 0);
}

void peer_send(struct peer *peer, struct slice bytes)
{
	link_send(peer->link, bytes);
	loop_advance_ms(peer->loop, 0);
}

void peer_say(struct peer *peer, const char *text)
{
	peer_send(peer, slice_of(text));
}

struct slice reply_header(const struct reply *reply, const char *name)
{
	struct slice rest = reply->head;

	slice_cut(&rest, '\n');
	while (rest.len) {
		struct slice line = slice_cut(&rest, '\n');
		struct slice key = slice_cut(&line, ':');

		if (line.ptr && slice_eq_nocase(key, slice_of(name)))
			return slice_trim(slice_make(line.ptr, line.len - 1));
	}
	return (struct slice){ 0 };
}

static struct reply take(struct peer *peer, bool has_body)
{
	struct reply reply = { 0 }, none = { 0 };
	struct slice text = slice_make(peer->got.ptr + peer->read,
				       peer->got.len - peer->read);
	const char *end =
		text.len ? memmem(text.ptr, text.len, "\r\n\r\n", 4) : NULL;
	uint64_t length = 0;

	if (!end)
		return none;
	reply.head = slice_make(text.ptr, (size_t)(end + 4 - text.ptr));
	assert_true(slice_has_prefix(reply.head, SLICE("HTTP/1.1 ")));
	reply.status = atoi(reply.head.ptr + 9);
	if (has_body && reply.status != 204 && reply.status != 100)
		assert_int_equal(
			slice_to_u64(&length,
				     reply_header(&reply, "Content-Length"),
				     UINT32_MAX),
			0);
	reply.body = slice_make(end + 4, (size_t)length);
	if (text.len - reply.head.len < length)
		return none;
	peer->read += reply.head.len + (size_t)length;
	return reply;
}

struct reply peer_reply(struct peer *peer)
{
	return take(peer, true);
}

struct reply peer_reply_to_head(struct peer *peer)
{
	return take(peer, false);
}

struct reply peer_ask(struct peer *peer, struct face *face, const char *text)
{
	peer_open(peer, face);
	peer_say(peer, text);
	return peer_reply(peer);
}
