/* SPDX-License-Identifier: MIT */
/* A new call comes in: what RFC 3261, 8.2 and 13.3.1 want checked before the
 * owner is asked. */
#include <assert.h>
#include <stdio.h>
#include "core/id.h"
#include "core/loop.h"
#include "sip/body.h"
#include "sip/header.h"
#include "sip/replaces.h"
#include "sip/response.h"
#include "sip/server_transaction.h"
#include "sip/session_priv.h"
#include "sip/ua_priv.h"

/* 0, or the status to refuse with and its headers. */
static int check(const struct ua *ua, const struct sip_message *invite,
		 const char **headers)
{
	struct slice sdp;
	int refusal = session_timer_check(invite);

	*headers = "";
	if (invite->common.from.uri.scheme == SIP_SCHEME_OTHER)
		return 400; /* nobody that could be called back */
	if (body_sdp(invite, &sdp)) {
		*headers = "Accept: " SIP_ACCEPT "\r\n";
		return 415;
	}
	if (!body_may_answer(invite)) {
		*headers = BODY_REFUSAL;
		return 406;
	}
	if (refusal) {
		*headers = SESSION_TIMER_REFUSAL;
		return refusal;
	}
	if (ua->state == UA_DRAINING ||
	    (ua->max_sessions && ua->count.sessions >= ua->max_sessions)) {
		*headers = "Retry-After: 10\r\n";
		return 503;
	}
	return 0;
}

/* Request-URI, else To when the former names nobody. */
static void write_callee(struct buffer *out, const struct sip_message *invite)
{
	buffer_init(out, SIP_HEADER_MAX_BYTES);
	if (invite->start.uri.user.len)
		sip_uri_number(out, &invite->start.uri);
	else
		sip_uri_number(out, &invite->common.to.uri);
}

/* P-Asserted-Identity before From (RFC 3325): carriers put the real one
 * there. */
static struct sip_address caller_of(const struct sip_message *invite)
{
	const struct sip_header *header;
	struct sip_address address;

	for (unsigned i = 0; (header = sip_message_header(
				      invite, SIP_H_P_ASSERTED_IDENTITY, i));
	     i++)
		if (sip_address_parse(&address, header->value) == 0 &&
		    address.uri.user.len)
			return address;
	return invite->common.from;
}

static void ask_owner(struct ua *ua, struct session *session,
		      struct sip_link *link, struct ua_invite about)
{
	const struct sip_message *invite = about.message;
	struct sip_address caller = caller_of(invite);
	struct buffer to, from, display;
	int status;

	write_callee(&to, invite);
	buffer_init(&from, SIP_HEADER_MAX_BYTES);
	sip_uri_number(&from, &caller.uri);
	buffer_init(&display, SIP_HEADER_MAX_BYTES);
	sip_unquote(&display, caller.display);
	body_sdp(invite, &about.offer);
	about.to_number = buffer_str(&to);
	about.from_number = buffer_str(&from);
	about.from_display = buffer_str(&display);
	sip_link_peer(link, &about.peer);
	/* Not the last thing done here, because it has an answer: session is
	 * safe, it frees itself on a later turn. */
	ua->traces.invite = invite;
	ua->traces.link = link;
	status = ua->events->on_invite(ua->owner, session, &about);
	ua->traces.invite = NULL;
	assert(status || session->state != SESSION_INCOMING);
	if (status)
		session_refuse(session, status);
	buffer_reset(&to);
	buffer_reset(&from);
	buffer_reset(&display);
}

/* One source may not take what is there for all; its answer is cheap. */
static bool has_too_many(struct ua *ua, struct sip_link *link,
			 const struct sip_message *invite)
{
	char headers[40];
	struct addr from;
	uint32_t wait_s;

	sip_link_peer(link, &from);
	wait_s = source_limit_take(ua->calls, &from, loop_now_us(ua->loop));
	if (!wait_s)
		return false;
	snprintf(headers, sizeof(headers), "Retry-After: %u\r\n", wait_s);
	ua_respond(ua, link, invite, 503, slice_of(headers));
	return true;
}

void ua_on_invite(struct ua *ua, struct sip_link *link,
		  struct sip_message *invite)
{
	char tag[DIALOG_TAG_SIZE];
	struct server_transaction *transaction;
	struct ua_invite about = { .message = invite };
	struct session *session;
	const char *headers;
	int status;

	if (has_too_many(ua, link, invite))
		return;
	status = check(ua, invite, &headers);
	if (!status)
		status = replaces_find(&about.replaces, ua, invite);
	if (status) {
		ua_respond(ua, link, invite, status, slice_of(headers));
		return;
	}
	id_word(tag, sizeof(tag) - 1);
	transaction =
		server_transaction_open(&ua->transactions, link, invite, tag);
	server_transaction_respond(transaction, 100, SLICE(""), SLICE(""));
	session = session_new(ua, SESSION_INCOMING, invite->common.call_id);
	session->dialog = dialog_open_in(invite, link, tag);
	sip_link_peer(link, &session->dialog->peer);
	dialog_list(session->dialog, &ua->dialogs, session_on_request, session);
	session_take_invite(session, transaction, invite);
	ua->count.invites_in++;
	ask_owner(ua, session, link, about); /* last */
}
