/* SPDX-License-Identifier: MIT */
/* agent/engine/summary.h - a call in two or three plain sentences, from its
 * outcome, turns and variables. */
#pragma once
#include "agent/engine/model.h"

struct buffer;

void summary_write(struct buffer *out, const struct model_question *question);
/* Variables the service itself sets: from, to, now, ... */
bool summary_is_builtin(const char *variable);
