/* SPDX-License-Identifier: MIT */
#include "sip/session_trunk.h"
#include <errno.h>
#include <stdio.h>
#include "core/log.h"
#include "sip/session.h"
#include "sip/ua_priv.h"

int session_trunk_target(struct sip_target *out, struct ua *ua,
			 const struct session_trunk *trunk)
{
	struct buffer why;
	int err = 0;

	*out = (struct sip_target){ .port = trunk->port };
	snprintf(out->host, sizeof(out->host), "%s", trunk->host);
	if (!out->host[0])
		return -EINVAL;
	if (!trunk->client_certificate || !trunk->client_certificate[0])
		return 0;
	buffer_init(&why, 512);
	err = sip_transport_identity(
		ua->transport, &out->identity,
		slice_of(trunk->client_certificate),
		slice_of(trunk->client_key ? trunk->client_key : ""), &why);
	if (err)
		log_warn("sip", NULL, "trunk %s cannot be used: %s",
			 trunk->host, buffer_str(&why));
	buffer_reset(&why);
	return err;
}
