/* SPDX-License-Identifier: MIT */
#include "tools/callee/script.h"

#include <errno.h>

int script_add(struct script *script, enum step_kind kind, const char *text)
{
	if (script->n == STEPS_MAX)
		return -ENOSPC;
	script->steps[script->n++] = (struct step){ kind, text };
	return 0;
}
