/* SPDX-License-Identifier: MIT */
#include "sip/dialog.h"
#include <assert.h>
#include <errno.h>
#include "core/id.h"
#include "core/mem.h"
#include "sip/header.h"
#include "sip/response.h"

enum { TEXT_MAX = 4 * SIP_HEADER_MAX_BYTES, FIRST_CSEQ = 0 };

/* Text that goes into a start line as it is. */
static bool is_bare(struct slice text)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if (c <= ' ' || c == '<' || c == '>' || c == 0x7f)
			return false;
	}
	return text.len > 0;
}

static void replace(char **text, char *with)
{
	mem_free(*text);
	*text = with;
}

static void drop_routes(struct dialog *dialog)
{
	for (size_t i = 0; i < dialog->n_routes; i++)
		mem_free(dialog->routes[i]);
	dialog->n_routes = 0;
}

/* Record-Route of the message: as it stands for us as server, reversed as
 * client (12.1.1, 12.1.2). */
static void learn_routes(struct dialog *dialog,
			 const struct sip_message *message, bool is_reversed)
{
	const struct sip_header *header;
	size_t n = 0;

	drop_routes(dialog);
	while (n < DIALOG_ROUTES_MAX &&
	       sip_message_header(message, SIP_H_RECORD_ROUTE, (unsigned)n))
		n++;
	for (size_t i = 0; i < n; i++) {
		header = sip_message_header(
			message, SIP_H_RECORD_ROUTE,
			(unsigned)(is_reversed ? n - 1 - i : i));
		dialog->routes[i] = slice_dup(header->value);
	}
	dialog->n_routes = n;
}

static char *name_addr(const char *display, const char *uri, const char *tag)
{
	struct buffer text;

	buffer_init(&text, TEXT_MAX);
	if (!sip_text_is_line(slice_of(display)))
		text.error = -EINVAL;
	if (display && *display) {
		sip_quote(&text, slice_of(display));
		buffer_add_char(&text, ' ');
	}
	buffer_printf(&text, "<%s>", uri);
	if (tag)
		buffer_printf(&text, ";tag=%s", tag);
	if (buffer_error(&text))
		buffer_reset(&text);
	return text.ptr ? buffer_take(&text) : NULL;
}

static struct dialog *dialog_new(void)
{
	struct dialog *dialog = mem_new(sizeof(*dialog));

	dialog->local_cseq = FIRST_CSEQ;
	dialog->remote_cseq = -1;
	return dialog;
}

static char *new_call_id(void)
{
	char word[33];

	id_word(word, sizeof(word) - 1);
	return mem_dup_str(word);
}

struct dialog *dialog_open_out(const struct dialog_out *out)
{
	struct dialog *dialog = dialog_new();
	char tag[DIALOG_TAG_SIZE];
	struct buffer from;
	struct sip_uri uri;

	id_word(tag, sizeof(tag) - 1);
	buffer_init(&from, TEXT_MAX);
	buffer_printf(&from, "sip:%s@%s", out->user, out->domain);
	dialog->trunk = *out->trunk;
	dialog->is_ours = true;
	dialog->id.call_id = new_call_id();
	dialog->id.local_tag = mem_dup_str(tag);
	dialog->local = name_addr(out->display, buffer_str(&from), tag);
	dialog->remote = name_addr(NULL, out->target, NULL);
	dialog->contact_user = mem_dup_str(out->user);
	dialog->target = mem_dup_str(out->target);
	if (!dialog->local || !dialog->remote ||
	    sip_uri_parse(&uri, slice_of(out->target)) ||
	    sip_uri_parse(&uri, buffer_slice(&from)))
		dialog_close(&dialog, NULL);
	buffer_reset(&from);
	return dialog;
}

/* The user part our Contact answers for: that of the Request-URI. */
static char *own_user(const struct sip_message *invite)
{
	struct slice user = invite->start.uri.user;

	return is_bare(user) ? slice_dup(user) : mem_dup_str("parley");
}

struct dialog *dialog_open_in(const struct sip_message *invite,
			      struct sip_link *link, const char *tag)
{
	struct dialog *dialog = dialog_new();
	const struct sip_header *from =
		sip_message_header(invite, SIP_H_FROM, 0);
	const struct sip_header *to = sip_message_header(invite, SIP_H_TO, 0);
	struct buffer local;

