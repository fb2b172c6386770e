/* SPDX-License-Identifier: MIT */
#include "agent/call/dispatch_stats.h"

#include <string.h>
#include "agent/call/call_priv.h"
#include "agent/call/dispatch.h"

static void count_turns(struct dispatch_stats *stats, const json_t *latency)
{
	static const int64_t bounds[] = {
		100, 200, 400, 700, 1000, 1500, 3000
	};
	json_t *turns = json_object_get(latency, "per_turn");
	size_t i, bucket;
	json_t *turn;

	json_array_foreach(turns, i, turn) {
		int64_t ms = json_integer_value(json_object_get(turn, "total"));

		bucket = 0;
		while (bucket < sizeof(bounds) / sizeof(*bounds) &&
		       ms > bounds[bucket])
			bucket++;
		stats->turn_bucket[bucket]++;
		stats->turns++;
		stats->turn_ms_total += (uint64_t)ms;
	}
}

void dispatch_stats_add(struct dispatch_stats *stats, const struct call *call)
{
	const struct call_outcome *outcome = &call->outcome;

	stats->completed++;
	stats->failed +=
		outcome->status && strcmp(outcome->status, "completed") != 0;
	count_turns(stats, outcome->latency);
}
