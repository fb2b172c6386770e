/* SPDX-License-Identifier: MIT */
#include "sip/table.h"
#include <assert.h>
#include <sodium.h>
#include "core/id.h"
#include "core/mem.h"

enum { FIRST_CHAINS = 64 };

static uint64_t hash_of(const struct table *table, struct slice key)
{
	uint64_t hash;

	_Static_assert(sizeof(table->hash_key) == crypto_shorthash_KEYBYTES,
		       "SipHash key");
	_Static_assert(sizeof(hash) == crypto_shorthash_BYTES, "SipHash value");
	crypto_shorthash((unsigned char *)&hash,
			 (const unsigned char *)(key.len ? key.ptr : ""),
			 key.len, table->hash_key);
	return hash;
}

static struct table_entry **chain_of(const struct table *table, uint64_t hash)
{
	return &table->chains[hash & (table->n_chains - 1)];
}

static void grow(struct table *table)
{
	struct table_entry **old = table->chains;
	size_t n_old = table->n_chains;

	table->n_chains = n_old * 2;
	table->chains = mem_new_array(table->n_chains, sizeof(*table->chains));
	for (size_t i = 0; i < n_old; i++) {
		for (struct table_entry *entry = old[i], *next; entry;
		     entry = next) {
			struct table_entry **at = chain_of(table, entry->hash);

			next = entry->next;
			while (*at)
				at = &(*at)->next;
			entry->next = NULL;
			*at = entry;
		}
	}
	mem_free(old);
}

void table_init(struct table *table)
{
	*table = (struct table){ .n_chains = FIRST_CHAINS };
	table->chains = mem_new_array(table->n_chains, sizeof(*table->chains));
	id_bytes(table->hash_key, sizeof(table->hash_key));
}

void table_reset(struct table *table)
{
	assert(table->n == 0);
	mem_free(table->chains);
	table->chains = NULL;
}

void table_add(struct table *table, struct table_entry *entry, struct slice key,
	       void *item)
{
	struct table_entry **chain;

	assert(!entry->key);
	if (table->n >= table->n_chains)
		grow(table);
	*entry = (struct table_entry){ .hash = hash_of(table, key),
				       .key = slice_dup(key),
				       .item = item };
	chain = chain_of(table, entry->hash);
	entry->next = *chain;
	*chain = entry;
	table->n++;
}

void table_remove(struct table *table, struct table_entry *entry)
{
	struct table_entry **at;

	if (!entry->key)
		return;
	for (at = chain_of(table, entry->hash); *at != entry; at = &(*at)->next)
		assert(*at);
	*at = entry->next;
	mem_free(entry->key);
	*entry = (struct table_entry){ 0 };
	table->n--;
}

void *table_find(const struct table *table, struct slice key)
{
	uint64_t hash = hash_of(table, key);

	for (struct table_entry *entry = *chain_of(table, hash); entry;
	     entry = entry->next)
		if (entry->hash == hash && slice_eq(slice_of(entry->key), key))
			return entry->item;
	return NULL;
}

void table_each(const struct table *table, table_fn *fn, void *arg)
{
	for (size_t i = 0; i < table->n_chains; i++)
		for (struct table_entry *entry = table->chains[i], *next; entry;
		     entry = next) {
			next = entry->next;
			fn(entry->item, arg);
		}
}
