/* SPDX-License-Identifier: MIT */
#include "http/api/sip_check.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include "core/addr.h"
#include "core/json.h"
#include "http/api/sip_mapping.h"
#include "sip/lex.h"
#include "sip/uri.h"

enum { PORT_MAX = 65535, CREDENTIAL_MAX_BYTES = 255 };

int sip_fault_at(const struct sip_place *place, const char *member,
		 const char *fmt, ...)
{
	struct sip_fault *fault = place->fault;
	va_list args;

	snprintf(fault->field, sizeof(fault->field), "%s%s%s", place->at,
		 member[0] && member[0] != '[' ? "." : "", member);
	va_start(args, fmt);
	vsnprintf(fault->message, sizeof(fault->message), fmt, args);
	va_end(args);
	return -EINVAL;
}

bool sip_is_clean(const json_t *value)
{
	const char *text = json_string_value(value);

	for (; text && *text; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7F)
			return false;
	}
	return json_is_string(value);
}

static bool is_given(const json_t *value)
{
	return value && !json_is_null(value);
}

int sip_check_type(enum trunk_direction *out, const json_t *value)
{
	struct slice text = slice_of(json_string_value(value));

	if (slice_eq(text, SLICE("inbound")))
		*out = TRUNK_INBOUND;
	else if (slice_eq(text, SLICE("outbound")))
		*out = TRUNK_OUTBOUND;
	else
		return -EINVAL;
	return 0;
}

/* ---- sip_endpoint ---- */

/* Labels with a point between them, or localhost. */
static bool is_fqdn(struct slice host)
{
	struct addr addr;

	if (!addr_parse(&addr, host, 0) || !lex_is_host(host))
		return false;
	return slice_find(host, '.') > 0 ||
	       slice_eq_nocase(host, SLICE("localhost"));
}

/* ":0" and the like parse to no port, and are none. */
static bool has_empty_port(const struct sip_uri *uri, struct slice text)
{
	const char *after = uri->host.ptr + uri->host.len;

	return !uri->port && after < text.ptr + text.len && *after == ':';
}

static int check_uri(const struct sip_place *place, const struct sip_uri *uri,
		     struct slice text)
{
	static const char name[] = "sip_endpoint";
	struct slice transport;

	if (uri->user.len || uri->password.len || slice_find(text, '@') >= 0)
		return sip_fault_at(place, name,
				    "sip_endpoint must not have a user part");
	if (uri->headers.len || slice_find(text, '?') >= 0)
		return sip_fault_at(place, name,
				    "sip_endpoint must not have headers");
	if (!is_fqdn(uri->host))
		return sip_fault_at(
			place, name,
			"sip_endpoint must name a host by its fully "
			"qualified domain name, not an IP address");
	if (has_empty_port(uri, text))
		return sip_fault_at(place, name,
				    "the port of sip_endpoint must be between "
				    "1 and 65535");
	if (sip_uri_param(uri, "transport", &transport) &&
	    !slice_eq_nocase(transport, SLICE("tls")))
		return sip_fault_at(place, name,
				    "the transport of sip_endpoint must be "
				    "tls");
	return 0;
}

static int check_endpoint(struct sip_direction *out,
			  const struct sip_place *place, const json_t *value)
{
	struct slice text = slice_of(json_string_value(value));
	struct sip_uri uri;
	int err;

	if (!json_is_string(value))
		return sip_fault_at(place, "sip_endpoint",
				    "sip_endpoint must be a string");
	if (!slice_has_prefix(text, SLICE("sip:")))
		return sip_fault_at(place, "sip_endpoint",
				    "sip_endpoint must start with sip:");
	if (sip_uri_parse(&uri, text))
		return sip_fault_at(place, "sip_endpoint",
				    "sip_endpoint is not sip:HOST or "
				    "sip:HOST:PORT with a port between 1 and "
				    "65535");
	err = check_uri(place, &uri, text);
	if (err)
		return err;
	out->endpoint = text.ptr;
	out->host = uri.host;
	out->port = uri.port;
	return 0;
}

/* ---- options ---- */

static int check_port(const struct sip_place *place, const json_t *value)
{
	double port;

	if (json_to_real(&port, value) || port != floor(port) || port < 1 ||
	    port > PORT_MAX)
		return sip_fault_at(place, "port",
				    "port must be between 1 and 65535");
	return 0;
}

static int check_transport(const struct sip_place *place, const json_t *value)
{
	if (slice_eq_nocase(slice_of(json_string_value(value)), SLICE("tls")))
		return 0;
	return sip_fault_at(place, "transport", "transport must be tls");
}

