/* SPDX-License-Identifier: MIT */
#include "sip/replaces.h"
#include <errno.h>
#include "sip/header.h"
#include "sip/lex.h"
#include "sip/session_priv.h"

static bool is_call_id(struct slice text)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.ptr[i] <= ' ' || text.ptr[i] == ',')
			return false;
	return text.len > 0;
}

/* Notes a tag; one that comes twice, or is none, is wrong. */
static int take_tag(struct slice *tag, struct slice value)
{
	if (tag->ptr || !lex_is_token(value))
		return -EINVAL;
	*tag = value;
	return 0;
}

static int take_param(struct replaces *out, struct slice name,
		      struct slice value)
{
	if (slice_eq_nocase(name, SLICE("to-tag")))
		return take_tag(&out->to_tag, value);
	if (slice_eq_nocase(name, SLICE("from-tag")))
		return take_tag(&out->from_tag, value);
	if (slice_eq_nocase(name, SLICE("early-only")))
		out->is_early_only = true;
	return 0;
}

int replaces_parse(struct replaces *out, struct slice text)
{
	struct replaces replaces = { 0 };
	struct slice params, name, value;
	ptrdiff_t end;
	int more;

	if (!sip_text_is_line(text)) /* line ends around it, too */
		return -EINVAL;
	text = lex_trim(text);
	end = slice_find(text, ';');
	if (end < 0)
		return -EINVAL;
	replaces.call_id = lex_trim(slice_make(text.ptr, (size_t)end));
	params = lex_skip(text, (size_t)end);
	while ((more = lex_next_param(&params, &name, &value)) == 1)
		if (take_param(&replaces, name, value))
			return -EINVAL;
	if (more || !is_call_id(replaces.call_id) || !replaces.to_tag.ptr ||
	    !replaces.from_tag.ptr)
		return -EINVAL;
	*out = replaces;
	return 0;
}

/* ---- whom it names ---- */

struct search {
	const struct replaces *replaces;
	const struct dialog *found;
};

/* A tag "0" stands for none, as peers of RFC 2543 have it. */
static bool is_tag(const char *tag, struct slice wanted)
{
	if (!tag || !*tag)
		return slice_eq(wanted, SLICE("0"));
	return slice_eq(slice_of(tag), wanted);
}

static void match(void *item, void *arg)
{
	const struct dialog *dialog = item;
	struct search *search = arg;

	if (slice_eq(slice_of(dialog->id.call_id), search->replaces->call_id) &&
	    is_tag(dialog->id.local_tag, search->replaces->to_tag) &&
	    is_tag(dialog->id.remote_tag, search->replaces->from_tag))
		search->found = dialog;
}

/* Early dialogs of an INVITE of ours belong to its invitation: the Call-ID,
 * which we made up, tells whose it is. */
static struct session *session_of(const struct ua *ua,
				  const struct dialog *dialog)
{
	struct session *session;

	if (dialog->on_request == session_on_request)
		return dialog->user;
	for (session = ua->sessions; session; session = session->next)
		if (session->state == SESSION_INVITING &&
		    strcmp(session->call_id, dialog->id.call_id) == 0)
			return session;
	return NULL;
}

/* What the state of the session lets happen. */
static int check_state(const struct session *session,
		       const struct replaces *replaces)
{
	switch (session->state) {
	case SESSION_INVITING:
		return session->events ? 0 : 603;
	case SESSION_INCOMING:
	case SESSION_PENDING: /* early, and not initiated by us */
		return 481;
	case SESSION_ANSWERED:
	case SESSION_UP:
		return replaces->is_early_only ? 486 : 0;
	case SESSION_LEAVING:
	case SESSION_ENDING:
	case SESSION_ENDED:
		return 603;
	}
	return 481;
}

int replaces_find(struct session **out, const struct ua *ua,
		  const struct sip_message *invite)
{
	const struct sip_header *header =
		sip_message_header(invite, SIP_H_REPLACES, 0);
	struct replaces replaces;
	struct search search = { .replaces = &replaces };
	struct session *session;
	int status;

	*out = NULL;
	if (!header)
		return 0;
	if (sip_message_header(invite, SIP_H_REPLACES, 1) ||
	    replaces_parse(&replaces, header->value))
		return 400;
	table_each(&ua->dialogs, match, &search);
	session = search.found ? session_of(ua, search.found) : NULL;
	status = session ? check_state(session, &replaces) : 481;
	if (!status)
		*out = session;
	return status;
}
