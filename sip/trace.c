/* SPDX-License-Identifier: MIT */
#include "sip/trace.h"
#include <stdio.h>
#include "sip/header.h"
#include "sip/message_priv.h"
#include "sip/response.h"
#include "sip/ua_priv.h"

/* A message as far as it says whose it is. */
struct mark {
	struct slice call_id;
	struct slice tag; /* ours: From of what we ask, To of what we answer */
	bool is_out;
	bool is_request;
};

static struct slice tag_of(struct slice value)
{
	struct sip_address address;

	if (sip_address_parse(&address, value))
		return SLICE("");
	return address.tag;
}

/* Of a text of ours: it has the lines we write. */
static void read_mark(struct mark *out, struct slice text)
{
	struct slice head = slice_make(text.ptr, sip_head_end(text));
	struct slice from = SLICE(""), to = SLICE("");
	struct slice line, name, value;

	*out = (struct mark){ .is_out = true };
	out->is_request = !slice_has_prefix(text, SLICE("SIP/2.0 "));
	if (!sip_head_line(&head, &line))
		return;
	while (sip_head_line(&head, &line)) {
		if (!strchr("CFT", line.ptr[0]) ||
		    sip_head_split(line, &name, &value))
			continue;
		if (slice_eq(name, SLICE("Call-ID")))
			out->call_id = value;
		else if (slice_eq(name, SLICE("From")))
			from = value;
		else if (slice_eq(name, SLICE("To")))
			to = value;
	}
	out->tag = tag_of(out->is_request ? from : to);
}

static bool has_tag(const struct ua_tap *tap, struct slice tag)
{
	return slice_eq(slice_of(tap->tag), tag);
}

/* A request that comes without our tag belongs to a call that comes in. */
static bool may_be_for(const struct ua_tap *tap, const struct mark *mark)
{
	if (!mark->tag.len)
		return tap->is_callee || !tap->tag[0];
	return !tap->tag[0] || has_tag(tap, mark->tag);
}

/* The next tap of the same Call-ID. */
static struct ua_tap *next_alike(const struct ua_tap *tap)
{
	for (const struct table_entry *entry = tap->entry.next; entry;
	     entry = entry->next)
		if (entry->hash == tap->entry.hash &&
		    slice_eq(slice_of(entry->key), slice_of(tap->entry.key)))
			return entry->item;
	return NULL;
}

static struct ua_tap *find(const struct ua *ua, const struct mark *mark)
{
	struct ua_tap *first = table_find(&ua->traces.taps, mark->call_id);

	for (struct ua_tap *tap = first; tap; tap = next_alike(tap))
		if (mark->tag.len && has_tag(tap, mark->tag))
			return tap;
	for (struct ua_tap *tap = first; tap; tap = next_alike(tap))
		if (may_be_for(tap, mark))
			return tap;
	return NULL;
}

static void learn(struct ua_tap *tap, const struct mark *mark)
{
	if (mark->is_out && !tap->tag[0] && mark->tag.len < sizeof(tap->tag))
		snprintf(tap->tag, sizeof(tap->tag), "%.*s", (int)mark->tag.len,
			 mark->tag.ptr);
}

static void tell(struct ua_tap *tap, bool is_out, struct sip_link *link,
		 struct slice text)
{
	struct addr peer;

	sip_link_peer(link, &peer);
	tap->fn(tap->owner, is_out, &peer, text);
}

void ua_trace_in(struct ua *ua, struct sip_link *link,
		 const struct sip_message *message)
{
	struct mark mark = { .call_id = message->common.call_id,
			     .is_request = message->start.is_request };
	struct ua_tap *tap;

	if (!ua->traces.taps.n)
		return;
	mark.tag = mark.is_request ? message->common.to.tag
				   : message->common.from.tag;
	tap = find(ua, &mark);
	if (tap)
		tell(tap, false, link, message->text);
}

void ua_trace_out(struct ua *ua, struct sip_link *link, struct slice text)
{
	struct ua_tap *tap;
	struct mark mark;

	if (!ua->traces.taps.n)
		return;
	read_mark(&mark, text);
	tap = find(ua, &mark);
	if (!tap)
		return;
	learn(tap, &mark);
	tell(tap, true, link, text);
}

void ua_trace_over(struct ua *ua, const char *sip_call_id)
{
	static const struct addr nobody;
	struct ua_tap *tap =
		table_find(&ua->traces.taps, slice_of(sip_call_id));

	for (; tap; tap = next_alike(tap))
		tap->fn(tap->owner, false, &nobody, (struct slice){ 0 });
}

/* The 100 is written once more, as the transaction did. */
static void tell_past(struct ua_tap *tap, const struct ua_traces *traces)
{
	struct buffer text;
	struct addr peer;
	struct response trying = { .request = traces->invite, .peer = &peer };

	sip_link_peer(traces->link, &peer);
	buffer_init(&text, SIP_MESSAGE_MAX_BYTES);
	response_write(&text, 100, &trying);
	tell(tap, false, traces->link, traces->invite->text);
	if (!buffer_error(&text))
		tell(tap, true, traces->link, buffer_slice(&text));
	buffer_reset(&text);
}

void ua_trace_start(struct ua *ua, struct ua_tap *tap, const char *sip_call_id,
		    ua_trace_fn *fn, void *owner)
{
	const struct ua_traces *traces = &ua->traces;

	*tap = (struct ua_tap){ .ua = ua, .fn = fn, .owner = owner };
	table_add(&ua->traces.taps, &tap->entry, slice_of(sip_call_id), tap);
	tap->is_callee =
		traces->invite &&
		slice_eq(traces->invite->common.call_id, slice_of(sip_call_id));
	if (tap->is_callee)
		tell_past(tap, traces);
}

void ua_trace_stop(struct ua_tap *tap)
{
	if (!tap->ua)
		return;
	table_remove(&tap->ua->traces.taps, &tap->entry);
	tap->ua = NULL;
}
