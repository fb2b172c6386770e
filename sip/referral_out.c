/* SPDX-License-Identifier: MIT */
/* Our own REFER and what the peer tells of it. */
#include <assert.h>
#include <errno.h>
#include "core/log.h"
#include "core/timer.h"
#include "sip/header.h"
#include "sip/referral_priv.h"
#include "sip/replaces.h"

enum {
	SILENT_MS = 60 * 1000, /* accepted, and no NOTIFY */
	EXPIRES_MIN_S = 60, /* of what a NOTIFY says */
	EXPIRES_MAX_S = 600,
	EXPIRES_S = 180 /* when it says nothing */
};

static const struct {
	const char *name;
	unsigned next; /* a bit for each state that may follow */
} states[] = {
	[REFERRAL_IDLE] = { "idle", 1 << REFERRAL_SENT },
	[REFERRAL_SENT] = { "sent", 1 << REFERRAL_IDLE |
					    1 << REFERRAL_ACCEPTED |
					    1 << REFERRAL_TOLD },
	[REFERRAL_ACCEPTED] = { "accepted",
				1 << REFERRAL_IDLE | 1 << REFERRAL_TOLD },
	[REFERRAL_TOLD] = { "told", 1 << REFERRAL_IDLE | 1 << REFERRAL_SENT },
};

static void enter(struct referral_out *out, enum referral_out_state next)
{
	assert(states[out->state].next & 1u << next);
	log_debug("referral", NULL, "our REFER: %s -> %s",
		  states[out->state].name, states[next].name);
	out->state = next;
	timer_stop(out->timer);
}

void referral_out_reset(struct referral_out *out)
{
	sip_request_close(&out->refer);
	if (out->state != REFERRAL_IDLE)
		enter(out, REFERRAL_IDLE);
}

static void tell(struct referral *r, int status, bool is_over)
{
	struct session *session = r->session;

	if (session->events && session->events->on_refer_status)
		session->events->on_refer_status(session->owner, status,
						 is_over); /* last */
}

static void on_silence(void *arg)
{
	struct referral *r = arg;
	bool was_told = r->out.state == REFERRAL_TOLD;

	enter(&r->out, REFERRAL_IDLE);
	if (!was_told)
		tell(r, 0, true); /* last */
}

/* All has been said; a last NOTIFY may still come. */
static void enter_told(struct referral *r)
{
	enter(&r->out, REFERRAL_TOLD);
	timer_start(r->out.timer, SIP_TIMEOUT_MS, on_silence, r);
}

/* ---- its answer ---- */

static void on_accepted(struct referral *r, const struct sip_message *response)
{
	struct slice sub = sip_message_value(response, SLICE("Refer-Sub"));
	bool is_over = slice_eq_nocase(sub, SLICE("false"));

	r->out.cseq = response->common.cseq;
	if (r->out.state == REFERRAL_TOLD)
		return;
	if (is_over) {
		enter(&r->out, REFERRAL_IDLE);
	} else {
		enter(&r->out, REFERRAL_ACCEPTED);
		timer_start(r->out.timer, SILENT_MS, on_silence, r);
	}
	tell(r, response->start.status, is_over); /* last */
}

static void on_response(void *owner, struct sip_message *response)
{
	struct referral *r = owner;
	int status = response->start.status;

	if (status < 200)
		return;
	sip_request_close(&r->out.refer);
	if (status < 300) {
		on_accepted(r, response); /* last */
		return;
	}
	if (r->out.state == REFERRAL_TOLD)
		return;
	enter(&r->out, REFERRAL_IDLE);
	tell(r, status, true); /* last */
}

static void on_failed(void *owner, const struct sip_request_failure *failure)
{
	struct referral *r = owner;

	log_info("referral", r->session->call_id, "REFER not answered: %s",
		 failure->why ? failure->why : "");
	sip_request_close(&r->out.refer);
	if (r->out.state == REFERRAL_TOLD)
		return;
	enter(&r->out, REFERRAL_IDLE);
	tell(r, 0, true); /* last */
}

/* ---- its subscription ---- */

int referral_check_event(const struct sip_message *notify, struct slice *id)
{
	struct slice params = sip_message_value(notify, SLICE("Event"));
	struct slice package = slice_trim(slice_cut(&params, ';'));

	*id = (struct slice){ 0 };
	if (!slice_eq_nocase(package, SLICE("refer")))
		return 489;
	while (params.len) {
		struct slice value = slice_cut(&params, ';');
		struct slice name = slice_trim(slice_cut(&value, '='));

		if (slice_eq_nocase(name, SLICE("id")))
			*id = slice_trim(value);
	}
	return 0;
}

/* Is it of our REFER? Its id is the REFER's CSeq (RFC 3515, 2.4.6). */
static bool is_ours(const struct referral *r, struct slice id)
{
	uint64_t number;

	if (!r || r->out.state == REFERRAL_IDLE)
		return false;
	if (!id.ptr)
		return true;
	return slice_to_u64(&number, id, UINT32_MAX) == 0 &&
	       number == (r->out.refer ? sip_request_cseq(r->out.refer)
				       : r->out.cseq);
}

/* *status of the line that the body begins with, 0 without a body; or what
 * refuses it. */
