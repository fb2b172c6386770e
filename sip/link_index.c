/* SPDX-License-Identifier: MIT */
#include "sip/link_index.h"
#include <assert.h>
#include "core/mem.h"

struct link_group {
	struct table_entry entry; /* key: the link's address in memory */
	LIST_HEAD(, link_item) items;
};

void link_index_init(struct link_index *index)
{
	table_init(&index->groups);
}

void link_index_reset(struct link_index *index)
{
	table_reset(&index->groups);
}

/* Keys of a table are text without NUL: two digits per byte. */
enum { KEY_SIZE = 2 * sizeof(void *) + 1 };

static struct slice key_of(char out[KEY_SIZE], const struct sip_link *link)
{
	uintptr_t bits = (uintptr_t)link;

	for (int i = 0; i < KEY_SIZE - 1; i++, bits >>= 4)
		out[i] = (char)('a' + (bits & 15));
	out[KEY_SIZE - 1] = '\0';
	return slice_make(out, KEY_SIZE - 1);
}

void link_index_add(struct link_index *index, const struct sip_link *link,
		    struct link_item *item, void *of)
{
	char text[KEY_SIZE];
	struct slice key = key_of(text, link);
	struct link_group *group = table_find(&index->groups, key);

	assert(!item->group);
	if (!group) {
		group = mem_new(sizeof(*group));
		LIST_INIT(&group->items);
		table_add(&index->groups, &group->entry, key, group);
	}
	item->group = group;
	item->of = of;
	LIST_INSERT_HEAD(&group->items, item, in_group);
}

void link_index_remove(struct link_index *index, struct link_item *item)
{
	struct link_group *group = item->group;

	if (!group)
		return;
	LIST_REMOVE(item, in_group);
	item->group = NULL;
	if (!LIST_EMPTY(&group->items))
		return;
	table_remove(&index->groups, &group->entry);
	mem_free(group);
}

void link_index_each(const struct link_index *index,
		     const struct sip_link *link, table_fn *fn, void *arg)
{
	char text[KEY_SIZE];
	struct link_group *group =
		table_find(&index->groups, key_of(text, link));
	struct link_item *item = group ? LIST_FIRST(&group->items) : NULL;

	for (struct link_item *next; item; item = next) {
		/* The last one to leave frees the group. */
		next = LIST_NEXT(item, in_group);
		fn(item->of, arg);
	}
}
