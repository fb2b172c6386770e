/* SPDX-License-Identifier: MIT */
/* agent/call/networks.h - lists of networks that peers may come from: addresses
 * and prefixes, in sip.allowed_networks and in the options of a trunk. What
 * an empty list means is for its reader to say. */
#pragma once
#include "core/addr.h"
#include "core/slice.h"

enum networks_answer { NETWORKS_EMPTY, NETWORKS_OUTSIDE, NETWORKS_INSIDE };

/* list: "10.0.0.0/8, 192.0.2.1". */
enum networks_answer networks_find(struct slice list, const struct addr *peer);
/* options: trunk_row.options, JSON; its allowed_ips. */
enum networks_answer networks_find_option(const char *options,
					  const struct addr *peer);
/* The first of such a list that is no network, or an empty slice. */
struct slice networks_bad(struct slice list);
