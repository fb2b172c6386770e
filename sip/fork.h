/* SPDX-License-Identifier: MIT */
/* sip/fork.h - the peers that one INVITE of ours may reach (RFC 3261, 12.1 and
 * 13.2.2.4): the dialog of each, the ACK its 2xx got, the BYE of those that
 * came too late. Belongs to an invitation. */
#pragma once
#include "sip/request.h"

enum { FORKS_MAX = 8 };

struct fork {
	struct fork_set *set; /* its owner; NULL: never used */
	char *tag; /* owned: the peer's; NULL: never used */
	struct dialog *dialog; /* owned; NULL once the session has it */
	char *ack; /* owned: sent for its 2xx; NULL: none came,
		    * "": could not be sent */
	struct sip_request *bye; /* owned */
};

struct fork_set {
	struct ua *ua; /* borrowed: outlives us */
	const struct dialog *base; /* borrowed alike: the INVITE's */
	const struct sip_request_login *login; /* borrowed alike; may be NULL */
	dialog_request_fn *on_request; /* of early dialogs, for owner */
	void (*on_bye_over)(void *owner); /* one BYE has its answer or none */
	void *owner; /* borrowed: resets us */
	struct fork forks[FORKS_MAX];
};

void fork_set_reset(struct fork_set *set);
bool fork_set_has_bye(const struct fork_set *set); /* one is under way */
/* That of the answer's To tag, else a free one; NULL: too many. */
struct fork *fork_find(struct fork_set *set,
		       const struct sip_message *response);
/* Its dialog as this answer describes it. */
void fork_learn(struct fork *fork, const struct sip_message *response);
void fork_bye(struct fork *fork);
