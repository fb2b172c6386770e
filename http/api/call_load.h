/* SPDX-License-Identifier: MIT */
/* http/api/call_load.h - the stored call that a path names. */
#pragma once
#include "http/request.h"
#include "store/calls.h"

/* The call of the path's first parameter. 0, or negative after an answer: 404
 * also for another organisation's, 500. */
int call_load(struct request *request, struct call_row *out);
