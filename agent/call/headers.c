/* SPDX-License-Identifier: MIT */
#include "agent/call/headers.h"

#include <string.h>
#include "agent/call/uui.h"
#include "agent/pathway/template.h"
#include "core/arena.h"
#include "core/json.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "sip/header.h"
#include "sip/session.h"
#include "store/calls.h"

enum {
	VALUE_MAX_BYTES = 4096, /* of a header or a variable */
	ALL_MAX_BYTES = 8192 /* of one INVITE: peers take 16 KiB of headers */
};

/* Has no break that would end a header or a C string. */
static bool is_storable(struct slice text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (strchr("\r\n", text.ptr[i])) /* NUL, too */
			return false;
	}
	return slice_is_utf8(text);
}

static bool is_type(const json_t *entry, const char *type)
{
	const char *given = json_str(entry, "type");

	return given && !strcmp(given, type);
}

static bool passes_through(const json_t *entry)
{
	bool passes = false;

	return !json_to_bool(&passes, json_object_get(entry, "passthrough")) &&
	       passes;
}

/* ---- out ---- */

struct writer {
	struct headers_list *out;
	struct arena *arena;
	struct variables *variables; /* owned */
	const char *call_id;
	size_t bytes;
};

static void add(struct writer *writer, const char *name, const char *value)
{
	size_t bytes = strlen(name) + strlen(value) + 4;
	const char *why = NULL;

	if (!sip_header_is_mappable(slice_of(name)))
		why = "the name is not one a mapping may use";
	else if (!sip_text_is_line(slice_of(value)))
		why = "the value is not one line of text";
	else if (bytes > VALUE_MAX_BYTES)
		why = "the value is too long";
	else if (writer->bytes + bytes > ALL_MAX_BYTES)
		why = "all mapped headers together are too long";
	if (why) {
		log_warn("call", writer->call_id, "header %.60s left out: %s",
			 name, why);
		return;
	}
	writer->bytes += bytes;
	writer->out->items[writer->out->n++] = (struct session_header){
		.name = slice_of(arena_dup_str(writer->arena, name)),
		.value = slice_of(arena_dup_str(writer->arena, value)),
	};
}

/* Heap text of a variable, or NULL when it has no value. */
static char *text_of(const struct variables *variables, const char *name)
{
	json_t *value = variables_find(variables, slice_of(name));
	char *text = NULL;

	if (json_is_string(value))
		text = mem_dup_str(json_string_value(value));
	else if (value && !json_is_null(value))
		text = json_text(value);
	json_decref(value);
	return text;
}

static void write_custom(struct writer *writer, const json_t *entry)
{
	const char *key = json_str(entry, "key");
	const char *value = json_str(entry, "value");
	char *text;

	if (!key || !value)
		return;
	if (passes_through(entry)) {
		text = template_text(value, TEMPLATE_TEXT, writer->variables);
		add(writer, key, text);
	} else {
		text = text_of(writer->variables, key);
		if (text)
			add(writer, value, text);
	}
	mem_free(text);
}

static void write_uui(struct writer *writer, const json_t *entry)
{
	const char *target = json_str(entry, "target");
	char *text = target ? text_of(writer->variables, target) : NULL;
	struct buffer value;

	if (!text || !text[0]) {
		mem_free(text);
		return;
	}
	buffer_init(&value, VALUE_MAX_BYTES);
	if (!sip_text_is_line(slice_of(text)) ||
	    uui_write(&value, entry, text) || buffer_error(&value))
		log_warn("call", writer->call_id,
			 "header User-to-User left out: the value of %.60s "
			 "does not fit it",
			 target);
	else
		add(writer, "User-to-User", buffer_str(&value));
	buffer_reset(&value);
	mem_free(text);
}

/* Built in, unless the pathway has its own of that name. */
static struct variables *open_variables(const struct headers_source *source)
{
	const struct call_row *row = source->row;
	int64_t up_ms = row->times.answered_ms ? loop_wall_ms(source->loop) -
							 row->times.answered_ms
					       : 0;
	json_t *all = source->variables ? json_copy((json_t *)source->variables)
					: json_object();
	json_t *service = json_object();
	struct variables_options options = { .loop = source->loop,
					     .initial = all,
					     .call_id = row->id,
					     .timezone = source->timezone };
	struct variables *variables;

