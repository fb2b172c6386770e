/* SPDX-License-Identifier: MIT */
/* tests/unit/http/fixture_api.h - the server over a simulated loop with a store
 * in memory and two organisations, and a client that asks it. No calls are
 * dialed: the plans' concurrency is 0. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <string.h>
#include "agent/service.h"
#include "core/json.h"
#include "core/link.h"
#include "store/calls.h"
#include "store/orgs.h"
#include "store/trunks.h"

#define API_WALL_MS   1767225600000 /* 2026-01-01T00:00:00.000Z */
#define API_ORG	      "11111111-1111-4111-8111-111111111111"
#define API_OTHER     "22222222-2222-4222-8222-222222222222"
#define API_KEY	      "org_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define API_OTHER_KEY "org_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

struct api {
	struct service service;
	struct http_server *server;
	struct arena *arena;
	struct buffer why;
	char folder[64];
	struct link *link; /* the client's */
	struct buffer got;
	const char *key; /* sent; NULL: none */
	const char *headers; /* further lines; NULL: none */
	const char *from_ip; /* NULL: 127.0.0.1 */
	/* of the last answer */
	int status;
	const char *head, *text; /* in got */
	json_t *body; /* owned; NULL when it is no JSON */
};

int api_setup(void **state);
int api_teardown(void **state);
/* env of the configuration, before api_setup() opens it. */
int api_setup_with(void **state, char *const *env);

/* One request and its answer; body NULL: none. */
void api_ask(struct api *api, const char *method, const char *path,
	     const char *body);
/* The answer's text is exactly this. */
void api_expect(struct api *api, int status, const char *text);
/* 4xx with this error, message and field (NULL: none). */
void api_expect_error(struct api *api, int status, const char *error,
		      const char *message, const char *field);
/* The member of the answer at a path is this JSON. */
void api_expect_at(struct api *api, const char *path, const char *json);
const char *api_str(struct api *api, const char *key);

void api_put_org(struct api *api, const struct org_row *over);
/* Attached to the organisation. */
void api_put_trunk(struct api *api, const char *org_id, const char *number,
		   enum trunk_direction direction);
/* A stored call with a new id, in the arena. */
const char *api_put_call(struct api *api, struct call_row row);
