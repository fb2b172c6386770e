/* SPDX-License-Identifier: MIT */
#include "sip/ua.h"
#include <assert.h>
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "sip/client_transaction.h"
#include "sip/header.h"
#include "sip/lex.h"
#include "sip/referral.h"
#include "sip/response.h"
#include "sip/server_transaction.h"
#include "sip/session_priv.h"
#include "sip/ua_priv.h"

int ua_send(struct ua *ua, struct sip_link *link, struct slice text)
{
	int err = sip_link_send(link, text);

	if (!err)
		ua_trace_out(ua, link, text);
	return err;
}

static int wire_send(void *owner, struct sip_link *link, struct slice text)
{
	return ua_send(owner, link, text);
}

static const struct transactions_wire wire = {
	.send = wire_send,
	.peer = sip_link_peer,
};

/* ---- answers that need no transaction ---- */

void ua_respond(struct ua *ua, struct sip_link *link,
		const struct sip_message *request, int status,
		struct slice headers)
{
	char tag[DIALOG_TAG_SIZE];
	struct buffer text;
	struct addr peer;
	struct response response = { .request = request,
				     .peer = &peer,
				     .tag = tag,
				     .headers = headers };

	id_word(tag, sizeof(tag) - 1);
	sip_link_peer(link, &peer);
	buffer_init(&text, SIP_MESSAGE_MAX_BYTES);
	response_write(&text, status, &response);
	if (!buffer_error(&text))
		ua_send(ua, link, buffer_slice(&text));
	buffer_reset(&text);
}

static bool is_listed(struct slice list, struct slice token)
{
	struct slice element;

	while (lex_next_element(&list, &element))
		if (slice_eq_nocase(element, token))
			return true;
	return false;
}

static bool is_taken(enum sip_method method)
{
	return is_listed(SLICE(SIP_ALLOW), slice_of(sip_method_name(method)));
}

/* Each option the peer requires and we do not have (8.2.2.3). Proxy-Require
 * speaks to proxies alone (20.29). */
static void write_unsupported(struct buffer *out,
			      const struct sip_message *request)
{
	const struct sip_header *header;
	struct slice rest, option;

	for (unsigned i = 0;
	     (header = sip_message_header(request, SIP_H_REQUIRE, i)); i++) {
		rest = header->value;
		while (lex_next_element(&rest, &option))
			if (option.len &&
			    !is_listed(SLICE(SIP_SUPPORTED), option))
				sip_header_write(out, SLICE("Unsupported"),
						 option);
	}
}

static bool has_refused_extension(struct ua *ua, struct sip_link *link,
				  const struct sip_message *request)
{
	struct buffer unsupported;
	bool is_refused;

	buffer_init(&unsupported, SIP_MESSAGE_MAX_BYTES);
	write_unsupported(&unsupported, request);
	is_refused = unsupported.len > 0;
	if (is_refused)
		ua_respond(ua, link, request, 420, buffer_slice(&unsupported));
	buffer_reset(&unsupported);
	return is_refused;
}

/* 8.2.1 and 21.5.2: one that we know but do not take, or know nothing of. */
static void refuse_method(struct ua *ua, struct sip_link *link,
			  const struct sip_message *request)
{
	ua_respond(ua, link, request,
		   request->start.method == SIP_UNKNOWN ? 501 : 405,
		   SLICE("Allow: " SIP_ALLOW "\r\n"));
}

bool ua_has_answered(struct ua *ua, struct sip_link *link,
		     const struct sip_message *request)
{
	int status;

	if (!is_taken(request->start.method)) {
		refuse_method(ua, link, request);
		return true;
	}
	if (has_refused_extension(ua, link, request))
		return true;
	if (request->start.method != SIP_INVITE &&
	    sip_message_header(request, SIP_H_REPLACES, 0)) {
		ua_respond(ua, link, request, 400, SLICE("")); /* RFC 3891, 3 */
		return true;
	}
	if (request->start.method != SIP_OPTIONS)
		return false;
	/* 11.2: what an INVITE would get */
	status = ua->state == UA_DRAINING && !request->common.to.tag.len ? 503
									 : 200;
	ua_respond(ua, link, request, status,
		   SLICE("Allow: " SIP_ALLOW "\r\n"
			 "Accept: " SIP_ACCEPT "\r\n"
			 "Supported: " SIP_SUPPORTED "\r\n"
			 "Allow-Events: refer\r\n"));
	return true;
}

/* ---- requests ---- */

static void on_dialog_request(struct ua *ua, struct sip_link *link,
			      struct sip_message *request)
{
	struct dialog *dialog = dialog_find(&ua->dialogs, request);
	bool is_ack = request->start.method == SIP_ACK;

	if (!dialog && is_ack)
		return;
	if (dialog && dialog_on_request(dialog, link, request)) {
		ua_respond(ua, link, request, 500, SLICE(""));
		return;
	}
	if (!is_ack && dialog && ua_has_answered(ua, link, request))
		return;
	if (dialog)
		dialog->on_request(dialog->user, dialog, request); /* last */
	else if (is_taken(request->start.method))
		ua_respond(ua, link, request, 481, SLICE(""));
	else
		refuse_method(ua, link, request);
}