	json_put_str(service, "call_id", row->id);
	json_put_str(service, "caller_id", row->from);
	json_put_str(service, "destination_number", row->to);
	json_put_int(service, "call_duration", up_ms / 1000);
	json_put_str(service, "call_status", row->queue_status);
	json_object_update_missing(all, service);
	variables = variables_open(&options);
	json_decref(service);
	json_decref(all);
	return variables;
}

void headers_write(struct headers_list *out, struct arena *arena,
		   const char *mapping, const struct headers_source *source)
{
	json_t *tree = mapping ? json_parse(slice_of(mapping), NULL) : NULL;
	const json_t *entries = json_object_get(tree, "headers");
	struct writer writer = { .out = out,
				 .arena = arena,
				 .call_id = source->row->id };
	const json_t *entry;
	size_t i;

	*out = (struct headers_list){ 0 };
	if (json_array_size(entries)) {
		out->items = arena_new(arena, json_array_size(entries) *
						      sizeof(*out->items));
		writer.variables = open_variables(source);
	}
	json_array_foreach((json_t *)entries, i, entry) {
		if (is_type(entry, "custom"))
			write_custom(&writer, entry);
		else if (is_type(entry, "uui"))
			write_uui(&writer, entry);
	}
	variables_close(&writer.variables);
	json_decref(tree);
}

/* ---- in ---- */

/* Compact forms (RFC 3261, 7.3.3, and its extensions) of headers that the
 * signalling itself has no use for. */
static const struct {
	const char *name;
	const char *compact;
} compacts[] = {
	{ "Accept-Contact", "a" },
	{ "Allow-Events", "u" },
	{ "Identity", "y" },
	{ "Reject-Contact", "j" },
	{ "Request-Disposition", "d" },
	{ "Subject", "s" },
};

/* First of that name in either form; ptr NULL: none. */
static struct slice find_value(const struct sip_message *invite,
			       struct slice name)
{
	struct slice value = sip_message_value(invite, name);

	for (size_t i = 0; i < sizeof(compacts) / sizeof(*compacts); i++) {
		struct slice full = slice_of(compacts[i].name);
		struct slice compact = slice_of(compacts[i].compact);

		if (!value.ptr && slice_eq_nocase(name, full))
			value = sip_message_value(invite, compact);
		else if (!value.ptr && slice_eq_nocase(name, compact))
			value = sip_message_value(invite, full);
	}
	return value;
}

static void keep(json_t *out, const char *variable, struct slice value,
		 const char *call_id)
{
	char *name;

	if (value.len > VALUE_MAX_BYTES || !is_storable(value)) {
		log_warn("call", call_id,
			 "variable %.60s not set: its header is too long or "
			 "not text",
			 variable);
		return;
	}
	name = mem_dup_str(variable);
	json_put(out, name,
		 json_stringn(value.ptr ? value.ptr : "", value.len));
	mem_free(name);
}

static void read_custom(json_t *out, const json_t *entry,
			const struct sip_message *invite, const char *call_id)
{
	const char *key = json_str(entry, "key");
	const char *value = json_str(entry, "value");
	struct slice found;

	if (!key || !value)
		return;
	if (passes_through(entry)) {
		keep(out, key, slice_of(value), call_id);
		return;
	}
	found = find_value(invite, slice_of(key));
	if (found.ptr && value[0])
		keep(out, value, found, call_id);
}

static void read_uui(json_t *out, const json_t *entry,
		     const struct sip_message *invite, const char *call_id)
{
	const char *target = json_str(entry, "target");
	struct buffer text;

	if (!target || !target[0])
		return;
	buffer_init(&text, VALUE_MAX_BYTES);
	if (!uui_find(&text, entry, invite) && !buffer_error(&text))
		keep(out, target, buffer_slice(&text), call_id);
	buffer_reset(&text);
}

json_t *headers_read(const char *mapping, const struct sip_message *invite,
		     const char *call_id)
{
	json_t *tree = mapping ? json_parse(slice_of(mapping), NULL) : NULL;
	json_t *out = json_object();
	const json_t *entry;
	size_t i;

	json_array_foreach(json_object_get(tree, "headers"), i, entry) {
		if (is_type(entry, "custom"))
			read_custom(out, entry, invite, call_id);
		else if (is_type(entry, "uui"))
			read_uui(out, entry, invite, call_id);
	}
	json_decref(tree);
	return out;
}
