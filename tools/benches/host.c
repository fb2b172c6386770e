/* SPDX-License-Identifier: MIT */
#include "tools/benches/host.h"

int host_open(struct host *host, const struct node *node,
	      const struct ua_events *events, void *owner)
{
	struct media_options media = {
		.loop = node->loop,
		.work = node->work,
		.port_min = 16384,
		.port_max = 32767,
		.codecs = { MEDIA_PCMU, MEDIA_PCMA },
		.n_codecs = 2,
		.timeout_ms = 30000,
	};
	struct ua_options ua = {
		.transport = { .loop = node->loop,
			       .tls = node->tls,
			       .public_address = "",
			       .user_agent = "Parley-bench" },
		.domain = "localhost",
		.max_sessions = 10000,
	};
	int err;

	addr_parse(&media.bind, SLICE("127.0.0.1"), 0);
	addr_parse(&ua.transport.listen.bind, SLICE("127.0.0.1"), 0);
	err = media_open(&host->media, &media);
	return err ? err : ua_open(&host->ua, &ua, events, owner);
}
