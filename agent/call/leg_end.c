/* SPDX-License-Identifier: MIT */
#include "agent/call/leg_end.h"

#include <stdio.h>
#include <string.h>
#include "core/slice.h"
#include "sip/header.h"
#include "sip/session.h"

static const char no_credentials[] =
	"The trunk asks for credentials: set sip_username and sip_password, or "
	"correct them.";
static const char no_identity[] =
	"The trunk does not accept the caller's identity.";
static const char no_secure_media[] =
	"The trunk does not accept our secure media (SRTP).";
static const char too_large[] =
	"Our INVITE is too large for the trunk: map fewer or shorter headers.";
static const char loop[] = "The call ran in a loop at the trunk.";
static const char busy[] =
	"The number you dialed is busy. Please try again later.";
static const char not_found[] = "The number you dialed is not found.";
static const char no_answer[] = "The number you dialed did not answer in time.";
static const char canceled[] = "The call was canceled before it was answered.";

/* What clients compare stands alone; to others the trunk's own words are added
 * where it has some. */
enum words { EXACT, WITH_DETAIL };

static const struct refusal {
	int code;
	const char *status;
	enum words words;
	const char *message;
} refusals[] = {
	{ 400, "failed", WITH_DETAIL,
	  "The trunk did not understand the call." },
	{ 401, "failed", EXACT, no_credentials },
	{ 402, "failed", WITH_DETAIL,
	  "The trunk asks for payment before it takes calls." },
	{ 403, "failed", WITH_DETAIL, "The trunk has refused the call." },
	{ 404, "failed", EXACT, not_found },
	{ 405, "failed", WITH_DETAIL, "The trunk does not take calls there." },
	{ 406, "failed", WITH_DETAIL, no_secure_media },
	{ 407, "failed", EXACT, no_credentials },
	{ 408, "no-answer", EXACT, no_answer },
	{ 410, "failed", EXACT,
	  "The number you dialed is no longer in service." },
	{ 413, "failed", WITH_DETAIL, too_large },
	{ 414, "failed", WITH_DETAIL, too_large },
	{ 415, "failed", WITH_DETAIL,
	  "The trunk does not take descriptions of audio (SDP)." },
	{ 416, "failed", WITH_DETAIL,
	  "The trunk does not take numbers in our form." },
	{ 420, "failed", WITH_DETAIL,
	  "The trunk does not know a SIP extension that the call needs." },
	{ 421, "failed", WITH_DETAIL,
	  "The trunk wants a SIP extension that is not supported." },
	{ 422, "failed", WITH_DETAIL,
	  "The trunk and we do not agree on session timers." },
	{ 428, "failed", WITH_DETAIL, no_identity },
	{ 433, "failed", WITH_DETAIL,
	  "The number you dialed takes no calls from hidden numbers." },
	{ 436, "failed", WITH_DETAIL, no_identity },
	{ 437, "failed", WITH_DETAIL, no_identity },
	{ 438, "failed", WITH_DETAIL, no_identity },
	{ 480, "no-answer", EXACT,
	  "The number you dialed is temporarily unavailable." },
	{ 481, "failed", WITH_DETAIL,
	  "The trunk lost the call while it was set up." },
	{ 482, "failed", WITH_DETAIL, loop },
	{ 483, "failed", WITH_DETAIL, loop },
	{ 484, "failed", EXACT, "The number you dialed is not complete." },
	{ 485, "failed", WITH_DETAIL, "The number you dialed is ambiguous." },
	{ 486, "busy", EXACT, busy },
	{ 487, "canceled", EXACT, canceled },
	{ 488, "failed", WITH_DETAIL, no_secure_media },
	{ 491, "failed", WITH_DETAIL,
	  "The trunk was still at work on another request." },
	{ 500, "failed", WITH_DETAIL, "The trunk has an internal error." },
	{ 501, "failed", WITH_DETAIL, "The trunk cannot make such calls." },
	{ 502, "failed", WITH_DETAIL,
	  "The trunk got no usable answer from the network behind it." },
	{ 503, "failed", WITH_DETAIL,
	  "The trunk is out of service at the moment." },
	{ 504, "no-answer", WITH_DETAIL,
	  "The network behind the trunk did not answer in time." },
	{ 505, "failed", WITH_DETAIL,
	  "The trunk does not speak our version of SIP." },
	{ 513, "failed", WITH_DETAIL, too_large },
	{ 580, "failed", WITH_DETAIL,
	  "The trunk wants media to be reserved first, which is not "
	  "supported." },
	{ 600, "busy", EXACT, busy },
	{ 603, "failed", WITH_DETAIL, "The call was declined." },
	{ 604, "failed", EXACT, not_found },
	{ 606, "failed", WITH_DETAIL, no_secure_media },
	{ 607, "failed", WITH_DETAIL, "The call was rejected as unwanted." },
	{ 608, "failed", WITH_DETAIL,
	  "The call was rejected by the callee's network." },
};

