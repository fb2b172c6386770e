/* SPDX-License-Identifier: MIT */
/* sip/identities.h - client certificates of trunks, each parsed once and named
 * by a number, so that a sip_target stays plain data that anyone may copy. */
#pragma once
#include "core/tls.h"

struct identities;

enum { IDENTITIES_MAX = 1024 };

struct identities *identities_open(void);
void identities_close(struct identities **identities);
/* The number of this pair of PEM texts, from 1; the same texts give the same
 * number as long as they are kept: above IDENTITIES_MAX the one that was asked
 * for longest ago goes. -EINVAL: why says what is wrong with them. */
int identities_add(struct identities *identities, unsigned *number,
		   struct slice certificate, struct slice key,
		   struct buffer *why);
/* NULL: not kept (any more). */
struct tls_identity *identities_find(struct identities *identities,
				     unsigned number);
