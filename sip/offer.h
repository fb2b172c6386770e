/* SPDX-License-Identifier: MIT */
/* sip/offer.h - whose turn it is to describe the media (RFC 3264, 4; RFC 3261,
 * 13.2.1 and 14; RFC 3311, 5.2; RFC 6337): a small machine beside the
 * session's. */
#pragma once
#include <stdbool.h>
#include "sip/message.h"

/*  STABLE --INVITE, UPDATE of ours--> LOCAL --final answer--> STABLE
 *  STABLE --the peer's with SDP--> REMOTE --2xx to INVITE--> ACK
 *  ACK --ACK--> STABLE
 *  STABLE --INVITE without SDP--> WANTED --2xx--> LOCAL_2XX --ACK--> STABLE
 *  REMOTE, WANTED --refused, canceled, lost; 2xx to UPDATE--> STABLE */
enum offer_state {
	OFFER_STABLE,
	OFFER_LOCAL, /* ours, in a request */
	OFFER_REMOTE, /* theirs waits for our answer */
	OFFER_WANTED, /* they ask for ours in our 2xx */
	OFFER_ACK, /* answered; the ACK is missing */
	OFFER_LOCAL_2XX /* ours went in a 2xx; the ACK brings the answer */
};

void offer_enter(enum offer_state *state, enum offer_state next);
/* May an INVITE or UPDATE come in now? 0, else the status that refuses it: 491
 * while an exchange of ours is open, 500 while the peer's last one is. */
int offer_refusal(enum offer_state state, enum sip_method method, bool has_sdp);
