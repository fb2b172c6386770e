/* SPDX-License-Identifier: MIT */
/* http/request.h - one request from its last byte to its answer: what a handler
 * reads and how it answers. A request lives until it was answered and the
 * answer sent, also when its connection dies meanwhile; every handler answers
 * exactly once, now or in a later callback. */
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "core/arena.h"
#include "core/slice.h"

struct request;
struct service;

struct request_view {
	struct service *service; /* borrowed */
	struct arena *arena; /* the request's own */
	const char *method;
	struct slice path;
	const char *params[4]; /* of the route's {names}, decoded; in order */
	const json_t *body; /* parsed; NULL when there was none */
	const char *org_id; /* NULL on open routes without a key */
	const char *key_id;
	const struct addr *peer; /* who asks; never NULL */
};
const struct request_view *request_view(const struct request *request);
/* Query parameter, decoded; NULL when absent. First one wins. */
const char *request_query(const struct request *request, const char *name);
/* Header value; ptr NULL when absent. */
struct slice request_header(const struct request *request, const char *name);

/* Answers with JSON as JSON.stringify writes it; takes over the reference. */
void request_reply(struct request *request, int status, json_t *body);
/* Answers with JSON text as it stands. */
void request_reply_text(struct request *request, int status, struct slice body);
/* 200 with text of another type: "text/plain; version=0.0.4". */
void request_reply_as(struct request *request, const char *type,
		      struct slice body);
/* {"data":data,"errors":null}; takes over the reference. */
void request_reply_data(struct request *request, int status, json_t *data);
struct request_error {
	int status;
	const char *error; /* "VALIDATION_ERROR" */
	const char *message;
	const char *field; /* NULL: none */
};
/* The error object as decided; on /v1/calls* also status and message. */
void request_fail(struct request *request, const struct request_error *what);
/* 500 INTERNAL_ERROR with a reference that is in the log, 503 when the disk is
 * full: for a store or engine that failed with err. */
void request_fail_internal(struct request *request, int err);
/* A file, whole or by Range; closed when sent. -ENOENT: nothing answered. */
int request_reply_file(struct request *request, const char *path,
		       const char *type);
