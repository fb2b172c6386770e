/* SPDX-License-Identifier: MIT */
/* sip/session_priv.h - the session's insides, shared by session.c (life),
 * session_in.c (what the peer sends), session_offer.c (offers inside the
 * dialog), the parts a session owns (session_timer.c, referral*.c) and those
 * that make or look for one (ua_invite.c, replaces.c). */
#pragma once
#include "sip/invitation.h"
#include "sip/offer.h"
#include "sip/referral.h"
#include "sip/server_transaction.h"
#include "sip/session.h"
#include "sip/session_offer.h"
#include "sip/session_timer.h"
#include "sip/ua_priv.h"

struct timer;

/* Outgoing:  INVITING --2xx--> UP
 *            INVITING --invitation over--> ENDING
 * Incoming:  INCOMING --session_accept--> PENDING --session_answer--> ANSWERED
 *            ANSWERED --ACK--> UP; ANSWERED --hung up--> LEAVING
 *            LEAVING --ACK or 32 s: BYE--> ENDING
 * Both:      any but ENDED --end known--> ENDING --next turn: on_end--> ENDED
 *            INCOMING, PENDING --refused by us--> ENDED
 * ENDED is freed when the owner has closed it and no request of ours waits. */
enum session_state {
	SESSION_INVITING,
	SESSION_INCOMING,
	SESSION_PENDING,
	SESSION_ANSWERED,
	SESSION_LEAVING,
	SESSION_UP,
	SESSION_ENDING,
	SESSION_ENDED
};

/* What the peer asked and we have not settled. */
struct session_incoming {
	struct server_transaction *transaction; /* lent; NULL: nothing */
	enum sip_method method; /* INVITE or UPDATE */
	uint32_t cseq;
};

/* Our own offer inside the dialog. */
struct session_offering {
	enum offer_state state; /* of both sides' offers */
	struct sip_request *request; /* owned: the re-INVITE */
	struct timer *timer; /* owned: until it goes again, or gives up */
	char *sdp; /* owned; NULL: none is to be sent */
	char *ack; /* owned: what its 2xx got */
	unsigned tries;
	bool is_canceled; /* request: it took too long */
};

struct session {
	struct ua *ua; /* borrowed: outlives us */
	struct session *next; /* of ua->sessions */
	const struct session_events *events; /* NULL: nobody has us */
	void *owner; /* borrowed; valid with events */
	enum session_state state;
	char *call_id; /* owned */
	struct sip_request_login login; /* owned text; username NULL: none */
	struct dialog *dialog; /* owned; NULL before the first 2xx */
	struct invitation *invitation; /* owned; outgoing, while it lives */
	struct session_incoming incoming;
	struct sip_request *bye; /* owned */
	struct timer *timer; /* owned: of ENDING and ENDED */
	struct session_end end;
	char *end_reason; /* owned */
	struct session_offering offer;
	struct session_timer *expiry; /* owned */
	struct referral *referral; /* owned; NULL until there is a REFER */
};

struct session *session_new(struct ua *ua, enum session_state state,
			    struct slice call_id);
void session_enter(struct session *session, enum session_state next);
/* Notes why it ended; on_end follows on the next turn. reason is copied. */
void session_end(struct session *session, enum session_cause cause, int code,
		 struct slice reason);
/* BYE in the background; then session_end() by the caller. */
void session_bye(struct session *session, const char *reason);
/* BYE and the end in one, for what the peer did. */
void session_break(struct session *session, enum session_cause cause, int code,
		   const char *why);
void session_free(struct session *session); /* also from ua_close() */
/* Frees itself on the next turn once nobody needs it any more. */
void session_settle(struct session *session);

/* session_in.c */
void session_take_invite(struct session *session,
			 struct server_transaction *transaction,
			 const struct sip_message *invite);
void session_on_request(void *user, struct dialog *dialog,
			struct sip_message *request);
/* Settles what the peer asked: this final status if it has none, and no more
 * 2xx if it waits for an ACK. */
void session_drop_incoming(struct session *session, int status);
