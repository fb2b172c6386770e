/* SPDX-License-Identifier: MIT */
/* sip/target_set.h - where a call may still be tried after a 3xx (RFC 3261,
 * 8.1.3.4): its Contacts by q, each address once. Only those of the trunk that
 * was called: nobody sends us elsewhere. */
#pragma once
#include <stddef.h>
#include "sip/message.h"
#include "sip/transport.h"

enum { TARGET_SET_MAX = 6 };

struct target_set {
	struct {
		char *uri; /* owned */
		unsigned q; /* thousandths */
	} targets[TARGET_SET_MAX];
	size_t n;
	size_t tried; /* so many of them */
};

/* The first target counts as tried. */
void target_set_init(struct target_set *set, const char *first);
void target_set_reset(struct target_set *set);
/* Contacts of a 3xx that stay at the trunk and are new. */
void target_set_add(struct target_set *set, const struct sip_message *response,
		    const struct sip_target *trunk);
/* The next to try, or NULL. */
const char *target_set_next(struct target_set *set);
