/* SPDX-License-Identifier: MIT */
#include "agent/call/prepare.h"

#include <errno.h>
#include <stdio.h>
#include "core/json.h"
#include "core/secret.h"
#include "store/orgs.h"
#include "store/pathways.h"
#include "store/trunks.h"

enum { PRESET_MINUTES = 30, PASSWORD_MAX_BYTES = 1024 };

static int fail(struct prepared *out, const char *why)
{
	snprintf(out->why, sizeof(out->why), "%s", why);
	return -EINVAL;
}

static int load_pathway(struct prepared *out, struct service *service,
			struct arena *arena, const struct call_row *row)
{
	json_t *wanted = json_object_get(out->settings, "pathway_version");
	struct pathway_row key = {
		.org_id = row->org_id,
		.id = json_str(out->settings, "pathway_id"),
		.version = json_is_integer(wanted) ? json_integer_value(wanted)
						   : -1,
	};
	struct pathway_row found;
	struct graph_problem problem;
	json_t *nodes, *edges;
	int err;

	if (pathways_get(service->store, arena, &key, &found))
		return fail(out, "The call's pathway no longer exists.");
	out->version = found.version;
	nodes = json_parse(slice_of(found.nodes), NULL);
	edges = json_parse(slice_of(found.edges), NULL);
	err = graph_open(&out->graph, nodes, edges, false, &problem);
	json_decref(nodes);
	json_decref(edges);
	if (err)
		snprintf(out->why, sizeof(out->why),
			 "The call's pathway is not valid: %.180s",
			 problem.message);
	return err;
}

/* An attached number that nobody has configured: a greeting and good-bye. */
static int greeting_graph(struct prepared *out)
{
	struct graph_problem problem;
	json_t *nodes = json_pack(
		"[{s:s,s:s,s:{s:s,s:b,s:s}}]", "id", "greeting", "type",
		"End Call", "data", "name", "Greeting", "isStart", 1, "text",
		"Hello. This number is not set up to take calls yet. "
		"Goodbye.");
	json_t *edges = json_array();
	int err = graph_open(&out->graph, nodes, edges, false, &problem);

	json_decref(nodes);
	json_decref(edges);
	return err;
}

static int load_graph(struct prepared *out, struct service *service,
		      struct arena *arena, const struct call_row *row)
{
	const char *task = json_str(out->settings, "task");

	if (json_str(out->settings, "pathway_id"))
		return load_pathway(out, service, arena, row);
	if (!task)
		task = json_str(out->settings, "prompt");
	if (!task && row->inbound)
		return greeting_graph(out);
	if (!task)
		return fail(out, "The call has neither task nor pathway_id.");
	out->graph =
		graph_of_task(task, json_str(out->settings, "first_sentence"));
	return 0;
}

static void load_limits(struct prepared *out, struct service *service,
			struct arena *arena, const struct call_row *row)
{
	json_t *wanted = json_object_get(out->settings, "max_duration");
	double minutes = json_is_number(wanted) ? json_number_value(wanted)
						: PRESET_MINUTES;
	struct org_row org;

	if (!orgs_get(service->store, arena, row->org_id, &org) &&
	    org.plan_limits.max_minutes > 0 &&
	    org.plan_limits.max_minutes < minutes)
		minutes = org.plan_limits.max_minutes;
	out->max_ms = (uint64_t)(minutes * 60000.0);
}

int prepare(struct prepared *out, struct service *service, struct arena *arena,
	    const struct call_row *row)
{
	if (!out->settings)
		out->settings = json_parse(slice_of(row->request), NULL);
	if (!json_is_object(out->settings))
		return fail(out, "The call's stored settings are damaged.");
	load_limits(out, service, arena, row);
	return load_graph(out, service, arena, row);
}

int prepare_trunk(struct prepared *out, struct service *service,
		  struct arena *arena, const struct call_row *row)
{
	struct trunk_row key = { .org_id = row->org_id,
				 .number = row->inbound ? row->to : row->from,
				 .direction = TRUNK_OUTBOUND };
	struct trunk_row found;
	struct buffer password;
	int err = 0;

	if (trunks_get(service->store, arena, &key, &found)) {
		fail(out, "No outbound SIP configuration is attached to the "
			  "from number.");
		return -ENOENT;
	}
	snprintf(out->trunk.host, sizeof(out->trunk.host), "%s", found.host);
	out->trunk.port = found.port;
	out->trunk.username = found.username;
	out->headers = found.headers;
	if (!found.password.len)
		return 0;
	buffer_init(&password, PASSWORD_MAX_BYTES);
	err = secret_unseal(service->box, &password, found.password);
	if (err)
		fail(out, "The trunk's password cannot be read: it was sealed "
			  "under another store.key.");
	else
		out->trunk.password = arena_dup(arena, buffer_slice(&password));
	if (password.ptr)
		secret_wipe(password.ptr, password.size);
	buffer_reset(&password);
	return err;
}

void prepared_reset(struct prepared *prepared)
{
	json_decref(prepared->settings);
	prepared->settings = NULL;
	graph_close(&prepared->graph);
}

json_t *prepare_variables(const struct prepared *prepared,
			  const struct call_row *row)
{
	const json_t *data =
		json_object_get(prepared->settings, "request_data");
	const char *language = json_str(prepared->settings, "language");
	json_t *variables =
		json_is_object(data) ? json_deep_copy(data) : json_object();

	json_put_str(variables, "call_id", row->id);
	json_put_str(variables, "from", row->from);
	json_put_str(variables, "to", row->to);
	json_put_str(variables, "phone_number",
		     row->inbound ? row->from : row->to);
	json_put_str(variables, "language", language ? language : "en");
	return variables;
}
