/* SPDX-License-Identifier: MIT */
#include "http/auth.h"

#include <errno.h>
#include "agent/service.h"
#include "store/orgs.h"

enum { KEY_MAX_BYTES = 256 };

/* The key after an optional "Bearer"; both forms are in use. */
static struct slice take_key(struct slice authorization)
{
	struct slice text = slice_trim(authorization);
	struct slice rest = text;
	struct slice scheme = slice_cut(&rest, ' ');

	if (rest.ptr && slice_eq_nocase(scheme, SLICE("Bearer")))
		return slice_trim(rest);
	return text;
}

int auth_check(struct arena *arena, struct service *service,
	       struct slice authorization, const char **org_id,
	       const char **key_id)
{
	struct slice key = take_key(authorization);
	uint8_t hash[SECRET_HASH_BYTES];
	struct key_row row;

	if (!key.len || key.len > KEY_MAX_BYTES)
		return -EACCES;
	secret_hash_token(hash, key);
	if (keys_find(service->store, arena, hash, &row))
		return -EACCES;
	*org_id = row.org_id;
	*key_id = row.id;
	return 0;
}

bool auth_has_sip(struct service *service, struct arena *arena,
		  const char *org_id)
{
	struct org_row org;

	return !orgs_get(service->store, arena, org_id, &org) &&
	       org.plan_limits.sip;
}
