/* SPDX-License-Identifier: MIT */
#include "agent/call/closing.h"

#include <string.h>
#include "agent/call/record.h"
#include "core/id.h"
#include "core/json.h"
#include "core/loop.h"

void closing_complete(struct service *service, const struct call_row *row,
		      const char *status, const char *message,
		      struct store_reply reply)
{
	struct arena *arena = arena_open();
	json_t *settings = json_parse(slice_of(row->request), NULL);
	struct event_list events = { 0 };
	char webhook_id[ID_UUID_SIZE];
	struct call_end end = {
		.row = *row,
		.webhook = { .id = webhook_id,
			     .org_id = row->org_id,
			     .call_id = row->id,
			     .url = json_str(settings, "webhook"),
			     .send_type = "spawn",
			     .created_ms = loop_wall_ms(service->loop) },
	};
	struct record_outcome outcome = {
		.error_message = message,
		.summary = row->times.answered_ms
				   ? "The call was cut off before its end."
				   : "The call did not take place.",
	};
	struct record_input input = { .row = &end.row,
				      .events = &events,
				      .outcome = &outcome,
				      .base_url = service->base_url };

	id_uuid(webhook_id);
	events_list(service->store, arena, row->id, 0, &events);
	end.row.completed = true;
	end.row.status = status;
	end.row.queue_status =
		strcmp(status, "failed") ? "complete" : "call_error";
	end.row.times.end_ms = loop_wall_ms(service->loop);
	record_render(&end.row, arena, &input);
	end.webhook.body = end.row.body;
	calls_complete(service->store, &end, reply);
	json_decref(settings);
	arena_close(&arena);
}
