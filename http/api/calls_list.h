/* SPDX-License-Identifier: MIT */
/* http/api/calls_list.h - GET /v1/calls. */
#pragma once
#include "http/request.h"

/* Reads its filters from the query; the list is read and written in the pool,
 * because a thousand calls take the loop 14 ms. */
void calls_list_reply(struct request *request);
