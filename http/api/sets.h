/* SPDX-License-Identifier: MIT */
/* http/api/sets.h - the routes of each resource. */
#pragma once
#include "http/route.h"

extern const struct route_set api_calls;
extern const struct route_set api_recordings;
extern const struct route_set api_events;
extern const struct route_set api_sip;
extern const struct route_set api_sip_trace;
extern const struct route_set api_sip_numbers;
extern const struct route_set api_inbound;
extern const struct route_set api_pathways;
extern const struct route_set api_account;
extern const struct route_set api_postcall;
extern const struct route_set api_status;
