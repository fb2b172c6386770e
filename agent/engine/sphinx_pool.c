/* SPDX-License-Identifier: MIT */
#include "agent/engine/sphinx_pool.h"
#include <assert.h>
#include "agent/engine/sphinx_decoder.h"
#include "core/mem.h"

enum { GRAMMARS_MAX = 16, OPEN_MAX = 64 };

/* Decoders of one kind: the last returned goes first, it is loaded. */
struct shelf {
	struct sphinx_decoder *free[OPEN_MAX]; /* owned */
	unsigned n_free, n_made, max;
	enum sphinx_kind kind;
};

struct sphinx_pool {
	struct shelf open, grammar;
	TAILQ_HEAD(waiters, sphinx_waiter) waiters;
};

static struct sphinx_decoder *take(struct shelf *shelf)
{
	if (shelf->n_free)
		return shelf->free[--shelf->n_free];
	if (shelf->n_made == shelf->max)
		return NULL;
	shelf->n_made++;
	return sphinx_decoder_new(shelf->kind);
}

static void put(struct shelf *shelf, struct sphinx_decoder **decoder)
{
	if (!*decoder)
		return;
	shelf->free[shelf->n_free++] = *decoder;
	*decoder = NULL;
}

static void clear(struct shelf *shelf)
{
	assert(shelf->n_free == shelf->n_made);
	while (shelf->n_free)
		sphinx_decoder_free(&shelf->free[--shelf->n_free]);
}

struct sphinx_pool *sphinx_pool_open(unsigned max_open)
{
	struct sphinx_pool *pool = mem_new(sizeof(*pool));

	pool->open.kind = SPHINX_OPEN;
	pool->open.max = max_open < OPEN_MAX ? max_open : OPEN_MAX;
	pool->grammar.kind = SPHINX_GRAMMAR;
	pool->grammar.max = GRAMMARS_MAX;
	TAILQ_INIT(&pool->waiters);
	return pool;
}

void sphinx_pool_close(struct sphinx_pool **pool)
{
	if (!*pool)
		return;
	clear(&(*pool)->open);
	clear(&(*pool)->grammar);
	mem_free(*pool);
	*pool = NULL;
}

/* Serves the first waiter; false: nothing to give or nobody there. */
static bool serve(struct sphinx_pool *pool)
{
	struct sphinx_waiter *waiter = TAILQ_FIRST(&pool->waiters);
	struct sphinx_lease lease = { 0 };

	if (!waiter)
		return false;
	lease.open = take(&pool->open);
	if (!lease.open)
		return false;
	if (waiter->wants_grammar)
		lease.grammar = take(&pool->grammar);
	TAILQ_REMOVE(&pool->waiters, waiter, entry);
	waiter->is_waiting = false;
	waiter->on_lease(waiter->owner, &lease);
	return true;
}

void sphinx_pool_ask(struct sphinx_pool *pool, struct sphinx_waiter *waiter)
{
	waiter->is_waiting = true;
	TAILQ_INSERT_TAIL(&pool->waiters, waiter, entry);
	serve(pool);
}

void sphinx_pool_forget(struct sphinx_pool *pool, struct sphinx_waiter *waiter)
{
	if (waiter->is_waiting)
		TAILQ_REMOVE(&pool->waiters, waiter, entry);
	waiter->is_waiting = false;
}

bool sphinx_pool_take_grammar(struct sphinx_pool *pool,
			      struct sphinx_lease *out)
{
	*out = (struct sphinx_lease){ .grammar = take(&pool->grammar) };
	return out->grammar != NULL;
}

void sphinx_pool_return(struct sphinx_pool *pool, struct sphinx_lease *lease)
{
	put(&pool->open, &lease->open);
	put(&pool->grammar, &lease->grammar);
	serve(pool);
}
