/* SPDX-License-Identifier: MIT */
#include "agent/call/inbound.h"

#include <string.h>
#include "agent/call/call.h"
#include "agent/call/headers.h"
#include "agent/call/networks.h"
#include "agent/call/phone.h"
#include "core/config.h"
#include "core/id.h"
#include "core/json.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "sip/ua.h"
#include "sip/uri.h"
#include "store/numbers.h"
#include "store/orgs.h"
#include "store/trunks.h"

static const char *e164(struct arena *arena, const char *text)
{
	char number[PHONE_SIZE];

	if (phone_parse(number, slice_of(text)))
		return arena_dup_str(arena, text);
	return arena_dup_str(arena, number);
}

/* The number's settings, with what the organisation says for all of them. */
static const char *settings_of(struct arena *arena, const char *stored,
			       const struct org_row *org)
{
	json_t *settings = json_parse(slice_of(stored), NULL);
	const char *out = stored;
	char *text;

	if (!json_is_object(settings))
		goto out;
	if (!json_str(settings, "webhook") && org->webhook_url)
		json_put_str(settings, "webhook", org->webhook_url);
	if (!json_str(settings, "timezone") && org->timezone)
		json_put_str(settings, "timezone", org->timezone);
	text = json_text(settings);
	out = arena_dup_str(arena, text);
	mem_free(text);
out:
	json_decref(settings);
	return out;
}

static void fill_row(struct inbound_call *out, struct service *service,
		     struct arena *arena, const struct trunk_row *trunk)
{
	struct number_row number;
	struct org_row org;
	char id[ID_UUID_SIZE];

	id_uuid(id);
	out->row.id = arena_dup_str(arena, id);
	out->row.org_id = trunk->org_id;
	out->row.inbound = true;
	out->row.queue_status = "started";
	out->row.times.created_ms = loop_wall_ms(service->loop);
	out->row.request = "{}";
	if (!numbers_get(service->store, arena, trunk->org_id, out->row.to,
			 &number))
		out->row.request = number.settings;
	if (orgs_get(service->store, arena, trunk->org_id, &org))
		return;
	out->concurrency = (unsigned)org.plan_limits.concurrency;
	out->row.request = settings_of(arena, out->row.request, &org);
}

static bool is_allowed(struct service *service, const struct trunk_row *trunk,
		       const struct ua_invite *invite)
{
	const char *networks =
		config_text(service->config, "sip.allowed_networks");
	char peer[ADDR_TEXT_SIZE];

	/* An empty list allows any address. */
	if (networks_find(slice_of(networks), &invite->peer) !=
		    NETWORKS_OUTSIDE &&
	    networks_find_option(trunk->options, &invite->peer) !=
		    NETWORKS_OUTSIDE)
		return true;
	log_warn("sip", NULL, "%s may not call %s: not an allowed network",
		 addr_text(&invite->peer, peer), trunk->number);
	return false;
}

/* Carriers that put their own name for us into the Request-URI keep the number
 * in To. */
static int find_trunk(struct service *service, struct arena *arena,
		      const struct ua_invite *invite, struct trunk_row *out)
{
	struct trunk_row key = { .direction = TRUNK_INBOUND,
				 .number = e164(arena, invite->to_number) };
	struct buffer number;
	int err = trunks_get(service->store, arena, &key, out);

	if (!err || !invite->message)
		return err;
	buffer_init(&number, SIP_HEADER_MAX_BYTES);
	sip_uri_number(&number, &invite->message->common.to.uri);
	key.number = e164(arena, buffer_str(&number));
	buffer_reset(&number);
	return trunks_get(service->store, arena, &key, out);
}

int inbound_route(struct inbound_call *out, struct service *service,
		  struct arena *arena, const struct ua_invite *invite)
{
	struct trunk_row trunk;
	char peer[ADDR_TEXT_SIZE];

	*out = (struct inbound_call){ 0 };
	if (find_trunk(service, arena, invite, &trunk)) {
		log_info("sip", NULL, "no such number: %s from %s",
			 invite->to_number, addr_text(&invite->peer, peer));
		return 404;
	}
	out->row.to = trunk.number;
	out->row.from = e164(arena, invite->from_number);
	if (!is_allowed(service, &trunk, invite))
		return 403;
	out->headers = trunk.headers;
	fill_row(out, service, arena, &trunk);
	return 0;
}

json_t *inbound_variables(const struct inbound_call *inbound,
			  const struct ua_invite *invite)
{
	return headers_read(inbound->headers, invite->message, inbound->row.id);
}

int inbound_may_replace(struct service *service, struct arena *arena,
			const struct ua_invite *invite, const struct call *call)
{
	struct trunk_row key = { .direction = TRUNK_INBOUND,
				 .number = e164(arena, invite->to_number) };
	struct trunk_row trunk;
	int err = trunks_get(service->store, arena, &key, &trunk);

	if (err) {
		key.number = call_own_number(call);
		err = trunks_get(service->store, arena, &key, &trunk);
	}
	if (!err && !strcmp(trunk.org_id, call_org_id(call)) &&
	    is_allowed(service, &trunk, invite))
		return 0;
	log_warn("call", call_id(call), "may not be taken over by %s",
		 invite->from_number);
	return 403;
}