	assert(from && to); /* the parser refuses a message without */
	buffer_init(&local, TEXT_MAX);
	buffer_add(&local, to->value);
	buffer_printf(&local, ";tag=%s", tag);
	dialog->id.call_id = slice_dup(invite->common.call_id);
	dialog->id.local_tag = mem_dup_str(tag);
	dialog->id.remote_tag = slice_dup(invite->common.from.tag);
	dialog->local = buffer_take(&local);
	dialog->remote = slice_dup(from->value);
	dialog->contact_user = own_user(invite);
	dialog->target = slice_dup(invite->common.from.uri_text);
	dialog->remote_cseq = invite->common.cseq;
	dialog->is_sips = invite->start.uri.scheme == SIP_SCHEME_SIPS;
	dialog->link = link;
	dialog_refresh(dialog, invite);
	learn_routes(dialog, invite, false);
	return dialog;
}

struct dialog *dialog_open_fork(const struct dialog *base,
				const struct sip_message *response,
				struct sip_link *link)
{
	struct dialog *dialog = dialog_new();
	const struct sip_header *to = sip_message_header(response, SIP_H_TO, 0);

	assert(to);
	dialog->id.call_id = mem_dup_str(base->id.call_id);
	dialog->id.local_tag = mem_dup_str(base->id.local_tag);
	dialog->id.remote_tag = slice_dup(response->common.to.tag);
	dialog->local = mem_dup_str(base->local);
	dialog->remote = slice_dup(to->value);
	dialog->contact_user = mem_dup_str(base->contact_user);
	dialog->target = mem_dup_str(base->target);
	dialog->local_cseq = base->local_cseq;
	dialog->is_ours = base->is_ours;
	dialog->is_sips = base->is_sips;
	dialog->trunk = base->trunk;
	dialog->link = link;
	learn_routes(dialog, response, true);
	dialog_refresh(dialog, response);
	return dialog;
}

void dialog_close(struct dialog **dialog, struct table *table)
{
	struct dialog *d = *dialog;

	if (!d)
		return;
	*dialog = NULL;
	if (d->entry.key)
		table_remove(table, &d->entry);
	drop_routes(d);
	mem_free(d->id.call_id);
	mem_free(d->id.local_tag);
	mem_free(d->id.remote_tag);
	mem_free(d->local);
	mem_free(d->remote);
	mem_free(d->contact_user);
	mem_free(d->target);
	mem_free(d);
}

void dialog_refresh(struct dialog *dialog, const struct sip_message *message)
{
	const struct sip_header *header =
		sip_message_header(message, SIP_H_CONTACT, 0);
	struct sip_address contact;

	if (!header || sip_address_parse(&contact, header->value) ||
	    !contact.uri.host.len || !is_bare(contact.uri_text))
		return;
	replace(&dialog->target, slice_dup(contact.uri_text));
}

int dialog_on_request(struct dialog *dialog, struct sip_link *link,
		      const struct sip_message *request)
{
	if (request->start.method != SIP_ACK) {
		if (request->common.cseq <= dialog->remote_cseq)
			return 500;
		dialog->remote_cseq = request->common.cseq;
	}
	dialog->link = link;
	return 0;
}

static int host_target(struct sip_target *out, const struct sip_uri *uri)
{
	if (!uri->host.len || uri->host.len >= sizeof(out->host))
		return -EINVAL;
	memset(out, 0, sizeof(*out));
	memcpy(out->host, uri->host.ptr, uri->host.len);
	out->port = uri->port;
	return 0;
}

int dialog_hop(const struct dialog *dialog, struct sip_target *out)
{
	struct sip_address route;
	struct sip_uri uri;

	if (dialog->trunk.host[0]) {
		*out = dialog->trunk;
		return 0;
	}
	if (dialog->n_routes &&
	    sip_address_parse(&route, slice_of(dialog->routes[0])) == 0)
		uri = route.uri;
	else if (sip_uri_parse(&uri, slice_of(dialog->target)))
		return -EINVAL;
	if (host_target(out, &uri))
		return -EINVAL;
	out->named_by = dialog->peer;
	return 0;
}

static void key_write(struct buffer *out, struct slice call_id,
		      struct slice local, struct slice remote)
{
	buffer_init(out, TEXT_MAX);
	buffer_add(out, call_id);
	buffer_add_char(out, ' ');
	buffer_add(out, local);
	buffer_add_char(out, ' ');
	buffer_add(out, remote);
}

