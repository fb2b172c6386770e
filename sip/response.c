/* SPDX-License-Identifier: MIT */
#include "sip/response.h"
#include "sip/header.h"

/* Offset of ";rport" without a value in a Via, or -1. */
static ptrdiff_t find_rport(struct slice via)
{
	static const struct slice name = { ";rport", 6 };

	for (size_t i = 0; i + name.len <= via.len; i++) {
		size_t end = i + name.len;

		if (slice_eq_nocase(slice_make(via.ptr + i, name.len), name) &&
		    (end == via.len || via.ptr[end] == ';'))
			return (ptrdiff_t)i;
	}
	return -1;
}

/* The top Via with the address the request came from, when it was asked for or
 * differs from what it claims. */
static void write_top_via(struct buffer *out, const struct response *r,
			  struct slice via)
{
	char ip[ADDR_TEXT_SIZE];
	ptrdiff_t rport = find_rport(via);
	struct slice source = slice_of(addr_ip(r->peer, ip));
	struct slice received;
	struct slice host = r->request->common.via.host;

	buffer_add_str(out, "Via: ");
	if (rport < 0) {
		buffer_add(out, via);
	} else {
		buffer_add(out, slice_make(via.ptr, (size_t)rport));
		buffer_printf(out, ";rport=%u", addr_port(r->peer));
		buffer_add(out, slice_make(via.ptr + rport + 6,
					   via.len - (size_t)rport - 6));
	}
	/* One that was not understood goes back as it came. */
	if (host.len && (rport >= 0 || !slice_eq_nocase(host, source)) &&
	    !sip_param(r->request->common.via.params, "received", &received))
		buffer_printf(out, ";received=%s", ip);
	buffer_add_str(out, "\r\n");
}

static void copy_all(struct buffer *out, const struct response *r,
		     enum sip_header_id id)
{
	const struct sip_header *header;

	for (unsigned i = 0; (header = sip_message_header(r->request, id, i));
	     i++) {
		if (id == SIP_H_VIA && i == 0)
			write_top_via(out, r, header->value);
		else
			sip_header_write(out, slice_of(sip_header_name(id)),
					 header->value);
	}
}

static void write_to(struct buffer *out, const struct response *r)
{
	const struct sip_header *to =
		sip_message_header(r->request, SIP_H_TO, 0);
	struct buffer value;

	if (!to)
		return;
	buffer_init(&value, SIP_HEADER_MAX_BYTES + 64);
	buffer_add(&value, to->value);
	if (!r->request->common.to.tag.len && r->tag)
		buffer_printf(&value, ";tag=%s", r->tag);
	sip_header_write(out, SLICE("To"), buffer_slice(&value));
	buffer_reset(&value);
}

void response_write(struct buffer *out, int status,
		    const struct response *response)
{
	buffer_printf(out, "SIP/2.0 %d %s\r\n", status, sip_reason(status));
	copy_all(out, response, SIP_H_VIA);
	if (status > 100 && status < 300)
		copy_all(out, response, SIP_H_RECORD_ROUTE);
	copy_all(out, response, SIP_H_FROM);
	write_to(out, response);
	copy_all(out, response, SIP_H_CALL_ID);
	copy_all(out, response, SIP_H_CSEQ);
	buffer_add(out, response->headers);
	if (response->body.len)
		buffer_add_str(out, "Content-Type: " SIP_ACCEPT "\r\n");
	buffer_printf(out, "Content-Length: %zu\r\n\r\n", response->body.len);
	buffer_add(out, response->body);
}
