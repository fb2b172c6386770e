/* SPDX-License-Identifier: MIT */
/* SIP messages from the network: framing at every length, parsing, and every
 * accessor on what was parsed; the answer to a request. Seeds:
 * corpus/sip_message and tests/torture. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include "core/buffer.h"
#include "sip/body.h"
#include "sip/digest.h"
#include "sip/header.h"
#include "sip/message.h"
#include "sip/replaces.h"
#include "sip/response.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Parsers of values see heap memory of exactly their size. */
static struct slice exact(struct slice value, char **copy)
{
	*copy = malloc(value.len ? value.len : 1);
	if (value.len)
		memcpy(*copy, value.ptr, value.len);
	return slice_make(*copy, value.len);
}

static void read_replaces(struct slice escaped)
{
	struct replaces replaces;
	struct buffer out;

	buffer_init(&out, 1 << 20);
	sip_unescape(&out, escaped);
	if (!replaces_parse(&replaces, buffer_slice(&out)))
		assert(strlen(buffer_str(&out)) == out.len);
	buffer_reset(&out);
}

static void read_uri(const struct sip_uri *uri)
{
	struct buffer out;
	struct sip_uri again;
	struct slice value;

	buffer_init(&out, 1 << 20);
	sip_uri_write(&out, uri);
	assert(!sip_uri_parse(&again, buffer_slice(&out)));
	assert(again.scheme == uri->scheme && again.port == uri->port);
	assert(slice_eq(again.user, uri->user));
	assert(slice_eq(again.host, uri->host));
	assert(slice_eq(again.params, uri->params));
	buffer_clear(&out);
	sip_uri_number(&out, uri);
	sip_escape_user(&out, uri->user);
	sip_uri_param(uri, "transport", &value);
	if (sip_uri_header(uri, "Replaces", 0, &value))
		read_replaces(value);
	buffer_reset(&out);
}

static void read_value(struct slice value)
{
	struct sip_address address;
	struct sip_via via;
	struct sip_uri uri;
	struct slice param;
	struct buffer out;
	char *copy;
	struct slice text = exact(value, &copy);

	buffer_init(&out, 1 << 20);
	if (!sip_address_parse(&address, text)) {
		if (address.uri.scheme != SIP_SCHEME_OTHER)
			read_uri(&address.uri);
		sip_param(address.params, "x", &param);
		sip_unquote(&out, address.display);
	}
	read_replaces(text);
	if (!sip_via_parse(&via, text))
		sip_param(via.params, "rport", &param);
	if (!sip_uri_parse(&uri, text))
		read_uri(&uri);
	sip_quote(&out, text);
	sip_header_write(&out, SLICE("X"), text);
	assert(!buffer_error(&out)); /* nothing parsed can inject a line */
	buffer_reset(&out);
	free(copy);
}

/* Whatever was asked, the answer is one message. */
static void answer(const struct sip_message *request)
{
	struct addr peer;
	struct response response = { .request = request,
				     .peer = &peer,
				     .tag = "tag" };
	struct buffer out;
	ssize_t len;

	addr_parse(&peer, SLICE("127.0.0.1"), 5061);
	buffer_init(&out, 1 << 20);
	response_write(&out, 400, &response);
	assert(!buffer_error(&out));
	len = sip_message_frame(buffer_slice(&out));
	assert(len == (ssize_t)out.len || len == -513);
	buffer_reset(&out);
}

static void read_body(const struct sip_message *message)
{
	struct slice sdp;

	if (!body_sdp(message, &sdp) && sdp.len)
		assert(sdp.ptr >= message->body.ptr &&
		       sdp.ptr + sdp.len <=
			       message->body.ptr + message->body.len);
	body_may_answer(message);
}

static void read_message(const struct sip_message *message)
{
	struct digest_challenge challenge = { 0 };
	size_t i;

	for (i = 0; i < message->n_headers; i++) {
		const struct sip_header *header = &message->headers[i];

		assert(!memchr(header->value.ptr, 0, header->value.len));
		read_value(header->value);
		sip_message_value(message, header->name);
		sip_message_has_token(message, header->id, SLICE("timer"));
		assert(header->id == SIP_H_OTHER ||
		       sip_message_header(message, header->id, 0));
		sip_header_is_mappable(header->name);
	}
	if (message->start.is_request && message->start.uri.host.len)
		read_value(message->start.target);
	if (message->start.is_request)
		answer(message);
	read_body(message);
	if (!digest_challenge_parse(&challenge, message)) {
		struct digest_request request = { "u", "p", "INVITE",
						  SLICE("sip:x") };
		struct buffer out;

		buffer_init(&out, 1 << 20);
		digest_authorize(&out, &challenge, &request);
		buffer_reset(&out);
		digest_challenge_reset(&challenge);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sip_message *message = NULL;
	const char *why = NULL;
	char *copy;
	struct slice text = exact(slice_make(data, size), &copy);
	ssize_t len = sip_message_frame(text);
	int status;

	assert(len <= (ssize_t)size);
	status = sip_message_parse(&message, text, &why);
	assert(status <= 0 && (!status || why) && (status || message));
	if (message)
		read_message(message);
	sip_message_unref(&message);
	if (len > 0) {
		sip_message_parse(&message, slice_make(copy, (size_t)len),
				  NULL);
		sip_message_unref(&message);
	}
	read_value(text.len < 512 && !memchr(copy, '\n', size) &&
				   !memchr(copy, '\r', size) &&
				   !memchr(copy, '\0', size)
			   ? text
			   : SLICE("sip:a@b.c"));
	free(copy);
	return 0;
}
