/* SPDX-License-Identifier: MIT */
#include "http/api/sip_trunk.h"

#include <string.h>
#include "core/json.h"
#include "core/mem.h"
#include "core/secret.h"
#include "core/time.h"

enum { SEALED_MAX_BYTES = 1024 };

const char *sip_direction_name(enum trunk_direction type)
{
	return type == TRUNK_INBOUND ? "inbound" : "outbound";
}

static const char *text_of(struct arena *arena, const json_t *value)
{
	char *text = json_text(value);
	const char *copy = arena_dup_str(arena, text);

	mem_free(text);
	return copy;
}

/* ---- into the row ---- */

static void seal_password(struct trunk_row *row, struct arena *arena,
			  const struct service *service, const json_t *value)
{
	const char *plain = json_string_value(value);
	struct buffer sealed;

	if (plain && !strcmp(plain, SIP_PASSWORD_MASK))
		return;
	row->password = (struct slice){ 0 };
	if (!plain || !plain[0])
		return;
	buffer_init(&sealed, SEALED_MAX_BYTES);
	secret_seal(service->box, &sealed, slice_of(plain));
	row->password =
		slice_make(arena_dup(arena, buffer_slice(&sealed)), sealed.len);
	buffer_reset(&sealed);
}

/* Numbers and booleans that came as text are stored as what they are. */
static json_t *normalised(const char *key, const json_t *value)
{
	double real;
	bool is_on;

	if (!strcmp(key, "port") && !json_to_real(&real, value))
		return json_integer((json_int_t)real);
	if (!strcmp(key, "secure_media") && !json_to_bool(&is_on, value))
		return json_boolean(is_on);
	return json_deep_copy(value);
}

static void merge_options(json_t *stored, const json_t *given)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)given, key, value) {
		if (!strcmp(key, "sip_password"))
			continue;
		if (json_is_null(value))
			json_object_del(stored, key);
		else
			json_put(stored, key, normalised(key, value));
	}
}

static void apply_options(struct trunk_row *row, struct arena *arena,
			  const struct service *service,
			  const struct sip_direction *given, bool is_update)
{
	const json_t *password =
		json_object_get(given->options, "sip_password");
	json_t *options = is_update && !json_is_null(given->options)
				  ? json_parse(slice_of(row->options), NULL)
				  : NULL;

	if (!json_is_object(options)) {
		json_decref(options);
		options = json_object();
	}
	if (json_is_object(given->options))
		merge_options(options, given->options);
	if (password || !is_update || json_is_null(given->options))
		seal_password(row, arena, service, password);
	row->username = arena_dup_str(arena, json_str(options, "sip_username"));
	row->options =
		json_object_size(options) ? text_of(arena, options) : NULL;
	json_decref(options);
}

/* The port of the options leads. */
static uint16_t port_of(const struct trunk_row *row, uint16_t of_endpoint)
{
	json_t *options = json_parse(slice_of(row->options), NULL);
	json_t *port = json_object_get(options, "port");
	uint16_t out = json_is_integer(port)
			       ? (uint16_t)json_integer_value(port)
			       : of_endpoint;

	json_decref(options);
	return out;
}

void sip_trunk_apply(struct trunk_row *row, struct arena *arena,
		     const struct service *service,
		     const struct sip_direction *given, bool is_update)
{
	struct sip_direction endpoint = *given;
	struct sip_fault fault;

	if (given->endpoint) {
		row->sip_endpoint = arena_dup_str(arena, given->endpoint);
		row->host = arena_dup(arena, given->host);
	} else if (row->sip_endpoint) {
		json_t *stored = json_pack("{s:s,s:s}", "type", "outbound",
					   "sip_endpoint", row->sip_endpoint);

		sip_check_direction(&endpoint, stored, "", true, &fault);
		json_decref(stored);
	}
	if (given->options || !is_update)
		apply_options(row, arena, service, given, is_update);
	if (given->type == TRUNK_OUTBOUND)
		row->port = port_of(row, endpoint.port);
	if (given->headers || !is_update)
		row->headers = json_is_object(given->headers)
				       ? text_of(arena, given->headers)
				       : NULL;
}

/* ---- what is shown ---- */

static json_t *options_json(const struct trunk_row *row)
{
	json_t *options =
		row->options ? json_parse(slice_of(row->options), NULL) : NULL;

	if (row->password.len) {
		if (!options)
			options = json_object();
		json_put_str(options, "sip_password", SIP_PASSWORD_MASK);
	}
	return options ? options : json_null();
}

json_t *sip_trunk_json(const struct trunk_row *row)
{
	json_t *out;
	char at[TIME_TEXT_SIZE];
	json_t *headers;

	if (!row)
		return json_null();
	out = json_object();
	headers =
		row->headers ? json_parse(slice_of(row->headers), NULL) : NULL;
	json_put_str(out, "number", row->number);
	json_put_str(out, "id", row->id);
	json_put_str(out, "org_id", row->org_id);
	json_put_str(out, "direction", sip_direction_name(row->direction));
	json_put_str(out, "sip_endpoint", row->sip_endpoint);
	json_put_str(out, "created_at", time_write(at, row->created_ms));
	json_put_str(out, "updated_at", time_write(at, row->updated_ms));
	json_put(out, "headers", headers ? headers : json_null());
	json_put(out, "options", options_json(row));
	json_put(out, "inbound_id",
		 row->inbound_id ? json_integer(row->inbound_id) : json_null());
	return out;
}
