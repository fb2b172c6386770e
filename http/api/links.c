/* SPDX-License-Identifier: MIT */
#include "http/api/links.h"

#include <errno.h>
#include <string.h>
#include "agent/service.h"
#include "core/addr.h"
#include "core/config.h"
#include "core/json.h"
#include "http/problem.h"
#include "store/pathways.h"

/* "127.0.0.1" of "//user@127.0.0.1:80/path", brackets kept. */
static struct slice host_of(struct slice url)
{
	struct slice host = url;
	ptrdiff_t at;

	host.len = strcspn(url.ptr, "/?#\\");
	at = slice_find(host, '@');
	if (at >= 0)
		host = slice_make(host.ptr + at + 1, host.len - (size_t)at - 1);
	if (host.len && host.ptr[0] == '[') {
		at = slice_find(host, ']');
		return slice_make(host.ptr, at < 0 ? 0 : (size_t)at + 1);
	}
	return slice_cut(&host, ':');
}

static bool is_this_machine(struct slice host)
{
	struct addr addr;

	return slice_eq_nocase(host, SLICE("localhost")) ||
	       (!addr_parse(&addr, host, 0) && addr_is_loopback(&addr));
}

int links_check_webhook(struct request *request, const json_t *settings)
{
	const struct config *config = request_view(request)->service->config;
	const struct slice scheme = SLICE("http://");
	const char *url = json_str(settings, "webhook");

	if (!url || !slice_has_prefix(slice_of(url), scheme) ||
	    is_this_machine(host_of(slice_of(url + scheme.len))) ||
	    config_bool(config, "webhook.allow_private") ||
	    config_bool(config, "webhook.allow_loopback"))
		return 0;
	problem_invalid(request, "webhook",
			"webhook must be a string that starts with https://.");
	return -EINVAL;
}

static bool has_node(const char *text, const char *id)
{
	json_t *nodes = json_parse(slice_of(text), NULL);
	bool is_found = false;
	size_t i;
	json_t *node;

	json_array_foreach(nodes, i, node) {
		const char *other = json_str(node, "id");

		is_found = is_found || (other && !strcmp(other, id));
	}
	json_decref(nodes);
	return is_found;
}

static int check_runs(struct request *request, const json_t *settings,
		      const struct pathway_row *row)
{
	const char *start = json_str(settings, "start_node_id");
	struct arena *arena = request_view(request)->arena;

	if (!strcmp(row->nodes, "[]")) {
		problem_invalid(request, "pathway_id",
				arena_printf(arena,
					     "Invalid pathway data - no blocks "
					     "or links found for pathway %s",
					     row->id));
		return -EINVAL;
	}
	if (start && !has_node(row->nodes, start)) {
		problem_invalid(request, "start_node_id",
				"start_node_id names no node of the pathway.");
		return -EINVAL;
	}
	return 0;
}

/* Is it the pathway that is missing, or the version of it? */
static void refuse_version(struct request *request,
			   const struct pathway_row *key)
{
	const struct request_view *view = request_view(request);
	struct pathway_row working = *key;
	struct pathway_row row;

	working.version = 0;
	if (pathways_get(view->service->store, view->arena, &working, &row)) {
		problem_no_pathway(request, key->id);
		return;
	}
	problem_missing(request,
			arena_printf(view->arena,
				     "Version %lld of pathway with ID \"%s\" "
				     "not found",
				     (long long)key->version, key->id));
}

int links_check_pathway(struct request *request, const json_t *settings,
			bool will_run)
{
	const struct request_view *view = request_view(request);
	const json_t *version = json_object_get(settings, "pathway_version");
	struct pathway_row key = {
		.org_id = view->org_id,
		.id = json_str(settings, "pathway_id"),
		.version = json_is_integer(version)
				   ? json_integer_value(version)
				   : -1,
	};
	struct pathway_row row;
	int err;

	if (!key.id)
		return 0;
	err = pathways_get(view->service->store, view->arena, &key, &row);
	if (err == -ENOENT)
		refuse_version(request, &key);
	else if (err)
		request_fail_internal(request, err);
	else if (will_run)
		err = check_runs(request, settings, &row);
	return err;
}