void dialog_list(struct dialog *dialog, struct table *table,
		 dialog_request_fn *on_request, void *user)
{
	struct buffer key;

	dialog->on_request = on_request;
	dialog->user = user;
	if (dialog->entry.key)
		return;
	key_write(&key, slice_of(dialog->id.call_id),
		  slice_of(dialog->id.local_tag),
		  slice_of(dialog->id.remote_tag));
	table_add(table, &dialog->entry, buffer_slice(&key), dialog);
	buffer_reset(&key);
}

struct dialog *dialog_find(const struct table *table,
			   const struct sip_message *request)
{
	struct dialog *dialog;
	struct buffer key;

	key_write(&key, request->common.call_id, request->common.to.tag,
		  request->common.from.tag);
	dialog = buffer_error(&key) ? NULL
				    : table_find(table, buffer_slice(&key));
	buffer_reset(&key);
	return dialog;
}

/* The first route is a strict router's (12.2.1.1): it becomes the Request-URI
 * and the target goes to the end of the routes. */
static bool is_strict(const struct dialog *dialog, struct sip_address *first)
{
	struct slice value;

	return dialog->n_routes &&
	       sip_address_parse(first, slice_of(dialog->routes[0])) == 0 &&
	       is_bare(first->uri_text) &&
	       !sip_uri_param(&first->uri, "lr", &value);
}

struct slice dialog_request_uri(const struct dialog *dialog)
{
	struct sip_address first;

	return is_strict(dialog, &first) ? first.uri_text
					 : slice_of(dialog->target);
}

static void write_routes(const struct dialog *dialog, struct buffer *out,
			 bool strict)
{
	for (size_t i = strict; i < dialog->n_routes; i++)
		sip_header_write(out, SLICE("Route"),
				 slice_of(dialog->routes[i]));
	if (strict)
		sip_header_printf(out, "Route", "<%s>", dialog->target);
}

void dialog_contact(const struct dialog *dialog, struct buffer *out,
		    const char *sent_by)
{
	if (dialog->is_sips)
		sip_header_printf(out, "Contact", "<sips:%s@%s>",
				  dialog->contact_user, sent_by);
	else
		sip_header_printf(out, "Contact", "<sip:%s@%s;transport=tls>",
				  dialog->contact_user, sent_by);
}

void dialog_write(const struct dialog *dialog, struct buffer *out,
		  const struct dialog_request *request)
{
	const char *method = sip_method_name(request->method);
	struct sip_address first;
	bool strict = is_strict(dialog, &first);

	buffer_printf(out, "%s ", method);
	buffer_add(out, dialog_request_uri(dialog));
	buffer_add_str(out, " SIP/2.0\r\n");
	sip_header_printf(out, "Via", "SIP/2.0/TLS %s;branch=%s;rport;alias",
			  request->sent_by, request->branch);
	buffer_add_str(out, "Max-Forwards: 70\r\n");
	write_routes(dialog, out, strict);
	sip_header_write(out, SLICE("From"), slice_of(dialog->local));
	sip_header_write(out, SLICE("To"), slice_of(dialog->remote));
	sip_header_write(out, SLICE("Call-ID"), slice_of(dialog->id.call_id));
	sip_header_printf(out, "CSeq", "%u %s", request->cseq, method);
	if (request->method != SIP_ACK && request->method != SIP_BYE)
		dialog_contact(dialog, out, request->sent_by);
	if (request->method == SIP_INVITE || request->method == SIP_UPDATE)
		buffer_add_str(out, "Allow: " SIP_ALLOW "\r\n");
	if (request->method != SIP_ACK)
		buffer_add_str(out, "Supported: " SIP_SUPPORTED "\r\n");
	if (request->user_agent && *request->user_agent)
		sip_header_write(out, SLICE("User-Agent"),
				 slice_of(request->user_agent));
	buffer_add(out, request->headers);
	if (request->body.len)
		sip_header_printf(out, "Content-Type", "%s",
				  request->method == SIP_NOTIFY ? SIP_SIPFRAG
								: SIP_ACCEPT);
	buffer_printf(out, "Content-Length: %zu\r\n\r\n", request->body.len);
	buffer_add(out, request->body);
}
