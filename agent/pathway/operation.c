/* SPDX-License-Identifier: MIT */
#include "agent/pathway/operation.h"
#include <assert.h>
#include <stdio.h>
#include "core/json.h"

static int64_t add(struct operation *operation, const char *phase,
		   json_t *payload)
{
	char type[64];

	assert(operation->prefix);
	snprintf(type, sizeof(type), "%s.%s", operation->prefix, phase);
	return timeline_add(operation->timeline, type, operation->id, payload);
}

static json_t *with_message(const char *message, json_t *context)
{
	json_t *payload = json_object();

	json_put_str(payload, "message", message);
	if (context)
		json_object_update_missing(payload, context);
	json_decref(context);
	return payload;
}

void operation_invoke(struct operation *operation, const char *prefix,
		      uint64_t now_us, json_t *payload)
{
	operation->prefix = prefix;
	operation->id = 0;
	operation->started_us = now_us;
	operation->id = add(operation, "invoke", payload);
}

void operation_result(struct operation *operation, json_t *payload)
{
	add(operation, "result", payload);
}

void operation_error(struct operation *operation, const char *message,
		     json_t *context)
{
	add(operation, "error", with_message(message, context));
}

void operation_warning(struct operation *operation, const char *message,
		       json_t *context)
{
	add(operation, "warning", with_message(message, context));
}

void operation_part(struct operation *operation, const char *part,
		    json_t *payload)
{
	add(operation, part, payload);
}

int64_t operation_ms(const struct operation *operation, uint64_t now_us)
{
	return (int64_t)((now_us - operation->started_us) / 1000);
}
