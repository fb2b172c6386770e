/* SPDX-License-Identifier: MIT */
/* agent/pathway/timeline.h - the ordered events of one call (specification
 * 6.3): sequence is given out when the thing happens, rising and never reused;
 * payloads are cut at 64 KiB a value and secrets redacted on the way in. */
#pragma once
#include <jansson.h>
#include <stdint.h>

struct loop;
struct timeline;

struct timeline_event {
	int64_t sequence;
	const char *type; /* "webhook.invoke" */
	const char *node_id; /* NULL before the first node */
	int64_t operation_id; /* 0: none */
	const json_t *payload; /* NULL: none */
	int64_t created_ms;
};

/* Each event as it happens; borrowed during the call. */
typedef void timeline_sink_fn(void *owner, const struct timeline_event *event);

struct timeline *timeline_open(struct loop *loop, timeline_sink_fn *sink,
			       void *owner);
void timeline_close(struct timeline **timeline);
/* The call's id in timeline_json(), also in what is there already; copied. */
void timeline_set_conversation(struct timeline *timeline,
			       const char *conversation_id);
/* The node that later events belong to; copied. */
void timeline_enter_node(struct timeline *timeline, const char *node_id);
/* Takes over payload's reference. operation_id 0: none. Returns sequence. */
int64_t timeline_add(struct timeline *timeline, const char *type,
		     int64_t operation_id, json_t *payload);
/* All events so far as the array of GET /v1/pathway_calls?v=2; borrowed. */
const json_t *timeline_json(const struct timeline *timeline);
