/* SPDX-License-Identifier: MIT */
/* sip/dialog.h - what two user agents know of each other (RFC 3261, 12): names,
 * tags, route set, remote target, sequence numbers, and the link that carried
 * the last message. Requests of ours are written from it, the first INVITE
 * too: it then has no remote tag. Belongs to the session or probe that opened
 * it; the UA's table finds it. */
#pragma once
#include "sip/message.h"
#include "sip/table.h"
#include "sip/transport.h"

struct dialog;

/* A request inside the dialog, its CSeq in order; never CANCEL. */
typedef void dialog_request_fn(void *user, struct dialog *dialog,
			       struct sip_message *request);

enum { DIALOG_TAG_SIZE = 17, DIALOG_ROUTES_MAX = 16 };

struct dialog {
	struct {
		char *call_id; /* owned, as all text here */
		char *local_tag;
		char *remote_tag; /* NULL: none yet */
	} id;
	char *local; /* value of our From, with tag */
	char *remote; /* value of our To, with tag when there is one */
	char *contact_user; /* escaped */
	char *target; /* Request-URI: the peer's Contact */
	char *routes[DIALOG_ROUTES_MAX]; /* in the order we send them */
	size_t n_routes;
	uint32_t local_cseq; /* last used */
	int64_t remote_cseq; /* -1: none seen */
	bool is_ours; /* we chose the Call-ID */
	bool is_sips;
	struct sip_target trunk; /* host empty: by route set or target */
	struct addr peer; /* where its first request came from; or no family */
	struct sip_link *link; /* borrowed; NULL once it closed */
	struct table_entry entry; /* key: dialog_key_write() */
	dialog_request_fn *on_request; /* user is borrowed: closes us */
	void *user;
};

struct dialog_out {
	const struct sip_target *trunk;
	const char *target; /* Request-URI, and To */
	const char *domain; /* host of From */
	const char *user; /* of From and Contact, escaped */
	const char *display; /* may be NULL */
};

/* Ours, before any answer. NULL: a name holds what no header may. */
struct dialog *dialog_open_out(const struct dialog_out *out);
/* The peer's: from its INVITE, with our tag. */
struct dialog *dialog_open_in(const struct sip_message *invite,
			      struct sip_link *link, const char *tag);
/* Ours, from an answer (101-299) with a To tag: base's copy with the peer's
 * tag, route set and target. */
struct dialog *dialog_open_fork(const struct dialog *base,
				const struct sip_message *response,
				struct sip_link *link);
void dialog_close(struct dialog **dialog, struct table *table);

/* The peer's new Contact, if the message has one we can reach (12.2). */
void dialog_refresh(struct dialog *dialog, const struct sip_message *message);
/* Checks a request's order and notes it: 0, or 500 for an old CSeq. */
int dialog_on_request(struct dialog *dialog, struct sip_link *link,
		      const struct sip_message *request);
/* Where to connect when the link is gone. 0 or -EINVAL. */
int dialog_hop(const struct dialog *dialog, struct sip_target *out);
/* Lists it so that requests of this Call-ID and these tags are found. */
void dialog_list(struct dialog *dialog, struct table *table,
		 dialog_request_fn *on_request, void *user);
/* The dialog a request with a To tag belongs to, or NULL. */
struct dialog *dialog_find(const struct table *table,
			   const struct sip_message *request);

struct dialog_request {
	enum sip_method method;
	uint32_t cseq;
	const char *branch;
	const char *sent_by; /* of the link it goes out on */
	const char *user_agent;
	struct slice headers; /* further lines, each with its CRLF */
	struct slice body; /* SDP, a NOTIFY's sipfrag, or empty */
};
void dialog_write(const struct dialog *dialog, struct buffer *out,
		  const struct dialog_request *request);
/* Our Contact header line over a link of that name. */
void dialog_contact(const struct dialog *dialog, struct buffer *out,
		    const char *sent_by);
/* The Request-URI dialog_write() puts: digest signs it. */
struct slice dialog_request_uri(const struct dialog *dialog);
