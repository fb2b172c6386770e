/* SPDX-License-Identifier: MIT */
/* sip/table.h - finds transactions and dialogs by text. Keys come from peers:
 * the hash is keyed, so nobody can aim at one chain. Entries are members of
 * what they name; the table owns only its array. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "core/buffer.h"
#include "core/slice.h"

struct table_entry {
	struct table_entry *next;
	uint64_t hash;
	char *key; /* owned while listed; NULL: not in a table */
	void *item; /* borrowed: what the entry is a member of */
};

struct table {
	struct table_entry **chains; /* owned */
	size_t n_chains;
	size_t n;
	uint8_t hash_key[16];
};

void table_init(struct table *table);
void table_reset(struct table *table); /* empty by now: asserted */
/* key is not yet listed, or the older entry is hidden until this one goes. */
void table_add(struct table *table, struct table_entry *entry, struct slice key,
	       void *item);
/* Nothing happens when the entry is in no table. */
void table_remove(struct table *table, struct table_entry *entry);
void *table_find(const struct table *table, struct slice key); /* or NULL */
/* Calls fn for each item; fn may not add, and may remove only its own. */
typedef void table_fn(void *item, void *arg);
void table_each(const struct table *table, table_fn *fn, void *arg);
