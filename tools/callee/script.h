/* SPDX-License-Identifier: MIT */
/* tools/callee/script.h - what the simulated far end does, step by step; each
 * step waits until the other side has spoken and fallen silent. */
#pragma once
#include <stddef.h>

enum step_kind { STEP_SAY, STEP_PRESS, STEP_WAIT, STEP_HANGUP };

struct step {
	enum step_kind kind;
	const char *text; /* borrowed: words to say or keys to press */
};

enum { STEPS_MAX = 64 };

struct script {
	struct step steps[STEPS_MAX];
	size_t n;
};

/* -ENOSPC past STEPS_MAX. */
int script_add(struct script *script, enum step_kind kind, const char *text);
