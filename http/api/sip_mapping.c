/* SPDX-License-Identifier: MIT */
#include "http/api/sip_mapping.h"

#include <stdio.h>
#include "core/json.h"
#include "sip/header.h"
#include "sip/lex.h"

enum { MAPPINGS_MAX = 64 };

static bool is_text(const json_t *value)
{
	return sip_is_clean(value) && json_string_length(value);
}

static int check_custom(const struct sip_place *place, const json_t *entry,
			enum trunk_direction type)
{
	const json_t *key = json_object_get(entry, "key");
	const json_t *value = json_object_get(entry, "value");
	const json_t *given = json_object_get(entry, "passthrough");
	bool is_out = type == TRUNK_OUTBOUND;
	bool passes = false;
	const json_t *name;

	if (!is_text(key))
		return sip_fault_at(place, "key",
				    "key must be a text without control "
				    "characters");
	if (!sip_is_clean(value))
		return sip_fault_at(place, "value",
				    "value must be a text without control "
				    "characters");
	if (given && !json_is_null(given) && json_to_bool(&passes, given))
		return sip_fault_at(place, "passthrough",
				    "passthrough must be a boolean");
	if (!passes && !json_string_length(value))
		return sip_fault_at(place, "value", "value must not be empty");
	if (passes && !is_out)
		return 0; /* names a variable, no header */
	name = is_out && !passes ? value : key;
	if (!sip_header_is_mappable(slice_of(json_string_value(name))))
		return sip_fault_at(place, name == key ? "key" : "value",
				    "the header '%.60s' cannot be mapped",
				    json_string_value(name));
	return 0;
}

static int check_uui(const struct sip_place *place, const json_t *entry)
{
	static const char *const tokens[] = { "purpose", "content" };
	const json_t *encoding = json_object_get(entry, "encoding");
	struct slice text = slice_of(json_string_value(encoding));

	if (!is_text(json_object_get(entry, "target")))
		return sip_fault_at(place, "target",
				    "target must name a variable");
	if (encoding && !json_is_null(encoding) &&
	    !slice_eq(text, SLICE("hex")) && !slice_eq(text, SLICE("ascii")))
		return sip_fault_at(place, "encoding",
				    "encoding must be hex or ascii");
	for (size_t i = 0; i < 2; i++) {
		const json_t *value = json_object_get(entry, tokens[i]);

		if (value && !json_is_null(value) &&
		    !lex_is_token(slice_of(json_string_value(value))))
			return sip_fault_at(place, tokens[i],
					    "%s must be a word without blanks "
					    "or separators",
					    tokens[i]);
	}
	return 0;
}

static int check_entry(const struct sip_place *place, const json_t *entry,
		       enum trunk_direction type)
{
	struct slice kind = slice_of(json_str(entry, "type"));

	if (!json_is_object(entry))
		return sip_fault_at(place, "", "%s must be an object",
				    place->at);
	if (slice_eq(kind, SLICE("custom")))
		return check_custom(place, entry, type);
	if (slice_eq(kind, SLICE("uui")))
		return check_uui(place, entry);
	return sip_fault_at(place, "type", "type must be custom or uui");
}

int sip_check_mapping(const struct sip_place *above, const json_t *value,
		      enum trunk_direction type)
{
	const json_t *entries = json_object_get(value, "headers");
	const json_t *given = json_object_get(value, "direction");
	struct sip_place place = { .fault = above->fault };
	enum trunk_direction direction;
	int err = 0;
	size_t i;
	json_t *entry;

	if (!json_is_object(value))
		return sip_fault_at(above, "headers",
				    "headers must be an object");
	if (sip_check_type(&direction, given) || direction != type)
		return sip_fault_at(above, "headers.direction",
				    "headers.direction must equal type");
	if (!json_is_array(entries) || json_array_size(entries) > MAPPINGS_MAX)
		return sip_fault_at(above, "headers.headers",
				    "headers.headers must be an array of at "
				    "most 64 mappings");
	json_array_foreach(entries, i, entry) {
		snprintf(place.at, sizeof(place.at),
			 "%.40s.headers.headers[%zu]", above->at, i);
		err = check_entry(&place, entry, type);
		if (err)
			break;
	}
	return err;
}
