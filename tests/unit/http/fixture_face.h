/* SPDX-License-Identifier: MIT */
/* tests/unit/http/fixture_face.h - the HTTP face on a simulated loop, with a
 * store in memory and one organisation, and peers that speak to it. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "agent/service.h"
#include "core/arena.h"
#include "core/buffer.h"
#include "core/link.h"
#include "core/loop.h"
#include "core/sim.h"
#include "core/slice.h"
#include "core/work.h"
#include "http/server.h"
#include "store/store.h"

#define FACE_KEY  "org_0123456789012345678901234567890123456789"
#define FACE_HOST "Host: parley.example\r\n"
#define FACE_AUTH "Authorization: " FACE_KEY "\r\n"

struct face {
	struct service service;
	struct http_server *server;
	struct arena *arena;
	struct addr addr;
	unsigned max_links; /* for face_serve() */
};

/* Loop, work, store and the organisation with its key. */
void face_open(struct face *face);
void face_serve(struct face *face);
void face_close(struct face *face); /* a leak of links asserts */
/* For cmocka: open and serving; *state is the face. */
int face_setup(void **state);
int face_teardown(void **state);
struct http_stats face_stats(const struct face *face);

struct peer {
	struct link *link; /* owned */
	struct loop *loop;
	struct buffer got;
	size_t read; /* of got, by peer_reply() */
	bool is_open;
	bool is_slow; /* takes one piece, then pauses */
	int closed;
	int err;
};

void peer_open(struct peer *peer, struct face *face);
void peer_close(struct peer *peer);
/* Sends and lets the loop run what is due. */
void peer_send(struct peer *peer, struct slice bytes);
void peer_say(struct peer *peer, const char *text);

struct reply {
	int status; /* 0: there is none yet, or not all of it */
	struct slice head;
	struct slice body;
};

/* The next answer in order. */
struct reply peer_reply(struct peer *peer);
struct reply peer_reply_to_head(struct peer *peer); /* without a body */
/* Value of a header; ptr NULL: absent. */
struct slice reply_header(const struct reply *reply, const char *name);
/* Opens, says text, takes the first answer; the peer stays open. */
struct reply peer_ask(struct peer *peer, struct face *face, const char *text);

void assert_slice(struct slice got, const char *want);