static int read_sipfrag(const struct sip_message *notify, int *status)
{
	struct slice type = sip_message_value(notify, SLICE("Content-Type"));
	struct slice body = notify->body;
	struct slice version, code;
	uint64_t number;

	*status = 0;
	if (!body.len)
		return 0;
	if (!slice_eq_nocase(slice_trim(slice_cut(&type, ';')),
			     SLICE(REFERRAL_BODY)))
		return 415;
	body = slice_cut(&body, '\r');
	body = slice_cut(&body, '\n');
	version = slice_cut(&body, ' ');
	code = slice_cut(&body, ' ');
	if (!slice_eq_nocase(version, SLICE("SIP/2.0")) || code.len != 3 ||
	    slice_to_u64(&number, code, 699) || number < 100)
		return 400;
	*status = (int)number;
	return 0;
}

/* What the peer says of the subscription; without a word it goes on. */
static bool is_terminated(const struct sip_message *notify, uint32_t *expires_s)
{
	struct slice rest =
		sip_message_value(notify, SLICE("Subscription-State"));
	struct slice state = slice_trim(slice_cut(&rest, ';'));
	uint64_t seconds = EXPIRES_S;

	while (rest.len) {
		struct slice value = slice_cut(&rest, ';');
		struct slice name = slice_trim(slice_cut(&value, '='));

		if (slice_eq_nocase(name, SLICE("expires")) &&
		    slice_to_u64(&seconds, slice_trim(value), EXPIRES_MAX_S))
			seconds = EXPIRES_MAX_S;
	}
	*expires_s =
		seconds < EXPIRES_MIN_S ? EXPIRES_MIN_S : (uint32_t)seconds;
	return slice_eq_nocase(state, SLICE("terminated"));
}

static void take_status(struct referral *r, int status, bool is_last,
			uint32_t expires_s)
{
	if (r->out.state == REFERRAL_TOLD) {
		if (is_last && !r->out.refer)
			enter(&r->out, REFERRAL_IDLE);
		return;
	}
	if (is_last || status >= 200) {
		enter_told(r);
		tell(r, status >= 200 ? status : 0, true); /* last */
		return;
	}
	if (r->out.state == REFERRAL_ACCEPTED)
		timer_start(r->out.timer, expires_s * UINT64_C(1000),
			    on_silence, r);
	if (status)
		tell(r, status, false); /* last */
}

void referral_on_notify(struct session *session, struct sip_message *notify)
{
	struct referral *r = session->referral;
	struct slice id;
	uint32_t expires_s;
	bool is_last = is_terminated(notify, &expires_s);
	int status = 0;
	int refusal = referral_check_event(notify, &id);

	if (refusal) {
		referral_answer(session, notify, refusal,
				"Allow-Events: refer\r\n");
		return;
	}
	if (!is_ours(r, id))
		refusal = 481;
	else
		refusal = read_sipfrag(notify, &status);
	if (!refusal)
		dialog_refresh(session->dialog, notify);
	referral_answer(session, notify, refusal ? refusal : 200,
			refusal == 415 ? "Accept: " REFERRAL_BODY "\r\n" : "");
	if (!refusal)
		take_status(r, status, is_last, expires_s); /* last */
}

/* ---- public ---- */

/* Refer-To with the Replaces that the new call is to carry, Referred-By with
 * who we are in this dialog. */
static int write_headers(struct buffer *out, const struct session *session,
			 const char *target_uri, const char *replaces)
{
	struct sip_address local;
	struct replaces parsed;
	struct buffer escaped, target;
	struct sip_uri uri;

	if (sip_uri_parse(&uri, slice_of(target_uri)) || uri.headers.len)
		return -EINVAL;
	if (replaces && (uri.scheme == SIP_SCHEME_TEL ||
			 replaces_parse(&parsed, slice_of(replaces))))
		return -EINVAL;
	buffer_init(&escaped, SIP_HEADER_MAX_BYTES);
	buffer_init(&target, SIP_HEADER_MAX_BYTES);
	if (replaces) {
		buffer_add_str(&escaped, "Replaces=");
		sip_escape_user(&escaped, slice_of(replaces));
	}
	uri.headers = buffer_slice(&escaped);
	sip_uri_write(&target, &uri);
	sip_header_printf(out, "Refer-To", "<%s>", buffer_str(&target));
	if (sip_address_parse(&local, slice_of(session->dialog->local)) == 0)
		sip_header_printf(out, "Referred-By", "<%.*s>",
				  (int)local.uri_text.len, local.uri_text.ptr);
	if (buffer_error(&escaped) || buffer_error(&target))
		out->error = -EINVAL;
	buffer_reset(&escaped);
	buffer_reset(&target);
	return buffer_error(out);
}

int session_refer(struct session *session, const char *target_uri,
		  const char *replaces)
{
	static const struct sip_request_events events = {
		.on_response = on_response,
		.on_failed = on_failed,
	};
	struct sip_request_options options = { .dialog = session->dialog,
					       .method = SIP_REFER,
					       .login = &session->login };
	struct referral *r = session->referral;
	struct buffer headers;
	int err;

	if (session->state != SESSION_UP)
		return -EINVAL;
	if (r && (r->out.refer || r->out.state == REFERRAL_SENT ||
		  r->out.state == REFERRAL_ACCEPTED))
		return -EAGAIN;
	buffer_init(&headers, 2 * SIP_HEADER_MAX_BYTES);
	err = write_headers(&headers, session, target_uri, replaces);
	if (!err) {
		r = referral_of(session);
		options.headers = buffer_slice(&headers);
		enter(&r->out, REFERRAL_SENT);
		r->out.refer =
			sip_request_open(session->ua, &options, &events, r);
	}
	buffer_reset(&headers);
	return err ? -EINVAL : 0;
}
