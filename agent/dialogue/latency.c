/* SPDX-License-Identifier: MIT */
#include "agent/dialogue/latency.h"

#include <stdlib.h>
#include <string.h>
#include "core/json.h"
#include "core/mem.h"

static const char *const part_names[LATENCY_PARTS] = {
	[LATENCY_TOTAL] = "total",
	[LATENCY_END_OF_TURN] = "end_of_turn",
	[LATENCY_RECOGNISER] = "recogniser",
	[LATENCY_MODEL] = "model",
	[LATENCY_SYNTHESISER] = "synthesiser",
	[LATENCY_PLAYOUT] = "playout",
};

void latency_init(struct latency *latency)
{
	*latency = (struct latency){ 0 };
}

void latency_reset(struct latency *latency)
{
	mem_free(latency->turns);
	latency_init(latency);
}

void latency_abandon(struct latency *latency)
{
	memset(latency->at_us, 0, sizeof(latency->at_us));
}

void latency_mark(struct latency *latency, enum latency_part part,
		  uint64_t at_us)
{
	if (part == LATENCY_TOTAL)
		latency_abandon(latency);
	else if (!latency->at_us[part - 1])
		return; /* not a turn of the caller */
	if (!latency->at_us[part])
		latency->at_us[part] = at_us;
}

bool latency_is_due(const struct latency *latency)
{
	return latency->at_us[LATENCY_PLAYOUT] != 0;
}

int64_t latency_finish(struct latency *latency, uint64_t at_us)
{
	uint32_t *turn;
	uint64_t start = latency->at_us[LATENCY_TOTAL];

	latency_mark(latency, LATENCY_PLAYOUT, at_us);
	if (!latency->at_us[LATENCY_PLAYOUT] || at_us < start ||
	    latency->n == LATENCY_TURNS_MAX) {
		latency_abandon(latency);
		return -1;
	}
	latency->turns = mem_resize(latency->turns,
				    (latency->n + 1) * sizeof(*latency->turns));
	turn = latency->turns[latency->n++];
	turn[LATENCY_TOTAL] = (uint32_t)((at_us - start) / 1000);
	for (int part = 1; part < LATENCY_PARTS; part++) {
		uint64_t from = latency->at_us[part - 1];
		uint64_t to = latency->at_us[part];

		turn[part] = to > from ? (uint32_t)((to - from) / 1000) : 0;
	}
	latency_abandon(latency);
	return turn[LATENCY_TOTAL];
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static json_t *percentiles(const struct latency *latency, int part)
{
	static const struct {
		const char *name;
		unsigned percent;
	} wanted[] = { { "p50", 50 }, { "p95", 95 }, { "p99", 99 } };
	uint32_t *sorted = mem_new_array(latency->n, sizeof(*sorted));
	json_t *out = json_object();

	for (size_t i = 0; i < latency->n; i++)
		sorted[i] = latency->turns[i][part];
	qsort(sorted, latency->n, sizeof(*sorted), compare_u32);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		size_t at = (latency->n * wanted[i].percent + 99) / 100;

		json_put_int(out, wanted[i].name, sorted[at ? at - 1 : 0]);
	}
	mem_free(sorted);
	return out;
}

json_t *latency_json(const struct latency *latency)
{
	json_t *out, *parts, *turns;

	if (!latency->n)
		return json_null();
	out = percentiles(latency, LATENCY_TOTAL);
	parts = json_object();
	turns = json_array();
	json_put_int(out, "turns", (int64_t)latency->n);
	for (int part = 1; part < LATENCY_PARTS; part++)
		json_put(parts, part_names[part], percentiles(latency, part));
	for (size_t i = 0; i < latency->n; i++) {
		json_t *turn = json_object();

		for (int part = 0; part < LATENCY_PARTS; part++)
			json_put_int(turn, part_names[part],
				     latency->turns[i][part]);
		json_array_append_new(turns, turn);
	}
	json_put(out, "parts", parts);
	json_put(out, "per_turn", turns);
	return out;
}
