/* SPDX-License-Identifier: MIT */
/* agent/engine/sphinx_pool.h - the decoders of the process, lent to a caller
 * from the begin to the end of one turn. Loop side only. */
#pragma once
#include <stdbool.h>
#include <sys/queue.h>

struct sphinx_decoder;
struct sphinx_pool;

struct sphinx_lease {
	struct sphinx_decoder *open; /* NULL: grammar only */
	struct sphinx_decoder *grammar; /* NULL: open only */
};

/* Who waits; borrowed by the pool until on_lease or sphinx_pool_forget(). */
struct sphinx_waiter {
	TAILQ_ENTRY(sphinx_waiter) entry;
	bool wants_grammar;
	bool is_waiting; /* the pool's */
	void (*on_lease)(void *owner, const struct sphinx_lease *lease);
	void *owner;
};

/* At most max_open open decoders and 16 for grammars, made when needed. */
struct sphinx_pool *sphinx_pool_open(unsigned max_open);
void sphinx_pool_close(struct sphinx_pool **pool); /* all returned */
/* on_lease runs inside this call when a decoder is free, else inside a later
 * sphinx_pool_return(), first come first served. A grammar decoder comes with
 * it if one is free. */
void sphinx_pool_ask(struct sphinx_pool *pool, struct sphinx_waiter *waiter);
void sphinx_pool_forget(struct sphinx_pool *pool, struct sphinx_waiter *waiter);
/* For one who cannot wait: a grammar decoder alone, if one is free. */
bool sphinx_pool_take_grammar(struct sphinx_pool *pool,
			      struct sphinx_lease *out);
void sphinx_pool_return(struct sphinx_pool *pool, struct sphinx_lease *lease);
