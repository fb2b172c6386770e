/* SPDX-License-Identifier: MIT */
/* Keys become the caller's turn one by one, unless the node expects a number:
 * then all of them, ended by its length, by '#' or by a pause. Keys pressed
 * before the question was over count for it. */
#include <string.h>
#include "agent/pathway/expect.h"
#include "agent/pathway/pathway_route.h"
#include "core/timer.h"

enum { PAUSE_MS = 2500 };

/* The first n pressed keys are the turn; skip more are dropped with them. */
static void hear_keys(struct pathway *pathway, size_t n, size_t skip)
{
	struct pathway_keys *keys = &pathway->keys;
	char text[PATHWAY_KEYS_MAX + 1] = { 0 };

	timer_stop(keys->timer);
	memcpy(text, keys->digits, n);
	keys->n -= n + skip;
	memmove(keys->digits, keys->digits + n + skip, keys->n + 1);
	pathway_add_history(pathway, "user", text);
	variables_remember(pathway->variables, text);
	pathway_decide(pathway, DECIDE_TURN, text);
}

static void on_pause(void *arg)
{
	struct pathway *pathway = arg;

	if (pathway->state == PATHWAY_LISTENING && pathway->keys.n)
		hear_keys(pathway, pathway->keys.n, 0);
}

void pathway_take_keys(struct pathway *pathway)
{
	struct pathway_keys *keys = &pathway->keys;
	unsigned expected = expect_digits(pathway->place.node);
	const char *hash = memchr(keys->digits, '#', keys->n);

	if (expected == 1)
		hear_keys(pathway, 1, 0);
	else if (hash && hash != keys->digits)
		hear_keys(pathway, (size_t)(hash - keys->digits), 1);
	else if (hash)
		hear_keys(pathway, 1, 0);
	else if (expected && keys->n >= expected)
		hear_keys(pathway, expected, 0);
	else {
		timer_stop(pathway->post); /* no on_listen: a turn has begun */
		timer_start(keys->timer, PAUSE_MS, on_pause, pathway);
	}
}
