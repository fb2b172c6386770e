/* SPDX-License-Identifier: MIT */
/* sip/referral_priv.h - what referral.c (the peer's REFER, our NOTIFYs) and
 * referral_out.c (our REFER, the peer's NOTIFYs) share. */
#pragma once
#include "sip/referral.h"
#include "sip/session_priv.h"

#define REFERRAL_BODY "message/sipfrag"

/* NONE --REFER taken--> OPEN --final status, expiry, owner left--> LAST
 * LAST --its NOTIFY answered--> NONE;  OPEN, LAST --NOTIFY refused--> NONE */
enum referral_in_state { REFERRAL_NONE, REFERRAL_OPEN, REFERRAL_LAST };

struct referral_in {
	enum referral_in_state state;
	struct sip_request *notify; /* owned: waits for its answer */
	struct timer *timer; /* owned: the subscription's end */
	uint64_t expires_at_us;
	uint32_t cseq; /* of the REFER */
	unsigned n; /* REFERs taken so far */
	int status; /* what is known last */
	bool is_due; /* ... and told once notify is answered */
	const char *why_over; /* static; of LAST */
};

/* IDLE --session_refer()--> SENT --2xx--> ACCEPTED --final status, end of the
 * subscription, silence--> TOLD --the peer's last NOTIFY, 32 s--> IDLE
 * SENT --refused, no answer--> IDLE;  SENT --final NOTIFY before--> TOLD */
enum referral_out_state {
	REFERRAL_IDLE,
	REFERRAL_SENT,
	REFERRAL_ACCEPTED,
	REFERRAL_TOLD
};

struct referral_out {
	enum referral_out_state state;
	struct sip_request *refer; /* owned: waits for its answer */
	struct timer *timer; /* owned: silence */
	uint32_t cseq; /* of the REFER, once answered */
};

struct referral {
	struct session *session; /* borrowed: owns us */
	struct referral_in in;
	struct referral_out out;
};

/* The session's, made when it has none. */
struct referral *referral_of(struct session *session);
/* Answers a request in the dialog; lines: further headers. */
void referral_answer(struct session *session, const struct sip_message *request,
		     int status, const char *lines);

/* referral_out.c */
/* 0, or the status that refuses a NOTIFY for its Event. */
int referral_check_event(const struct sip_message *notify, struct slice *id);
void referral_on_notify(struct session *session, struct sip_message *notify);
/* Forgets our own REFER. */
void referral_out_reset(struct referral_out *out);
