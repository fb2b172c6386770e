/* SPDX-License-Identifier: MIT */
#include "agent/pathway/webhook_request.h"
#include <ctype.h>
#include <sodium.h>
#include <string.h>
#include "agent/pathway/template.h"
#include "core/json.h"
#include "core/mem.h"

enum { TIMEOUT_MS = 10 * 1000, TIMEOUT_MAX_MS = 60 * 1000, RETRIES_MAX = 10 };

static double number_or(const json_t *data, const char *key, double otherwise)
{
	const json_t *value = json_object_get(data, key);
	double number;

	if (!value || json_to_real(&number, value))
		return otherwise;
	return number;
}

static uint32_t timeout_ms(const json_t *data)
{
	double value = number_or(data, "timeoutValue", 0);

	if (!(value > 0))
		return TIMEOUT_MS;
	if (value < 1000)
		value *= 1000;
	return value > TIMEOUT_MAX_MS ? TIMEOUT_MAX_MS : (uint32_t)value;
}

static unsigned max_retries(const json_t *data)
{
	double value = number_or(data, "max_retries", 0);

	if (!(value > 0))
		return 0;
	return value > RETRIES_MAX ? RETRIES_MAX : (unsigned)value;
}

static void add_header(json_t *headers, const char *name, const json_t *value,
		       const struct variables *variables)
{
	char *text = NULL;
	char *given = json_is_string(value)
			      ? mem_dup_str(json_string_value(value))
			      : json_text(value);

	if (name && name[0] && given) {
		text = template_text(given, TEMPLATE_TEXT, variables);
		json_put_str(headers, name, text);
	}
	mem_free(text);
	mem_free(given);
}

/* {"Name": "value"} or [{key or name, value}]. */
static void add_headers(json_t *headers, const json_t *given,
			const struct variables *variables)
{
	const char *name;
	json_t *value;
	size_t i;

	json_object_foreach((json_t *)given, name, value)
		add_header(headers, name, value, variables);
	json_array_foreach(given, i, value) {
		name = json_str(value, "key");
		if (!name)
			name = json_str(value, "name");
		add_header(headers, name, json_object_get(value, "value"),
			   variables);
	}
}

static bool has_header(const json_t *headers, const char *wanted)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)headers, name, value)
		if (strcasecmp(name, wanted) == 0)
			return true;
	return false;
}

/* RFC 7617; a token without a colon is taken as encoded already. */
static char *basic_text(const char *token)
{
	size_t len = strlen(token);
	size_t size =
		sodium_base64_encoded_len(len, sodium_base64_VARIANT_ORIGINAL);
	char *out;

	if (!strchr(token, ':'))
		return mem_dup_str(token);
	out = mem_new(size);
	sodium_bin2base64(out, size, (const unsigned char *)token, len,
			  sodium_base64_VARIANT_ORIGINAL);
	return out;
}

static void add_auth(json_t *headers, const json_t *auth,
		     const struct variables *variables)
{
	const char *type = json_str(auth, "type");
	const char *given = json_str(auth, "token");
	char *token, *value = NULL;
	struct buffer line;

	if (!type || !given || has_header(headers, "Authorization"))
		return;
	token = template_text(given, TEMPLATE_TEXT, variables);
	buffer_init(&line, 64 * 1024);
	if (strcasecmp(type, "bearer") == 0) {
		buffer_printf(&line, "Bearer %s", token);
	} else if (strcasecmp(type, "basic") == 0) {
		value = basic_text(token);
		buffer_printf(&line, "Basic %s", value);
	}
	if (line.len && !buffer_error(&line))
		json_put_str(headers, "Authorization", buffer_str(&line));
	buffer_reset(&line);
	mem_free(value);
	mem_free(token);
}

/* It begins as JSON does and not with a placeholder. */
static bool is_json(const char *text)
{
	return text[0] == '[' ||
	       (text[0] == '{' && strncmp(text, "{{", 2) != 0);
}

static char *body_text(const json_t *data, const struct variables *variables)
{
	const json_t *body = json_object_get(data, "body");
	const char *text = json_string_value(body);
	json_t *filled;
	char *out;

	if (!body || json_is_null(body) || (text && !text[0]))
		return NULL;
	if (text) {
		text += strspn(text, " \t\r\n");
		return template_text(
			text, is_json(text) ? TEMPLATE_JSON : TEMPLATE_TEXT,
			variables);
	}
	filled = template_json(body, variables);
	out = json_text(filled);
	json_decref(filled);
	return out;
}

static void add_content_type(struct webhook_request *request)
{
	json_t *parsed;

	if (!request->body || has_header(request->headers, "Content-Type"))
		return;
	parsed = json_parse(slice_of(request->body), NULL);
	json_put_str(request->headers, "Content-Type",
		     parsed ? "application/json" : "text/plain; charset=utf-8");
	json_decref(parsed);
}

void webhook_request_init(struct webhook_request *request, const json_t *data,
			  const struct variables *variables)
{
	const char *method = json_str(data, "method");
	char *url =
		template_text(json_str(data, "url"), TEMPLATE_URL, variables);
	struct slice trimmed = slice_trim(slice_of(url));
	char *c;

	*request = (struct webhook_request){
		.url = slice_dup(trimmed),
		.body = body_text(data, variables),
		.headers = json_object(),
		.timeout_ms = timeout_ms(data),
		.max_retries = max_retries(data),
	};
	mem_free(url);
	if (!method || !method[0])
		method = request->body ? "POST" : "GET";
	request->method = mem_dup_str(method);
	for (c = request->method; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	if (!strcmp(request->method, "GET") ||
	    !strcmp(request->method, "HEAD")) {
		mem_free(request->body);
		request->body = NULL;
	}
	add_headers(request->headers, json_object_get(data, "headers"),
		    variables);
	add_auth(request->headers, json_object_get(data, "auth"), variables);
	add_content_type(request);
}

void webhook_request_reset(struct webhook_request *request)
{
	mem_free(request->method);
	mem_free(request->url);
	mem_free(request->body);
	json_decref(request->headers);
	*request = (struct webhook_request){ 0 };
}

static json_t *mappings_json(const json_t *list)
{
	json_t *out = json_array();
	const json_t *entry;
	size_t i;

	json_array_foreach(list, i, entry) {
		json_t *mapping = json_object();

		json_put_str(mapping, "name", json_str(entry, "name"));
		json_put_str(mapping, "path", json_str(entry, "data"));
		json_array_append_new(out, mapping);
	}
	return out;
}

json_t *webhook_request_json(const struct webhook_request *request,
			     const json_t *data)
{
	json_t *out = json_object();
	json_t *mappings = mappings_json(json_object_get(data, "responseData"));

	json_put_str(out, "url", request->url);
	json_put_str(out, "method", request->method);
	if (json_object_size(request->headers))
		json_object_set(out, "headers", request->headers);
	if (request->body)
		json_put_str(out, "body", request->body);
	json_put_int(out, "timeout_ms", request->timeout_ms);
	json_put_int(out, "max_retries", request->max_retries);
	if (json_array_size(mappings))
		json_put(out, "response_mappings", mappings);
	else
		json_decref(mappings);
	return out;
}