static int check_secure(const struct sip_place *place, const json_t *value)
{
	bool is_on;

	if (json_to_bool(&is_on, value))
		return sip_fault_at(place, "secure_media",
				    "secure_media must be a boolean");
	if (!is_on)
		return sip_fault_at(place, "secure_media",
				    "secure_media must be true: media is "
				    "always encrypted");
	return 0;
}

static int check_credential(const struct sip_place *place, const char *name,
			    const json_t *value)
{
	if (!sip_is_clean(value) ||
	    json_string_length(value) > CREDENTIAL_MAX_BYTES)
		return sip_fault_at(place, name,
				    "%s must be a string of at most 255 "
				    "characters without control characters",
				    name);
	return 0;
}

static int check_username(const struct sip_place *place, const json_t *value)
{
	return check_credential(place, "sip_username", value);
}

static int check_password(const struct sip_place *place, const json_t *value)
{
	return check_credential(place, "sip_password", value);
}

static int check_networks(const struct sip_place *place, const json_t *value)
{
	struct addr any;
	size_t i;
	json_t *item;

	if (!json_is_array(value))
		return sip_fault_at(place, "allowed_ips",
				    "allowed_ips must be an array of networks");
	addr_parse(&any, SLICE("0.0.0.0"), 0);
	json_array_foreach(value, i, item) {
		char member[40];

		snprintf(member, sizeof(member), "allowed_ips[%zu]", i);
		if (!json_is_string(item) ||
		    addr_in_network(&any, slice_of(json_string_value(item))) <
			    0)
			return sip_fault_at(place, member,
					    "%s must be an address or a "
					    "network such as 192.0.2.0/24",
					    member);
	}
	return 0;
}

static const struct {
	const char *name;
	enum trunk_direction type;
	int (*check)(const struct sip_place *place, const json_t *value);
} options[] = {
	{ "port", TRUNK_OUTBOUND, check_port },
	{ "transport", TRUNK_OUTBOUND, check_transport },
	{ "secure_media", TRUNK_OUTBOUND, check_secure },
	{ "sip_username", TRUNK_OUTBOUND, check_username },
	{ "sip_password", TRUNK_OUTBOUND, check_password },
	{ "allowed_ips", TRUNK_INBOUND, check_networks },
};

static int check_options(const struct sip_direction *direction,
			 const struct sip_place *above)
{
	struct sip_place place = { .fault = above->fault };
	int err = 0;

	if (!is_given(direction->options))
		return 0;
	if (!json_is_object(direction->options))
		return sip_fault_at(above, "options",
				    "options must be an object");
	snprintf(place.at, sizeof(place.at), "%s.options", above->at);
	for (size_t i = 0; !err && i < sizeof(options) / sizeof(*options);
	     i++) {
		const json_t *value =
			json_object_get(direction->options, options[i].name);

		if (is_given(value) && options[i].type == direction->type)
			err = options[i].check(&place, value);
	}
	return err;
}

/* ---- one direction ---- */

static int check_outbound(struct sip_direction *out,
			  const struct sip_place *place, const json_t *value,
			  bool is_update)
{
	const json_t *endpoint = json_object_get(value, "sip_endpoint");

	if (endpoint && !(json_is_null(endpoint) && !is_update))
		return check_endpoint(out, place, endpoint);
	if (is_update)
		return 0;
	return sip_fault_at(place, "sip_endpoint",
			    "sip_endpoint is required for outbound");
}

int sip_check_direction(struct sip_direction *out, const json_t *value,
			const char *at, bool is_update, struct sip_fault *fault)
{
	struct sip_place place = { .fault = fault };
	int err = 0;

	*out = (struct sip_direction){ 0 };
	snprintf(place.at, sizeof(place.at), "%s", at);
	if (!json_is_object(value))
		return sip_fault_at(&place, "", "%s must be an object", at);
	if (sip_check_type(&out->type, json_object_get(value, "type")))
		return sip_fault_at(&place, "type",
				    "type must be inbound or outbound");
	out->options = json_object_get(value, "options");
	out->headers = json_object_get(value, "headers");
	if (out->type == TRUNK_OUTBOUND)
		err = check_outbound(out, &place, value, is_update);
	if (!err)
		err = check_options(out, &place);
	if (!err && is_given(out->headers))
		err = sip_check_mapping(&place, out->headers, out->type);
	return err;
}
