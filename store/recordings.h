/* SPDX-License-Identifier: MIT */
/* store/recordings.h - index of recording files. */
#pragma once
#include "store/store.h"

struct recording_row {
	const char *call_id;
	const char *org_id;
	const char *file; /* name below recordings.path */
	int64_t bytes;
	int64_t duration_ms;
	bool complete; /* closed in order */
	int64_t created_ms;
};

void recordings_put(struct store *store, const struct recording_row *row,
		    struct store_reply reply);
/* 0 or -ENOENT. */
int recordings_get(struct store *store, struct arena *arena, const char *org_id,
		   const char *call_id, struct recording_row *out);
