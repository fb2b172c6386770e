/* SPDX-License-Identifier: MIT */
/* store/numbers.h - what an inbound number does when it rings: the JSON object
 * of POST /v1/inbound/{number}. */
#pragma once
#include "store/store.h"

struct number_row {
	const char *number; /* E.164 */
	const char *org_id;
	const char *settings; /* JSON object */
	int64_t created_ms;
	int64_t updated_ms;
};

void numbers_put(struct store *store, const struct number_row *row,
		 struct store_reply reply);
void numbers_delete(struct store *store, const char *org_id, const char *number,
		    struct store_reply reply);
/* 0 or -ENOENT. */
int numbers_get(struct store *store, struct arena *arena, const char *org_id,
		const char *number, struct number_row *out);