static const struct refusal *find(int code)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		if (refusals[i].code == code)
			return &refusals[i];
	}
	return NULL;
}

/* A peer's words, or a cut through one of them, need not be UTF-8, and the
 * record must be; nor may they hold what terminals obey: C0, DEL and C1. */
static const char *clean(char room[LEG_MESSAGE_SIZE])
{
	bool is_utf8 = slice_is_utf8(slice_of(room));

	for (char *at = room; *at; at++) {
		unsigned char c = (unsigned char)*at;
		unsigned char next = (unsigned char)at[1];

		if (c < ' ' || c == 0x7f || (c >= 0x80 && !is_utf8))
			*at = '?';
		else if (c == 0xc2 && next < 0xa0)
			at[0] = at[1] = '?';
	}
	return room;
}

/* Does the phrase tell more than the status alone? */
static bool has_detail(const struct session_end *from)
{
	return from->reason && from->reason[0] &&
	       strcasecmp(from->reason, sip_reason(from->code)) != 0;
}

static void explain_refusal(struct leg_end *out, char room[LEG_MESSAGE_SIZE],
			    const struct session_end *from)
{
	const struct refusal *row = find(from->code);
	const char *phrase = from->reason ? from->reason : "";

	out->code = from->code;
	out->status = row ? row->status : "failed";
	if (row && (row->words == EXACT || !has_detail(from))) {
		out->message = row->message;
		return;
	}
	if (row)
		snprintf(room, LEG_MESSAGE_SIZE, "%.*s: %d %s.",
			 (int)strlen(row->message) - 1, row->message,
			 from->code, phrase);
	else if (from->code < 400)
		snprintf(room, LEG_MESSAGE_SIZE,
			 "The trunk redirects the call, which leads away from "
			 "it: %d %s.",
			 from->code, phrase);
	else
		snprintf(room, LEG_MESSAGE_SIZE, "The trunk answered %d %s.",
			 from->code, phrase);
	out->message = clean(room);
}

static void explain_with(struct leg_end *out, char room[LEG_MESSAGE_SIZE],
			 const char *what, const struct session_end *from)
{
	out->status = "failed";
	snprintf(room, LEG_MESSAGE_SIZE, "%s: %s.", what,
		 from->reason && from->reason[0] ? from->reason : "no detail");
	out->message = clean(room);
}

/* An incoming call may see a BYE before it was up. */
static void explain_hangup(struct leg_end *out)
{
	out->status = out->was_up ? "completed" : "canceled";
	out->message = out->was_up ? NULL : canceled;
}

void leg_end_explain(struct leg_end *out, char room[LEG_MESSAGE_SIZE],
		     const struct session_end *from, bool was_up)
{
	*out = (struct leg_end){ .was_up = was_up,
				 .by_remote = from->by_remote };
	switch (from->cause) {
	case SESSION_HANGUP:
	case SESSION_CANCELED:
		explain_hangup(out);
		break;
	case SESSION_REJECTED:
		explain_refusal(out, room, from);
		break;
	case SESSION_NO_ANSWER:
		out->status = "no-answer";
		out->message = no_answer;
		break;
	case SESSION_UNREACHABLE:
		explain_with(out, room, "The trunk cannot be reached", from);
		break;
	case SESSION_UNTRUSTED:
		explain_with(out, room,
			     "The trunk's certificate is not trusted", from);
		break;
	case SESSION_LOST:
		explain_with(out, room, "The connection to the trunk was lost",
			     from);
		break;
	case SESSION_TIMED_OUT:
		explain_with(out, room, "The trunk did not answer in time",
			     from);
		break;
	case SESSION_PROTOCOL:
		explain_with(out, room, "The trunk's answer made no call",
			     from);
		break;
	}
}