static void on_new_request(struct ua *ua, struct sip_link *link,
			   struct sip_message *request)
{
	if (request->start.method == SIP_ACK)
		return;
	if (ua_has_answered(ua, link, request))
		return;
	if (request->start.method == SIP_REFER ||
	    request->start.method == SIP_NOTIFY)
		referral_refuse(ua, link, request);
	else if (request->start.method != SIP_INVITE)
		ua_respond(ua, link, request, 481, SLICE(""));
	else if (server_transaction_is_merged(&ua->transactions, request))
		ua_respond(ua, link, request, 482, SLICE(""));
	else
		ua_on_invite(ua, link, request); /* last */
}

static void on_cancel(struct ua *ua, struct sip_link *link,
		      struct server_transaction *transaction,
		      struct sip_message *cancel)
{
	if (transaction)
		server_transaction_on_cancel(transaction, link, cancel);
	else
		ua_respond(ua, link, cancel, 481, SLICE(""));
}

static void on_request(struct ua *ua, struct sip_link *link,
		       struct sip_message *request)
{
	struct server_transaction *transaction =
		server_transaction_find(&ua->transactions, request);

	if (request->start.method == SIP_CANCEL)
		on_cancel(ua, link, transaction, request);
	else if (transaction &&
		 server_transaction_on_request(transaction, request))
		return;
	else if (request->common.to.tag.len)
		on_dialog_request(ua, link, request);
	else
		on_new_request(ua, link, request);
}

static void on_message(void *owner, struct sip_link *link,
		       struct sip_message *message)
{
	struct client_transaction *transaction;
	struct ua *ua = owner;

	ua_trace_in(ua, link, message);
	if (message->start.is_request) {
		on_request(ua, link, message);
		return;
	}
	transaction = client_transaction_find(&ua->transactions, link, message);
	if (transaction)
		client_transaction_on_response(transaction, message);
	else
		log_debug("ua", NULL, "answer %d to nothing we asked",
			  message->start.status);
}

static void forget_link(void *item, void *arg)
{
	struct dialog *dialog = item;

	if (dialog->link == arg)
		dialog->link = NULL;
}

static void on_link_closed(void *owner, struct sip_link *link, int err,
			   const char *why)
{
	struct ua *ua = owner;

	table_each(&ua->dialogs, forget_link, link);
	transactions_on_link_closed(&ua->transactions, link);
}

static void mark_link(void *item, void *arg)
{
	const struct dialog *dialog = item;

	if (dialog->link)
		sip_link_mark_used(dialog->link);
}

static void mark_used(void *owner)
{
	struct ua *ua = owner;

	table_each(&ua->dialogs, mark_link, NULL);
}

/* ---- public ---- */

int ua_open(struct ua **out, const struct ua_options *options,
	    const struct ua_events *events, void *owner)
{
	static const struct sip_transport_events transport_events = {
		.on_message = on_message,
		.on_link_closed = on_link_closed,
		.mark_used = mark_used,
	};
	struct ua *ua = mem_new(sizeof(*ua));
	int err;

	*ua = (struct ua){
		.loop = options->transport.loop,
		.domain = mem_dup_str(options->domain),
		.user_agent = mem_dup_str(options->transport.user_agent),
		.max_sessions = options->max_sessions,
		.session_expires_s = options->session_expires_s
					     ? options->session_expires_s
					     : SESSION_TIMER_DEFAULT_S,
		.state = UA_SERVING,
		.events = events,
		.owner = owner,
	};
	transactions_init(&ua->transactions, ua->loop, &wire, ua);
	table_init(&ua->dialogs);
	ua->calls = source_limit_open(&options->calls);
	table_init(&ua->traces.taps);
	err = sip_transport_open(&ua->transport, &options->transport,
				 &transport_events, ua);
	if (err)
		ua_close(&ua);
	*out = ua;
	return err;
}

void ua_close(struct ua **ua)
{
	struct ua *u = *ua;

	if (!u)
		return;
	*ua = NULL;
	while (u->sessions) {
		assert(!u->sessions->events); /* closed by their owners */
		session_free(u->sessions);
	}
	transactions_reset(&u->transactions);
	table_reset(&u->dialogs);
	source_limit_close(&u->calls);
	table_reset(&u->traces.taps);
	sip_transport_close(&u->transport);
	mem_free(u->domain);
	mem_free(u->user_agent);
	mem_free(u);
}

void ua_drain(struct ua *ua)
{
	ua->state = UA_DRAINING;
}

uint16_t ua_port(const struct ua *ua)
{
	return sip_transport_port(ua->transport);
}

void ua_stats(const struct ua *ua, struct ua_stats *out)
{
	struct sip_transport_stats transport;

	sip_transport_stats(ua->transport, &transport);
	*out = ua->count;
	out->dialogs = (unsigned)ua->dialogs.n;
	out->client_transactions = (unsigned)ua->transactions.client.n;
	out->server_transactions = (unsigned)ua->transactions.server.n;
	out->links = transport.links;
	out->messages_in = transport.messages_in;
	out->messages_out = transport.messages_out;
	out->parse_errors = transport.parse_errors;
}
