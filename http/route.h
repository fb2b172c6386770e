/* SPDX-License-Identifier: MIT */
/* http/route.h - the routes: each resource's file holds a set, route.c lists
 * the sets, and matching, method checks, limits and authorisation come from
 * there. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "http/request.h"

enum route_flag {
	ROUTE_OPEN = 1, /* no key is needed */
	ROUTE_BIG_BODY = 2, /* 8 MiB instead of 1 MiB */
	ROUTE_SIP = 4 /* the SIP entitlement is needed */
};

typedef void route_fn(struct request *request);

struct route {
	const char *method;
	const char *pattern; /* "/v1/calls/{call_id}/stop" */
	route_fn *handle;
	unsigned flags; /* of enum route_flag */
	const char *doc;
};

struct route_set {
	const struct route *routes;
	size_t n;
};

struct route_match {
	const struct route *route; /* NULL: 404, or 405 with allow set */
	struct slice params[4]; /* as in the path, not decoded */
	size_t n_params;
	char allow[64]; /* methods of the path for a 405 */
};

/* HEAD matches GET. */
void route_find(struct route_match *out, struct slice method,
		struct slice path);
/* All sets, for documentation. */
const struct route_set *const *route_sets(size_t *n);
