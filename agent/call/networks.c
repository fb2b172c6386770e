/* SPDX-License-Identifier: MIT */
#include "agent/call/networks.h"

#include "core/json.h"

enum networks_answer networks_find(struct slice list, const struct addr *peer)
{
	enum networks_answer answer = NETWORKS_EMPTY;

	while (list.len) {
		struct slice network = slice_trim(slice_cut(&list, ','));

		if (!network.len)
			continue;
		if (addr_in_network(peer, network) == 1)
			return NETWORKS_INSIDE;
		answer = NETWORKS_OUTSIDE;
	}
	return answer;
}

enum networks_answer networks_find_option(const char *options,
					  const struct addr *peer)
{
	json_t *tree = json_parse(slice_of(options), NULL);
	json_t *networks = json_object_get(tree, "allowed_ips");
	enum networks_answer answer = NETWORKS_EMPTY;
	size_t i;
	json_t *network;

	json_array_foreach(networks, i, network) {
		const char *text = json_string_value(network);

		if (text && addr_in_network(peer, slice_of(text)) == 1)
			answer = NETWORKS_INSIDE;
		else if (answer == NETWORKS_EMPTY)
			answer = NETWORKS_OUTSIDE;
	}
	json_decref(tree);
	return answer;
}

struct slice networks_bad(struct slice list)
{
	struct addr any;

	addr_parse(&any, SLICE("0.0.0.0"), 0);
	while (list.len) {
		struct slice network = slice_trim(slice_cut(&list, ','));

		if (network.len && addr_in_network(&any, network) < 0)
			return network;
	}
	return (struct slice){ 0 };
}
