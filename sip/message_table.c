/* SPDX-License-Identifier: MIT */
#include "sip/message_priv.h"
#include <errno.h>
#include "sip/header.h"
#include "sip/lex.h"

static int parse_from(struct sip_message *message, struct slice value)
{
	return sip_address_parse(&message->common.from, value);
}

static int parse_to(struct sip_message *message, struct slice value)
{
	return sip_address_parse(&message->common.to, value);
}

static int parse_via(struct sip_message *message, struct slice value)
{
	return sip_via_parse(&message->common.via, value);
}

static int parse_call_id(struct sip_message *message, struct slice value)
{
	size_t i;

	for (i = 0; i < value.len; i++)
		if ((unsigned char)value.ptr[i] <= ' ')
			return -EINVAL;
	message->common.call_id = value;
	return value.len ? 0 : -EINVAL;
}

/* Less than 2^31 (RFC 3261, 8.1.1.5), then the method. */
static int parse_cseq(struct sip_message *message, struct slice value)
{
	struct slice method;
	uint64_t number;
	size_t n = 0;

	while (n < value.len && !lex_is_space(value.ptr[n]))
		n++;
	method = lex_trim(lex_skip(value, n));
	if (slice_to_u64(&number, slice_make(value.ptr, n), INT32_MAX) ||
	    !lex_is_token(method))
		return -EINVAL;
	message->common.cseq = (uint32_t)number;
	if (message->start.is_request)
		return slice_eq(method, message->start.method_text) ? 0
								    : -EINVAL;
	message->start.method_text = method;
	message->start.method = sip_method_parse(method);
	return 0;
}

static int parse_max_forwards(struct sip_message *message, struct slice value)
{
	uint64_t number;

	if (slice_to_u64(&number, value, 255))
		return -EINVAL;
	message->common.max_forwards = (uint32_t)number;
	return 0;
}

static int parse_contact(struct sip_message *message, struct slice value)
{
	size_t at;

	(void)message;
	if (!value.len || lex_find(value, "<?", &at))
		return -EINVAL;
	/* A '?' outside brackets would be the URI's (RFC 3261, 20). */
	return at < value.len && value.ptr[at] == '?' ? -EINVAL : 0;
}

