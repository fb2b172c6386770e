/* SPDX-License-Identifier: MIT */
/* agent/call/closing.h - completes a stored call that has no live one: a queued
 * call that is stopped, or one that a crash interrupted. */
#pragma once
#include "agent/service.h"
#include "store/calls.h"

/* Writes row as completed with status and message, its timeline kept, its
 * post-call webhook queued, in one commit; reply as calls_complete(). */
void closing_complete(struct service *service, const struct call_row *row,
		      const char *status, const char *message,
		      struct store_reply reply);
