/* SPDX-License-Identifier: MIT */
/* http/auth.h - who asks: API keys and entitlements. */
#pragma once
#include <stdbool.h>
#include "core/arena.h"
#include "core/slice.h"

struct service;

/* authorization: the header's value, "KEY" or "Bearer KEY". 0 and the texts in
 * the arena, or -EACCES: missing, wrong or revoked. */
int auth_check(struct arena *arena, struct service *service,
	       struct slice authorization, const char **org_id,
	       const char **key_id);
bool auth_has_sip(struct service *service, struct arena *arena,
		  const char *org_id);
