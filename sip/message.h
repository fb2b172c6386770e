/* SPDX-License-Identifier: MIT */
/* sip/message.h - one SIP message: parsed whole into an arena and immutable
 * from then on (RFC 3261, 7 and 25). A received message may be shared: it alone
 * in this room is counted. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "core/arena.h"
#include "core/slice.h"
#include "sip/uri.h"

enum sip_method {
	SIP_INVITE,
	SIP_ACK,
	SIP_BYE,
	SIP_CANCEL,
	SIP_OPTIONS,
	SIP_REFER,
	SIP_NOTIFY,
	SIP_UPDATE,
	SIP_INFO,
	SIP_PRACK,
	SIP_REGISTER,
	SIP_SUBSCRIBE,
	SIP_MESSAGE,
	SIP_PUBLISH,
	SIP_UNKNOWN
};

/* One table in message_table.c has the names, compact forms and parser of
 * each. */
enum sip_header_id {
	SIP_H_OTHER,
	SIP_H_VIA,
	SIP_H_FROM,
	SIP_H_TO,
	SIP_H_CALL_ID,
	SIP_H_CSEQ,
	SIP_H_CONTACT,
	SIP_H_ROUTE,
	SIP_H_RECORD_ROUTE,
	SIP_H_MAX_FORWARDS,
	SIP_H_CONTENT_TYPE,
	SIP_H_CONTENT_LENGTH,
	SIP_H_CONTENT_ENCODING,
	SIP_H_REQUIRE,
	SIP_H_PROXY_REQUIRE,
	SIP_H_SUPPORTED,
	SIP_H_UNSUPPORTED,
	SIP_H_ALLOW,
	SIP_H_ACCEPT,
	SIP_H_WWW_AUTHENTICATE,
	SIP_H_PROXY_AUTHENTICATE,
	SIP_H_AUTHORIZATION,
	SIP_H_PROXY_AUTHORIZATION,
	SIP_H_RETRY_AFTER,
	SIP_H_REASON,
	SIP_H_WARNING,
	SIP_H_SESSION_EXPIRES,
	SIP_H_MIN_SE,
	SIP_H_REFER_TO,
	SIP_H_REFERRED_BY,
	SIP_H_REFER_SUB,
	SIP_H_REPLACES,
	SIP_H_TARGET_DIALOG,
	SIP_H_EVENT,
	SIP_H_SUBSCRIPTION_STATE,
	SIP_H_USER_TO_USER,
	SIP_H_P_ASSERTED_IDENTITY,
	SIP_H_PRIVACY,
	SIP_H_USER_AGENT,
	SIP_H_SERVER,
	SIP_H_RSEQ,
	SIP_H_EXPIRES,
	SIP_H_COUNT
};

struct sip_header {
	enum sip_header_id id;
	struct slice name; /* as received */
	struct slice value; /* unfolded, trimmed; one element where the
				 * header is a comma list of its own kind */
};

/* From, To, Contact, Route, Record-Route, Refer-To, P-Asserted-Identity. */
struct sip_address {
	struct slice display; /* unquoted */
	struct sip_uri uri;
	struct slice uri_text;
	struct slice params; /* ";tag=..." outside the brackets */
	struct slice tag;
};

struct sip_via {
	struct slice transport; /* "TLS" */
	struct slice host;
	uint16_t port; /* 0: none */
	struct slice branch;
	struct slice params;
};

struct sip_message {
	struct {
		bool is_request;
		enum sip_method method; /* of a response: from CSeq */
		struct slice method_text;
		struct slice target; /* Request-URI as received */
		struct sip_uri uri;
		int status;
		struct slice reason;
	} start;
	struct {
		struct sip_address from, to;
		struct sip_via via; /* topmost */
		struct slice call_id;
		uint32_t cseq;
		uint32_t max_forwards; /* 70 when absent */
	} common;
	const struct sip_header *headers; /* in the order received */
	size_t n_headers;
	struct slice body;
	struct slice text; /* all of it; folded lines are joined */
	struct arena *arena; /* owned */
	unsigned refs;
};

enum {
	SIP_MESSAGE_MAX_BYTES = 65536,
	SIP_HEADERS_MAX = 100,
	SIP_HEADER_MAX_BYTES = 8192
};

/* text is exactly one message, framed by its Content-Length. 0, or a negative
 * SIP status to answer a request with: -400, -413, -505, -513 ..., and then
 * *out may still hold what an answer needs (start and common), else NULL.
 * why names the header. The caller unrefs *out. */
int sip_message_parse(struct sip_message **out, struct slice text,
		      const char **why);
struct sip_message *sip_message_ref(struct sip_message *message);
void sip_message_unref(struct sip_message **message);
/* The nth (from 0) header of that id, or NULL. */
const struct sip_header *sip_message_header(const struct sip_message *message,
					    enum sip_header_id id, unsigned n);
/* First header of that name, any case; empty slice with NULL ptr: none. */
struct slice sip_message_value(const struct sip_message *message,
			       struct slice name);
/* True if a comma list header (Require, Supported, Allow) has the token. */
bool sip_message_has_token(const struct sip_message *message,
			   enum sip_header_id id, struct slice token);
/* How many bytes the first message in text takes once it is complete: 0 more
 * is needed, > 0 its length, < 0 as sip_message_parse(). Leading CRLFs are the
 * caller's. */
ssize_t sip_message_frame(struct slice text);
enum sip_method sip_method_parse(struct slice text);
const char *sip_method_name(enum sip_method method);
