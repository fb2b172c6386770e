/* SPDX-License-Identifier: MIT */
#include "agent/call/waiters.h"

bool waiters_add(struct waiters *waiters, struct store_reply reply)
{
	if (waiters->n == WAITERS_MAX)
		return false;
	if (reply.done)
		waiters->reply[waiters->n++] = reply;
	return true;
}

void waiters_tell(const struct waiters *waiters, int err)
{
	for (size_t i = 0; i < waiters->n; i++)
		waiters->reply[i].done(waiters->reply[i].owner, err);
}
