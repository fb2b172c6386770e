/* SPDX-License-Identifier: MIT */
/* agent/call/record.h - the call object of GET /v1/calls/{id}, lists and
 * post-call webhooks: derived from the row, its settings and its timeline. */
#pragma once
#include "core/json.h"
#include "store/calls.h"

/* What only the end of a call knows; NULL members become null. */
struct record_outcome {
	const char *error_message;
	const char *ended_by; /* "ASSISTANT", "USER" */
	const char *summary;
	const char *disposition;
	const json_t *variables; /* borrowed; NULL: {} */
	const json_t *latency; /* borrowed */
	const json_t *media; /* borrowed */
};

struct record_input {
	const struct call_row *row; /* body and brief are not read */
	const struct event_list *events; /* NULL: none yet */
	const struct record_outcome *outcome; /* NULL: not ended */
	const char *base_url; /* for recording_url */
};

/* The whole object; the caller owns the reference. */
json_t *record_json(const struct record_input *input);
/* The row's body and brief rendered into the arena from record_json(). */
void record_render(struct call_row *row, struct arena *arena,
		   const struct record_input *input);
