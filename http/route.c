/* SPDX-License-Identifier: MIT */
#include "http/route.h"

#include <stdio.h>
#include <string.h>
#include "http/api/sets.h"

static const struct route_set *const sets[] = {
	&api_calls,	&api_recordings,  &api_events,	&api_sip,
	&api_sip_trace, &api_sip_numbers, &api_inbound, &api_pathways,
	&api_account,	&api_postcall,	  &api_status,
};

const struct route_set *const *route_sets(size_t *n)
{
	*n = sizeof(sets) / sizeof(*sets);
	return sets;
}

/* Does the path fit? Its parameters go to out, which a later fit overwrites. */
static bool fits(struct route_match *out, const char *pattern,
		 struct slice path)
{
	struct slice rest = slice_of(pattern);
	size_t n = 0;

	while (rest.ptr && path.ptr) {
		struct slice want = slice_cut(&rest, '/');
		struct slice have = slice_cut(&path, '/');

		if (want.len && want.ptr[0] == '{') {
			if (!have.len || n == 4)
				return false;
			out->params[n++] = have;
		} else if (!slice_eq(want, have)) {
			return false;
		}
	}
	out->n_params = n;
	return !rest.ptr && !path.ptr;
}

static void allow(struct route_match *out, const char *method)
{
	size_t len = strlen(out->allow);

	if (strstr(out->allow, method))
		return;
	snprintf(out->allow + len, sizeof(out->allow) - len, "%s%s",
		 len ? ", " : "", method);
}

void route_find(struct route_match *out, struct slice method, struct slice path)
{
	struct slice wanted =
		slice_eq(method, SLICE("HEAD")) ? SLICE("GET") : method;

	*out = (struct route_match){ 0 };
	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++) {
		for (size_t j = 0; j < sets[i]->n; j++) {
			const struct route *route = &sets[i]->routes[j];
			struct route_match found = { 0 };

			if (!fits(&found, route->pattern, path))
				continue;
			if (slice_eq(slice_of(route->method), wanted)) {
				found.route = route;
				*out = found;
				return;
			}
			allow(out, route->method);
			if (!strcmp(route->method, "GET"))
				allow(out, "HEAD");
		}
	}
}