/* Indexed by id; the name is the one we write. */
static const struct sip_header_type types[SIP_H_COUNT] = {
	[SIP_H_OTHER] = { "", NULL, SIP_FORM_TEXT, NULL },
	[SIP_H_VIA] = { "Via", "v", SIP_FORM_ELEMENTS, parse_via },
	[SIP_H_FROM] = { "From", "f", SIP_FORM_SINGLE, parse_from },
	[SIP_H_TO] = { "To", "t", SIP_FORM_SINGLE, parse_to },
	[SIP_H_CALL_ID] = { "Call-ID", "i", SIP_FORM_SINGLE, parse_call_id },
	[SIP_H_CSEQ] = { "CSeq", NULL, SIP_FORM_SINGLE, parse_cseq },
	[SIP_H_CONTACT] = { "Contact", "m", SIP_FORM_ELEMENTS, parse_contact },
	[SIP_H_ROUTE] = { "Route", NULL, SIP_FORM_ELEMENTS, NULL },
	[SIP_H_RECORD_ROUTE] = { "Record-Route", NULL, SIP_FORM_ELEMENTS,
				 NULL },
	[SIP_H_MAX_FORWARDS] = { "Max-Forwards", NULL, SIP_FORM_SINGLE,
				 parse_max_forwards },
	[SIP_H_CONTENT_TYPE] = { "Content-Type", "c", SIP_FORM_SAME, NULL },
	[SIP_H_CONTENT_LENGTH] = { "Content-Length", "l", SIP_FORM_SAME, NULL },
	[SIP_H_CONTENT_ENCODING] = { "Content-Encoding", "e", SIP_FORM_TEXT,
				     NULL },
	[SIP_H_REQUIRE] = { "Require", NULL, SIP_FORM_TEXT, NULL },
	[SIP_H_PROXY_REQUIRE] = { "Proxy-Require", NULL, SIP_FORM_TEXT, NULL },
	[SIP_H_SUPPORTED] = { "Supported", "k", SIP_FORM_TEXT, NULL },
	[SIP_H_UNSUPPORTED] = { "Unsupported", NULL, SIP_FORM_TEXT, NULL },
	[SIP_H_ALLOW] = { "Allow", NULL, SIP_FORM_TEXT, NULL },
	[SIP_H_ACCEPT] = { "Accept", NULL, SIP_FORM_TEXT, NULL },
	[SIP_H_WWW_AUTHENTICATE] = { "WWW-Authenticate", NULL, SIP_FORM_TEXT,
				     NULL },
	[SIP_H_PROXY_AUTHENTICATE] = { "Proxy-Authenticate", NULL,
				       SIP_FORM_TEXT, NULL },
	[SIP_H_AUTHORIZATION] = { "Authorization", NULL, SIP_FORM_TEXT, NULL },
	[SIP_H_PROXY_AUTHORIZATION] = { "Proxy-Authorization", NULL,
					SIP_FORM_TEXT, NULL },
	[SIP_H_RETRY_AFTER] = { "Retry-After", NULL, SIP_FORM_TEXT, NULL },
	[SIP_H_REASON] = { "Reason", NULL, SIP_FORM_TEXT, NULL },
	[SIP_H_WARNING] = { "Warning", NULL, SIP_FORM_TEXT, NULL },
	[SIP_H_SESSION_EXPIRES] = { "Session-Expires", "x", SIP_FORM_TEXT,
				    NULL },
	[SIP_H_MIN_SE] = { "Min-SE", NULL, SIP_FORM_TEXT, NULL },
	[SIP_H_REFER_TO] = { "Refer-To", "r", SIP_FORM_TEXT, NULL },
	[SIP_H_REFERRED_BY] = { "Referred-By", "b", SIP_FORM_TEXT, NULL },
	[SIP_H_REFER_SUB] = { "Refer-Sub", NULL, SIP_FORM_TEXT, NULL },
	[SIP_H_REPLACES] = { "Replaces", NULL, SIP_FORM_TEXT, NULL },
	[SIP_H_TARGET_DIALOG] = { "Target-Dialog", NULL, SIP_FORM_TEXT, NULL },
	[SIP_H_EVENT] = { "Event", "o", SIP_FORM_TEXT, NULL },
	[SIP_H_SUBSCRIPTION_STATE] = { "Subscription-State", NULL,
				       SIP_FORM_TEXT, NULL },
	[SIP_H_USER_TO_USER] = { "User-to-User", NULL, SIP_FORM_TEXT, NULL },
	[SIP_H_P_ASSERTED_IDENTITY] = { "P-Asserted-Identity", NULL,
					SIP_FORM_ELEMENTS, NULL },
	[SIP_H_PRIVACY] = { "Privacy", NULL, SIP_FORM_TEXT, NULL },
	[SIP_H_USER_AGENT] = { "User-Agent", NULL, SIP_FORM_TEXT, NULL },
	[SIP_H_SERVER] = { "Server", NULL, SIP_FORM_TEXT, NULL },
	[SIP_H_RSEQ] = { "RSeq", NULL, SIP_FORM_TEXT, NULL },
	[SIP_H_EXPIRES] = { "Expires", NULL, SIP_FORM_TEXT, NULL },
};

const struct sip_header_type *sip_header_type(enum sip_header_id id)
{
	return &types[id];
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

enum sip_header_id sip_header_find(struct slice name)
{
	char first = name.len ? lower(name.ptr[0]) : '\0';
	size_t i;

	for (i = SIP_H_OTHER + 1; i < SIP_H_COUNT; i++) {
		const char *known =
			name.len == 1 ? types[i].compact : types[i].name;

		if (known && lower(known[0]) == first &&
		    slice_eq_nocase(name, slice_of(known)))
			return (enum sip_header_id)i;
	}
	return SIP_H_OTHER;
}
