/* SPDX-License-Identifier: MIT */
/* store/calls_priv.h - columns of calls, for writing and for listing. */
#pragma once
#include "store/calls.h"
#include "store/db.h"

extern const struct record call_record;

/* What every reader wants of each call: all but its texts. */
#define CALL_COLUMNS                                                           \
	"c.number AS number, id, org_id, c.\"to\" AS \"to\","                  \
	" c.\"from\" AS \"from\", inbound, completed, queue_status, status,"   \
	" answered_by, created_ms, start_at_ms, started_ms, end_ms,"           \
	" answered_ms, recording"
