/* SPDX-License-Identifier: MIT */
#include "agent/call/referrer.h"

#include "agent/call/networks.h"
#include "core/config.h"
#include "core/egress.h"
#include "core/log.h"
#include "store/trunks.h"

static bool is_private(const struct addr *addr)
{
	static const struct egress strict = { 0 };

	return egress_check(&strict, addr) != 0;
}

/* In a network that the internet does not reach, and neither it nor this
 * machine: organisations may have us call ourselves, over a trunk that leads
 * here. On loopback alone it is a proxy of ours that lets callers in. */
static bool is_near(const struct config *config, const struct addr *peer)
{
	struct slice listen = slice_of(config_text(config, "sip.listen"));
	struct addr addr = addr_unmapped(peer), own;

	if (addr_parse(&own, listen, 0) || addr_is_any(&own))
		return false;
	if (addr_is_loopback(&own) || addr_is_loopback(&addr))
		return addr_is_loopback(&own) && addr_is_loopback(&addr);
	return is_private(&own) && is_private(&addr) &&
	       !addr_is_same_host(&own, &addr);
}

bool referrer_is_known(struct service *service, struct arena *arena,
		       const struct call_row *row, const struct addr *peer)
{
	const struct config *config = service->config;
	struct trunk_row key = { .org_id = row->org_id,
				 .number = row->to,
				 .direction = TRUNK_INBOUND };
	struct trunk_row trunk = { 0 };
	char text[ADDR_TEXT_SIZE];

	if (!row->inbound || is_near(config, peer) ||
	    config_bool(config, "sip.require_client_certificate") ||
	    networks_find(slice_of(config_text(config, "sip.allowed_networks")),
			  peer) == NETWORKS_INSIDE)
		return true;
	if (!trunks_get(service->store, arena, &key, &trunk) &&
	    networks_find_option(trunk.options, peer) == NETWORKS_INSIDE)
		return true;
	log_warn("call", row->id,
		 "transfer refused: %s is in none of sip.allowed_networks or "
		 "the allowed_ips of %s",
		 addr_text(peer, text), row->to);
	return false;
}
