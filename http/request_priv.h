/* SPDX-License-Identifier: MIT */
/* http/request_priv.h - between request.c and request_admit.c, which make
 * answers, and connection.c, which carries them. */
#pragma once
#include "core/buffer.h"
#include "http/head.h"
#include "http/request.h"
#include "http/route.h"

struct connection;

struct request {
	struct request_view view;
	struct connection *connection; /* borrowed; NULL once it died */
	struct head head; /* slices into the arena */
	const struct route *route; /* NULL: none matched */
	char id[13]; /* X-Request-Id */
	uint64_t started_us;
	bool is_answered;
};

/* What goes out: head and body text, then, if fd >= 0, size bytes of it. */
struct answer {
	struct buffer text; /* owned */
	const char *type; /* of the content; static */
	int status;
	int fd; /* owned; -1: none */
	uint64_t at, size; /* of the file */
	bool keeps_alive;
};

struct request *request_open(struct connection *connection,
			     struct service *service);
void request_close(struct request **request);
/* Takes over answer's text and fd; request is closed by this. */
void connection_answer(struct connection *connection, struct request *request,
		       struct answer *answer);
/* headers: further ones, whole lines. */
void request_fail_with(struct request *request,
		       const struct request_error *what, const char *headers);
/* Runs the matched handler, or answers 404, 405, 401, 403. */
void request_dispatch(struct request *request, struct slice body);
/* Route, method and key are judged before the body is read. True: go on and
 * read it; false: it was answered, and the connection ends unless may_go_on. */
bool request_admit(struct request *request, bool may_go_on);
size_t request_body_max(const struct request *request);
