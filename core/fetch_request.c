/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <curl/curl.h>
#include "core/fetch_priv.h"
#include "core/mem.h"

enum {
	TIMEOUT_MS = 30 * 1000,
	BODY_MAX_BYTES = 1024 * 1024,
	URL_MAX_BYTES = 8 * 1024,
	HEADER_MAX_BYTES = 16 * 1024,
	HEADERS_MAX = 64,
	METHOD_MAX_BYTES = 32,
};

/* RFC 9110, 5.6.2. */
static bool is_token(struct slice text, size_t max)
{
	static const char marks[] = "!#$%&'*+-.^_`|~";

	if (!text.len || text.len > max)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		bool is_alnum = (c >= 'a' && c <= 'z') ||
				(c >= 'A' && c <= 'Z') ||
				(c >= '0' && c <= '9');

		if (!is_alnum && !memchr(marks, c, sizeof(marks) - 1))
			return false;
	}
	return true;
}

/* RFC 9110, 5.5: no control characters but the tab. */
static bool is_value(const char *value)
{
	struct slice text = slice_of(value);

	if (!value || text.len > HEADER_MAX_BYTES)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

/* They say where the body ends; a wrong one would run into the next request
 * of a pooled connection. */
static bool is_framing(struct slice name)
{
	return slice_eq_nocase(name, SLICE("content-length")) ||
	       slice_eq_nocase(name, SLICE("transfer-encoding")) ||
	       slice_eq_nocase(name, SLICE("connection")) ||
	       slice_eq_nocase(name, SLICE("upgrade")) ||
	       slice_eq_nocase(name, SLICE("te"));
}

static bool is_header(const struct fetch_header *header)
{
	struct slice name = slice_of(header->name);

	return is_token(name, METHOD_MAX_BYTES * 4) && !is_framing(name) &&
	       is_value(header->value);
}

static bool is_http(CURLU *url)
{
	char *scheme = NULL, *host = NULL;
	bool is_good = false;

	if (curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
	    curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK)
		is_good = slice_eq_nocase(slice_of(scheme), SLICE("http")) ||
			  slice_eq_nocase(slice_of(scheme), SLICE("https"));
	curl_free(scheme);
	curl_free(host);
	return is_good;
}

static bool is_url(const char *text)
{
	bool is_good;
	CURLU *url;

	if (!text || !*text || strlen(text) > URL_MAX_BYTES || !is_value(text))
		return false;
	url = curl_url();
	is_good = url &&
		  curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK &&
		  is_http(url);
	curl_url_cleanup(url);
	return is_good;
}

static bool is_good(const struct fetch_request *request)
{
	if (!is_token(slice_of(request->method), METHOD_MAX_BYTES) ||
	    !is_url(request->url) || request->n_headers > HEADERS_MAX)
		return false;
	for (size_t i = 0; i < request->n_headers; i++)
		if (!is_header(&request->headers[i]))
			return false;
	return true;
}

int fetch_copy_init(struct fetch_copy *copy,
		    const struct fetch_request *request)
{
	if (!is_good(request))
		return -EINVAL;
	*copy = (struct fetch_copy){
		.method = mem_dup_str(request->method),
		.url = mem_dup_str(request->url),
		.n_headers = request->n_headers,
		.body = mem_dup_bytes(request->body.ptr, request->body.len),
		.body_len = request->body.len,
		.timeout_ms =
			request->timeout_ms ? request->timeout_ms : TIMEOUT_MS,
		.max_body_bytes = request->max_body_bytes
					  ? request->max_body_bytes
					  : BODY_MAX_BYTES,
	};
	copy->headers =
		mem_new_array(copy->n_headers + 1, sizeof(copy->headers[0]));
	for (size_t i = 0; i < copy->n_headers; i++) {
		copy->headers[i].name = mem_dup_str(request->headers[i].name);
		copy->headers[i].value = mem_dup_str(request->headers[i].value);
	}
	return 0;
}

void fetch_copy_reset(struct fetch_copy *copy)
{
	for (size_t i = 0; i < copy->n_headers; i++) {
		mem_free((char *)copy->headers[i].name);
		mem_free((char *)copy->headers[i].value);
	}
	mem_free(copy->headers);
	mem_free(copy->method);
	mem_free(copy->url);
	mem_free(copy->body);
	*copy = (struct fetch_copy){ 0 };
}
